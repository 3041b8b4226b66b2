"""Fused multiply-add: the exact product and the addend meet in one wide window, then one rounding.

The window is 31 bits for F16 and BF16 and 64 bits for F32, in two lanes. The summand of smaller
exponent moves right under the other, its lost bits kept as one sticky bit. Bits are lost only from 9
places on (16 for F32), when the difference cannot cancel more than two leading bits, so the sticky bit
stays below every rounding position.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, mul_hi, select
from vyre.numeric.formula import Formula, clz, larger, smaller, sticky
from vyre.numeric.soft.layout import prefix
from vyre.numeric.soft.parts import OFFSET, TOP, rounded, unpack
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.op import Op

_NARROW_TOP = 14


@dataclass(frozen=True, slots=True)
class _Operands:
    """The three significands, and the exponents of product and addend (with `OFFSET`; 0 for a zero)."""

    a: Expr
    b: Expr
    c: Expr
    product_exponent: Expr
    addend_exponent: Expr


def fma(fmt: FloatFormat) -> Op:
    doc = "`a * b + c`, rounded once to nearest, ties to even."
    f = Formula(f"{prefix(fmt)}.fma", "a", "b", "c", doc=doc)
    a, b, c = f.params
    size_a = f("size_a", a & fmt.magnitude)
    size_b = f("size_b", b & fmt.magnitude)
    size_c = f("size_c", c & fmt.magnitude)
    product_sign = f("product_sign", (a ^ b) & fmt.sign)
    addend_sign = f("addend_sign", c & fmt.sign)
    opposite = f("opposite", product_sign.ne(addend_sign))
    wide = fmt.width == 32
    top_a, top_b, top_c = (TOP, TOP - 1, TOP - 1) if wide else (_NARROW_TOP, _NARROW_TOP, 2 * _NARROW_TOP + 1)
    significand_a, exponent_a = unpack(f, fmt, a, "a", top=top_a)
    significand_b, exponent_b = unpack(f, fmt, b, "b", top=top_b)
    significand_c, exponent_c = unpack(f, fmt, c, "c", top=top_c)
    no_product = f("no_product", size_a.eq(0) | size_b.eq(0))
    # The product of two leading bits is one place below the leading bit of the addend.
    summed = exponent_a + exponent_b + (OFFSET - fmt.bias + 1)
    product_exponent = f("product_exponent", select(no_product, 0, summed))
    addend_exponent = f("addend_exponent", select(size_c.eq(0), 0, exponent_c + OFFSET))
    given = _Operands(significand_a, significand_b, significand_c, product_exponent, addend_exponent)
    below, significand, exponent, negative = (_wide_sum if wide else _narrow_sum)(f, given, opposite)
    finite = rounded(f, fmt, significand, exponent)
    first_sign = f("first_sign", select(below, addend_sign, product_sign))
    nothing = f("nothing", significand.eq(0))
    flipped = f("flipped", first_sign ^ negative << fmt.sign_shift)
    sign = f("sign", select(nothing, product_sign & addend_sign, flipped))
    value = f("value", sign | select(nothing, 0, finite))
    most = f("most", larger(size_a, size_b))
    infinite = f("infinite", most.eq(fmt.infinity))
    nan = f("nan", (larger(most, size_c) > fmt.infinity) | (infinite & no_product))
    clash = f("clash", infinite & size_c.eq(fmt.infinity) & opposite)
    special = f("special", select(infinite, product_sign | fmt.infinity, c))
    unusual = infinite | size_c.eq(fmt.infinity)
    return f.gives(select(nan | clash, fmt.nan, select(unusual, special, value)))


def _narrow_sum(f: Formula, given: _Operands, opposite: Expr) -> tuple[Expr, Expr, Expr, Expr]:
    """Whether the addend leads, the sum with its leading bit at 31, its exponent, and 1 if it turned."""
    product = f("product", given.a * given.b)
    below, exponent, distance = _order(f, given, TOP)
    x = f("x", select(below, given.c, product))
    y = f("y", select(below, product, given.c))
    moved_y = f("moved_y", y >> distance)
    aligned = f("aligned", sticky(moved_y, distance, y))
    total = f("total", select(opposite, x - aligned, x + aligned))
    negative = f("negative", total >> TOP)
    size = f("size", select(negative, -total, total))
    zeros = f("zeros", clz(size))
    significand = f("significand", size << zeros)
    # Exponents belong to the place of the addend's leading bit, two below bit 31.
    return below, significand, f("exponent", exponent + (TOP - 2 * _NARROW_TOP - 1) - zeros), negative


def _order(f: Formula, given: _Operands, farthest: int) -> tuple[Expr, Expr, Expr]:
    below = f("below_addend", given.product_exponent < given.addend_exponent)
    exponent = f("larger_exponent", select(below, given.addend_exponent, given.product_exponent))
    other = f("smaller_exponent", select(below, given.product_exponent, given.addend_exponent))
    return below, exponent, f("distance", smaller(exponent - other, farthest))


def _wide_sum(f: Formula, given: _Operands, opposite: Expr) -> tuple[Expr, Expr, Expr, Expr]:
    """The same in two lanes; the sum's lanes below the highest 32 bits become sticky at the end."""
    product_high = f("product_high", mul_hi(given.a, given.b))
    product_low = f("product_low", given.a * given.b)
    below, exponent, distance = _order(f, given, 63)
    x_high = f("x_high", select(below, given.c, product_high))
    x_low = f("x_low", select(below, 0, product_low))
    y_high = f("y_high", select(below, product_high, given.c))
    y_low = f("y_low", select(below, product_low, 0))
    aligned_high, aligned_low = _moved_right(f, y_high, y_low, distance)
    sum_low = f("sum_low", x_low + aligned_low)
    sum_high = f("sum_high", x_high + aligned_high + (sum_low < x_low))
    difference_low = f("difference_low", x_low - aligned_low)
    difference_high = f("difference_high", x_high - aligned_high - (x_low < aligned_low))
    # Only a difference can be negative; a sum may use bit 63.
    negative = f("negative", opposite & difference_high >> TOP)
    flip = f("flip", -negative)
    total_high = f("total_high", select(opposite, difference_high, sum_high) ^ flip)
    turned_low = f("turned_low", select(opposite, difference_low, sum_low) ^ flip)
    low = f("low", turned_low + negative)
    high = f("high", total_high + (negative & low.eq(0)))
    lane = f("lane", high.eq(0))
    leading = f("leading", select(lane, low, high))
    following = f("following", select(lane, 0, low))
    zeros = f("zeros", clz(leading))
    # Two steps, because a shift by 32 - 0 would be masked to a shift by nothing.
    filled = f("filled", leading << zeros | (following >> 1) >> (TOP - zeros))
    significand = f("significand", filled | (following << zeros).ne(0))
    return below, significand, f("exponent", exponent + 1 - zeros - (lane << 5)), negative


def _moved_right(f: Formula, high: Expr, low: Expr, distance: Expr) -> tuple[Expr, Expr]:
    """Two lanes moved right by up to 63 places; bit 0 is sticky."""
    small = f("small", distance & 31)
    whole = f("whole_lane", distance >> 5)
    near_high = f("near_high", high >> small)
    near_low = f("near_low", low >> small | (high << 1) << (TOP - small))
    dropped = f("dropped", (low << 1) << (TOP - small) | select(whole, near_low, 0))
    aligned_high = f("aligned_high", select(whole, 0, near_high))
    return aligned_high, f("aligned_low", select(whole, near_high, near_low) | dropped.ne(0))
