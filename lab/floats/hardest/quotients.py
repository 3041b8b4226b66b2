"""Quotients next to midpoints, exact ones, and those at both ends of the range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.floats.hardest.parts import Source, inverse, packed, shape, significand, tiny_midpoint
from vyre.ir.expr import Expr, mul_hi, select
from vyre.ir.float_formats import F32
from vyre.numeric.formula import clz

if TYPE_CHECKING:
    from lab.floats.hardest.parts import Maker

_DOUBLE_HIDDEN = 2 * F32.hidden


def _midpoint_quotients(x: Source) -> tuple[Expr, ...]:
    """`a * 2^24 = q * b + r` for an odd `q` of 25 bits, a midpoint, and a small odd `r`."""
    b = x.step("divisor", significand(x.word()) | 1)
    rest = x.step("rest", x.few("half_rest") * 2 + 1)
    q = x.step("middle", (-rest * inverse(x, b)) & (_DOUBLE_HIDDEN - 1) | _DOUBLE_HIDDEN)
    a = x.step("whole", (mul_hi(b, q) << 8 | (b * q) >> 24) + (rest < 1 << 31))
    word = x.word()
    return (
        packed(word, 64 + (word & 127), select(a < _DOUBLE_HIDDEN, a, a >> 1)),
        packed(word << 1, 64 + (word >> 7 & 127), b),
    )


def _subnormal_quotients(x: Source) -> tuple[Expr, ...]:
    down = x.step("down", 37 + (x.word() & 63))
    a = x.step("middle", tiny_midpoint(x, down))
    one = (127 + 150 - down) << F32.fraction_bits
    return a, (x.word() & F32.sign) | one + x.few("off")


def _falling_quotients(x: Source) -> tuple[Expr, ...]:
    first = x.step("field_a", 30 + (x.word() & 31))
    word = x.word()
    second = first + 127 + 25 - (x.number & 31)
    shaped = x.step("shaped", shape(x, x.word(), "shape"))
    return packed(word, first, shaped), packed(word << 1, second, x.word())


def _whole_quotients(x: Source) -> tuple[Expr, ...]:
    """Exact quotients of 12 bits, or next to them."""
    word = x.word()
    b, q = x.step("divisor", word & 0xFFF | 0x800), x.step("quotient", word >> 12 & 0xFFF | 0x800)
    product = x.step("product", b * q)
    a = x.step("dividend", product << (clz(product) - 8))
    signs = x.word()
    off = x.pick("off", signs & 3, 0, 0, 1, 0xFFFFFFFF)
    field = 64 + (signs >> 2 & 127)
    return packed(signs, field, a) + off, packed(signs << 1, 64 + (signs >> 9 & 127), b << 12)


def _overflowing_quotients(x: Source) -> tuple[Expr, ...]:
    """Quotients next to 2^128: no quotient is closer to the threshold than one last place of its operands."""
    word = x.word()
    second = x.step("field_b", 2 + (word & 63))
    b = x.step("divisor", packed(word << 1, second, shape(x, x.word(), "shape")))
    a = (b & F32.magnitude) + (128 << F32.fraction_bits) + x.few("off", bits=2)
    return (word & F32.sign) | a, b


QUOTIENTS: tuple[tuple[str, Maker], ...] = (
    ("near midpoint", _midpoint_quotients),
    ("exact quotient", _whole_quotients),
    ("subnormal midpoint", _subnormal_quotients),
    ("subnormal result", _falling_quotients),
    ("overflow threshold", _overflowing_quotients),
)
