"""Square root: an estimate of enough bits, made exact by its remainder, then one rounding.

With `d` between 1/4 and 1, a cubic gives 1/sqrt(d) within 0.8 %, one step of Newton makes that 2^-13,
and the residual `d - g*g` of `g = d / sqrt(d)` doubles the bits again where F32 needs it. Every step
rounds down, so the residual is never negative and the root is at most one too small; one comparison
makes it exact. The remainder is below 2^27, so 32-bit arithmetic that wraps gives it exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, mul_hi, select
from vyre.numeric.formula import Formula
from vyre.numeric.soft.parts import TOP, packed, unpack

if TYPE_CHECKING:
    from vyre.ir.op import Op
    from vyre.numeric.soft.layout import Layout

_SCALE = 1 << 29
# The cubic of least relative error for 1/sqrt(d) between 1/4 and 1; the error is 0.0071.
_UNIT = 10**8
_CUBIC = tuple((2 * c * _SCALE + _UNIT) // (2 * _UNIT) for c in (311237420, 591090439, 622994252, 243845299))


def sqrt(fmt: Layout) -> Op:
    f = Formula(f"{fmt.prefix}.sqrt", "a", doc="The square root, rounded once to nearest; of -0 it is -0.")
    (a,) = f.params
    size = f("size", a & fmt.magnitude)
    significand, exponent = unpack(f, fmt, a, "a", top=TOP)
    # The bias is odd, so an odd field means an even exponent; that halves exactly.
    d = f("d", significand >> (exponent & 1))
    estimate = _estimate(f, d, refined=fmt.width == 32)
    places = fmt.fraction_bits + 2
    guess = f("guess", estimate >> (32 - places))
    wide = 2 * places - 32
    target = d << wide if wide > 0 else d >> -wide
    left = f("left", target - guess * guess)
    again = f("again", left > guess << 1)
    root = f("root", guess + again)
    exact = f("exact", left.eq(select(again, guess << 1 | 1, 0)))
    ratio = f("ratio", root << (32 - places) | exact.eq(0))
    finite = packed(f, fmt, ratio, f("field", (exponent + fmt.bias >> 1) - 1), bounded=True)
    negative = a.eq(size).eq(0)
    invalid = f("invalid", (size > fmt.infinity) | (negative & size.ne(0)))
    unchanged = f("unchanged", size.eq(0) | size.eq(fmt.infinity))
    return f.gives(select(invalid, fmt.nan, select(unchanged, a, finite)))


def _estimate(f: Formula, d: Expr, *, refined: bool) -> Expr:
    """sqrt(d) for `d / 2^32` from 1/4 to 1, in units of 2^-32, never too large."""
    c0, c1, c2, c3 = _CUBIC
    bend = f("bend", c2 - mul_hi(d, c3))
    slope = f("slope", c1 - mul_hi(d, bend))
    start = f("start", c0 - mul_hi(d, slope) << 1)
    square = f("square", mul_hi(mul_hi(start, start), d))
    # Two products were rounded down, by less than 1 each.
    factor = f("factor", (3 << 28) - 2 - square << 2)
    inverse = f("inverse", mul_hi(start, factor) << 1)
    near = f("near", mul_hi(d, inverse) << 2)
    if not refined:
        return near
    # The complement is one less than the difference: the square was rounded down, the residual may not go up.
    residual = f("residual", d + ~mul_hi(near, near))
    return f("refined", near + (mul_hi(residual, inverse) << 1))
