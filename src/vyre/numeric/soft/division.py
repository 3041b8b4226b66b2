"""Division: an exact quotient of enough bits and whether a remainder is left, then one rounding.

F16 and BF16 divide with one integer division. For F32 that takes 49 bits, so the quotient is estimated
through a reciprocal and corrected by its exact remainder:

- `0 <= 1 - d*x <= 2^-26` for the reciprocal `x` of every one of the 2^23 divisors `d`; a test runs all.
- The quotient is below 2^26, so the estimate is at most one too small and never too large.
- The remainder of the estimate is therefore below twice the divisor, which 32 bits hold; one
  comparison makes quotient and remainder exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, mul_hi, select
from vyre.numeric.formula import Formula
from vyre.numeric.soft.parts import OFFSET, TOP, rounded, unpack

if TYPE_CHECKING:
    from vyre.ir.op import Op
    from vyre.numeric.soft.layout import Layout

_SCALE = 1 << 29
# The quadratic of least relative error for 1/d between 1/2 and 1; the error is 1/99.
_QUADRATIC = tuple((2 * c * _SCALE + 99) // (2 * 99) for c in (420, 576, 256))


def div(fmt: Layout) -> Op:
    f = Formula(f"{fmt.prefix}.div", "a", "b", doc="The quotient, rounded once to nearest, ties to even.")
    a, b = f.params
    size_a = f("size_a", a & fmt.magnitude)
    size_b = f("size_b", b & fmt.magnitude)
    significand_a, exponent_a = unpack(f, fmt, a, "a", top=TOP)
    wide = fmt.width == 32
    significand_b, exponent_b = unpack(f, fmt, b, "b", top=TOP if wide else fmt.fraction_bits)
    quotient, rest = (_estimated if wide else _direct)(f, significand_a, significand_b)
    # Both quotients lie between 1/2 and 2; `places` bits below the unit put the unit at bit 31.
    places = 25 if wide else TOP - fmt.fraction_bits
    ratio = f("ratio", quotient << (TOP - places) | rest.ne(0))
    carry = f("carry", ratio >> TOP)
    significand = f("significand", ratio << (carry ^ 1))
    exponent = f("exponent", exponent_a - exponent_b + carry + (OFFSET + fmt.bias - 1))
    finite = rounded(f, fmt, significand, exponent)
    sign = f("sign", (a ^ b) & fmt.sign)
    alike = f("alike", size_a.eq(size_b) & (size_a.eq(0) | size_a.eq(fmt.infinity)))
    invalid = f("invalid", (size_a > fmt.infinity) | (size_b > fmt.infinity) | alike)
    infinite = f("infinite", size_a.eq(fmt.infinity) | size_b.eq(0))
    nothing = f("nothing", size_a.eq(0) | size_b.eq(fmt.infinity))
    value = f("value", select(infinite, fmt.infinity, select(nothing, 0, finite)))
    return f.gives(select(invalid, fmt.nan, sign | value))


def _direct(f: Formula, dividend: Expr, divisor: Expr) -> tuple[Expr, Expr]:
    quotient = f("quotient", dividend // divisor)
    return quotient, f("remainder", dividend - quotient * divisor)


def _estimated(f: Formula, dividend: Expr, divisor: Expr) -> tuple[Expr, Expr]:
    """`dividend * 2^25 / divisor` of two significands at bit 31, as an integer and a remainder."""
    reciprocal = reciprocal_of(f, divisor)
    guess = f("guess", mul_hi(dividend, reciprocal) >> 6)
    short = f("short", divisor >> 8)
    left = f("left", (dividend << 17) - guess * short)
    again = f("again", left >= short)
    return f("quotient", guess + again), f("remainder", left - select(again, short, 0))


def reciprocal_of(f: Formula, divisor: Expr) -> Expr:
    """1/d for `d = divisor / 2^32` from 1/2 to 1, never too large, in units of 2^-31.

    A quadratic, then two steps of Newton; complements round each step down.
    """
    c0, c1, c2 = _QUADRATIC
    slope = f("slope", c1 - mul_hi(divisor, c2))
    reciprocal: Expr = f("start", c0 - mul_hi(divisor, slope) << 2)
    for step in ("1", "2"):
        error = f(f"error_{step}", ~mul_hi(divisor, reciprocal))
        reciprocal = f(f"reciprocal_{step}", mul_hi(reciprocal, error) << 1)
    return reciprocal
