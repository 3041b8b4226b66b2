"""Fused sums whose exact value only one rounding gets right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.floats.hardest.parts import Source, fields, packed, powers, shape, significand
from lab.floats.hardest.products import near_midpoint, subnormal_products, threshold_product
from vyre.ir.expr import Expr, mul_hi, select
from vyre.ir.float_formats import F32

if TYPE_CHECKING:
    from lab.floats.hardest.parts import Maker


def _gap(x: Source, field: Expr, word: Expr) -> Expr:
    return packed(word, field, shape(x, x.word(), "shape"))


def _broken_ties(x: Source) -> tuple[Expr, ...]:
    """A product on a midpoint, and an addend 20 to 147 places below that pushes it off."""
    a, b = near_midpoint(x, tie=True)
    word = x.word()
    first, second = x.step("field_a", 140 + (word & 31)), x.step("field_b", 140 + (word >> 5 & 31))
    c = _gap(x, first + second - (127 + 20) - (x.number & 127), x.word())
    return packed(word, first, a), packed(word << 1, second, b), c


def _midpoint_addends(x: Source) -> tuple[Expr, ...]:
    """An addend whose lower bits complete those of the product to a half, at every shift that can."""
    a, b = near_midpoint(x)
    word = x.word()
    first, second = x.step("field_a", 90 + (word & 31)), x.step("field_b", 120 + (word >> 5 & 31))
    shift = x.step("places", x.below(25))
    leading = mul_hi(a << 8, b << 8) >> 31
    half = x.step("half", 1 << (22 + leading + (x.word() & 7).eq(0)))
    product = x.step("product", a * b)
    minus = x.step("minus", word >> 17 & 1)
    wanted = x.step("wanted", select(minus, product - half, half - product) >> shift)
    mask = x.step("mask", (half * 2 - 1) >> shift)
    wanted = wanted + x.pick("or_beside", word >> 18 & 3, 0, x.few("little"))
    c = x.step("addend", x.word() & ~mask | wanted & mask)
    signs = word ^ word << 1 ^ minus << F32.sign_shift
    field = first + second - 150 + shift
    return packed(word, first, a), packed(word << 1, second, b), packed(signs, field, c)


def _half_place_products(x: Source) -> tuple[Expr, ...]:
    """A product next to half the last place of the addend, or to half the place below a power of two."""
    word = x.word()
    field = x.pick("field_c", word & 7, 254, 60 + (word >> 3 & 127), 127 + (word >> 3 & 127))
    total = x.step("total", field + 101 + x.below(3))
    a, b = powers(x, *fields(x, total, 108, 5))
    return a, b, packed(x.word(), field, shape(x, x.word(), "shape"))


def _cancelling_products(x: Source) -> tuple[Expr, ...]:
    """The addend is the product's own leading bits, so that its rest is left, or nothing at all."""
    word = x.word()
    short = x.step("short", select(word >> 14 & 1, F32.fraction, F32.fraction & ~0xFFF))
    a = x.step("significand_a", significand(x.word() & short))
    b = x.step("significand_b", significand(x.word() & short))
    first, second = x.step("field_a", 32 + (word & 127)), x.step("field_b", 96 + (word >> 7 & 63))
    high = x.step("high", mul_hi(a << 8, b << 8))
    carry = x.step("carry", high >> 31)
    off = x.pick("off", word >> 15 & 3, 0, 0, x.few("little"))
    field = x.step("field_c", first + second - 127 + carry)
    signs = word ^ word << 1 ^ F32.sign
    leading = (field << F32.fraction_bits) + (high >> (7 + carry) & F32.fraction) + off
    c = (signs & F32.sign) | leading & F32.magnitude
    return packed(word, first, a), packed(word << 1, second, b), c


def _distant_addends(x: Source) -> tuple[Expr, ...]:
    """Every distance of product and addend from -64 to 63 places."""
    word = x.word()
    first, second = x.step("field_a", 110 + (word & 31)), x.step("field_b", 110 + (word >> 5 & 31))
    c = _gap(x, first + second - (127 + 64) + (x.number & 127), x.word())
    a, b = shape(x, x.word(), "shape_a"), shape(x, x.word(), "shape_b")
    return packed(word, first, a), packed(word << 1, second, b), c


def _subnormal_sums(x: Source) -> tuple[Expr, ...]:
    a, b = subnormal_products(x)
    word = x.word()
    return a, b, word & F32.sign | (x.word() & 4 * F32.hidden - 1) >> (word & 31)


def _overflowing_addends(x: Source) -> tuple[Expr, ...]:
    """Products at the threshold of overflow pushed off by an addend of any smaller size, or brought back."""
    a, b = threshold_product(x, 380 + x.below(3))
    word = x.word()
    far = packed(word, 253 - (word & 127), shape(x, x.word(), "shape"))
    return a, b, select(word >> 7 & 1, far, word & F32.sign | F32.infinity - 1 - (word >> 8 & 3))


FUSED: tuple[tuple[str, Maker], ...] = (
    ("near midpoint", _midpoint_addends),
    ("tie pushed off", _broken_ties),
    ("half a place of the addend", _half_place_products),
    ("cancellation", _cancelling_products),
    ("every distance", _distant_addends),
    ("subnormal midpoint", _subnormal_sums),
    ("overflow threshold", _overflowing_addends),
)
