"""The correctly rounded error function.

`erf x = 2/sqrt(pi) * exp(-x^2) * (x + 2x^3/3 + 4x^5/15 + …)`, in which every term is positive. No theorem
says that no result is a midpoint; in F32, F16 and BF16 none is, as trying every input has shown.
"""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

from vyre.reference.floats.constants import CONSTANT_ERROR, pi
from vyre.reference.floats.elementary import exponential_of
from vyre.reference.floats.formats import is_infinite, is_nan, is_zero, unpack
from vyre.reference.floats.ziv import Enclosure, correctly_rounded

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat


def erf(fmt: FloatFormat, a: int) -> int:
    if is_nan(fmt, a):
        return fmt.nan
    sign = a & fmt.sign
    if is_zero(fmt, a):
        return a
    if is_infinite(fmt, a):
        return sign | fmt.one
    _, m, e = unpack(fmt, a)

    def enclose(precision: int) -> Enclosure:
        if e > 0 or m * m >> -2 * e >= precision:
            # From here on 1 - erf x < e**(-x * x) is below one unit.
            return Enclosure((1 << precision) - 1, 1 << precision, -precision)
        w = precision + max(0, -e - m.bit_length()) + 32
        total, error = series(m, e, w)
        low, high, exponent = exponential_of(-(m * m << w >> -2 * e), 1, w)
        least, most = slope(w)
        return Enclosure((total - error) * low * least, (total + error) * high * most, exponent - 2 * w)

    return sign | correctly_rounded(fmt, enclose)


def series(m: int, e: int, w: int) -> tuple[int, int]:
    """`x + 2x^3/3 + 4x^5/15 + ...` for `x = m * 2**e` at scale `w`, and its error; e is not positive.

    A term is the one before it times `2x^2 / (2n + 1)`, and loses less than 2 units, which the later factors
    multiply. These fall, so what a unit becomes in all is at most the whole sum over its first term.
    """
    first = term = total = m << (w + e)
    square = 2 * m * m
    steps = 0
    while term or (2 * steps + 1) << (-2 * e) < 2 * square:
        steps += 1
        term = (term * square >> -2 * e) // (2 * steps + 1)
        total += term
    return total, 2 * (steps + 2) * (total // first + 2)


def slope(w: int) -> tuple[int, int]:
    """`2 / sqrt(pi)` at scale `w`, from below and from above."""
    least, most = ((4 << 3 * w) // (pi(w) + d) for d in (CONSTANT_ERROR, -CONSTANT_ERROR))
    return isqrt(least), isqrt(most) + 1
