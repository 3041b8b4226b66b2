"""Sums at every distance, next to midpoints, cancelling, and at both ends of the range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.floats.hardest.parts import Source, packed, powers, shape
from vyre.ir.expr import Expr, select
from vyre.ir.float_formats import F32

if TYPE_CHECKING:
    from lab.floats.hardest.parts import Maker

_DOUBLE_HIDDEN = 2 * F32.hidden


def _distant_sums(x: Source) -> tuple[Expr, ...]:
    """Every distance of the exponents from 0 to 63."""
    word = x.word()
    field = x.step("field", 70 + (word & 127))
    a = x.step("larger", packed(word, field, shape(x, x.word(), "shape_a")))
    b = x.step("smaller", packed(word << 1, field - (x.number & 63), shape(x, x.word(), "shape_b")))
    swap = x.step("swap", word >> 7 & 1)
    return select(swap, b, a), select(swap, a, b)


def _midpoint_sums(x: Source) -> tuple[Expr, ...]:
    """What `b` puts below the last place of `a` is half of it, or a few of its own last places off."""
    word = x.word()
    field = x.step("field", 70 + (word & 127))
    gap = x.step("gap", 1 + x.below(25))
    off = x.pick("off", word >> 12 & 3, 0, x.few("little"))
    mask = x.step("mask", (1 << gap) - 1)
    inside = x.word() & ~mask | (1 << (gap - 1)) + off & mask
    bits = ((field - gap) << F32.fraction_bits) + select(gap < 24, inside & F32.fraction, off)
    a = packed(word, field, shape(x, x.word(), "shape"))
    return a, (word << 1 & F32.sign) | bits


def _cancelling_sums(x: Source) -> tuple[Expr, ...]:
    word = x.word()
    a = x.step("first", packed(word, word >> 20, shape(x, x.word(), "shape")))
    near = (a ^ F32.sign & word << 12) + x.few("off")
    field = x.step("field", 1 + (word & 127))
    first, second = powers(x, field + 1, field)
    return select(word >> 11 & 1, a, first), select(word >> 11 & 1, near, second)


def _tiny_sums(x: Source) -> tuple[Expr, ...]:
    mask = F32.sign | 4 * F32.hidden - 1
    word = x.word()
    lengths = [x.step(f"length_{k}", mask >> (word >> 5 * k & 31)) for k in (0, 1)]
    return x.word() & (lengths[0] | F32.sign), x.word() & (lengths[1] | F32.sign)


def _overflowing_sums(x: Source) -> tuple[Expr, ...]:
    """Sums at 2^128 - 2^103, halfway to where the next float would be."""
    word = x.word()
    a = x.step("leading", F32.hidden | x.word() & F32.fraction >> 1)
    rest = x.step("rest", (_DOUBLE_HIDDEN * 2 - 1 - 2 * a) + x.few("off", bits=2))
    same = word & F32.sign
    half = ((229 + (word & 3)) << F32.fraction_bits) + x.few("little")
    top = same | F32.infinity - 1 - (word >> 2 & 3)
    close = x.step("close", word >> 8 & 1)
    first = select(close, packed(same, F32.exponent - 1, a), top)
    second = select(close, packed(same, F32.exponent - 2, rest), same | half)
    return first, second


def _negated(make: Maker) -> Maker:
    """The pair whose difference is the sum of the pair."""

    def negate(x: Source) -> tuple[Expr, ...]:
        a, b = make(x)
        return a, b ^ F32.sign

    return negate


SUMS: tuple[tuple[str, Maker], ...] = (
    ("every distance", _distant_sums),
    ("near midpoint", _midpoint_sums),
    ("cancellation", _cancelling_sums),
    ("subnormal result", _tiny_sums),
    ("overflow threshold", _overflowing_sums),
)
DIFFERENCES = tuple((name, _negated(make)) for name, make in SUMS)
