"""Correctly rounded sinh, cosh, tanh and expm1.

At a nonzero rational each of them is transcendental, by Lindemann's theorem, so that no result is a midpoint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.reference.floats.elementary import exponential_of
from vyre.reference.floats.exponentials import overflowed
from vyre.reference.floats.formats import is_infinite, is_nan, is_zero, unpack
from vyre.reference.floats.ziv import Enclosure, correctly_rounded, quotient

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat


def sinh(fmt: FloatFormat, a: int) -> int:
    if is_nan(fmt, a):
        return fmt.nan
    if is_zero(fmt, a) or is_infinite(fmt, a):
        return a
    return a & fmt.sign | _half_of_two(fmt, a, minus=True)


def cosh(fmt: FloatFormat, a: int) -> int:
    if is_nan(fmt, a):
        return fmt.nan
    if is_infinite(fmt, a):
        return fmt.infinity
    return fmt.one if is_zero(fmt, a) else _half_of_two(fmt, a, minus=False)


def tanh(fmt: FloatFormat, a: int) -> int:
    if is_nan(fmt, a):
        return fmt.nan
    sign = a & fmt.sign
    if is_zero(fmt, a):
        return a
    if is_infinite(fmt, a):
        return sign | fmt.one
    _, m, e = unpack(fmt, a)

    def enclose(precision: int) -> Enclosure:
        if m.bit_length() + e > precision.bit_length():
            # From here on 1 - tanh x < 2 * e**(-2 * precision), which is below one unit.
            return Enclosure((1 << precision) - 1, 1 << precision, -precision)
        w = _scale(precision, m, e)
        low, high, exponent = exponential_of(m << (w + e + 1), 0, w)
        low, high = low << (exponent + w), high << (exponent + w)
        one = 1 << w
        below = quotient((low - one, low - one), (low + one, low + one), w)
        above = quotient((high - one, high - one), (high + one, high + one), w)
        return Enclosure(below.low, above.high, -w)

    return sign | correctly_rounded(fmt, enclose)


def expm1(fmt: FloatFormat, a: int) -> int:
    if is_nan(fmt, a):
        return fmt.nan
    if is_zero(fmt, a) or a == fmt.infinity:
        return a
    if is_infinite(fmt, a):
        return fmt.sign | fmt.one
    sign, m, e = unpack(fmt, a)
    if not sign and _is_out_of_range(fmt, m, e):
        return overflowed(fmt, 0)

    def enclose(precision: int) -> Enclosure:
        if sign and m.bit_length() + e > precision.bit_length():
            # From here on e**x < 2**-precision, which is below one unit.
            return Enclosure(-(1 << precision), 1 - (1 << precision), -precision)
        w = _scale(precision, m, e)
        t = m << (w + e)
        low, high, exponent = exponential_of(-t if sign else t, 0, w)
        if exponent >= 0:
            return Enclosure(low - 1, high, exponent)
        one = 1 << -exponent
        return Enclosure(low - one, high - one, exponent)

    return correctly_rounded(fmt, enclose)


def _half_of_two(fmt: FloatFormat, a: int, *, minus: bool) -> int:
    """Half of the sum, or difference, of the exponentials of the size of `a` and of its negative."""
    _, m, e = unpack(fmt, a)
    if _is_out_of_range(fmt, m, e):
        return overflowed(fmt, 0)

    def enclose(precision: int) -> Enclosure:
        w = _scale(precision, m, e)
        up, down = (exponential_of(t, 0, w) for t in (m << (w + e), -(m << (w + e))))
        places = up.exponent - down.exponent
        low, high = up.low << places, up.high << places
        if minus:
            return Enclosure(low - down.high, high - down.low, down.exponent - 1)
        return Enclosure(low + down.low, high + down.high, down.exponent - 1)

    return correctly_rounded(fmt, enclose)


def _is_out_of_range(fmt: FloatFormat, m: int, e: int) -> bool:
    """Whether the exponential of `m * 2**e` is far beyond the largest number of the format."""
    return m.bit_length() + e > fmt.exponent_bits + 1


def _scale(precision: int, m: int, e: int) -> int:
    """Small arguments lose as many bits as they have zeros in front; the argument is exact at this scale."""
    return precision + max(0, -e - m.bit_length()) + 32
