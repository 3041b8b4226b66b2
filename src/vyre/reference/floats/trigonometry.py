"""Correctly rounded sin, cos, tan, asin, acos, atan and atan2.

At a nonzero rational argument sin, cos and tan are transcendental, and so are the inverse functions where
their value is not zero (Lindemann): no result but the zeros handled here is a midpoint or zero.
"""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

from vyre.reference.floats.constants import CONSTANT_ERROR, pi
from vyre.reference.floats.elementary import angle
from vyre.reference.floats.formats import is_finite, is_infinite, is_nan, is_zero, sign_of, unpack
from vyre.reference.floats.series import sine_cosine
from vyre.reference.floats.ziv import Enclosure, correctly_rounded, quotient

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat


def sin(fmt: FloatFormat, a: int) -> int:
    if is_zero(fmt, a):
        return a
    if not is_finite(fmt, a):
        return fmt.nan

    def enclose(precision: int) -> Enclosure:
        sine, _, error, w = _at(fmt, a, precision)
        return Enclosure(sine - error, sine + error, -w)

    return correctly_rounded(fmt, enclose)


def cos(fmt: FloatFormat, a: int) -> int:
    if is_zero(fmt, a):
        return fmt.one
    if not is_finite(fmt, a):
        return fmt.nan

    def enclose(precision: int) -> Enclosure:
        _, cosine, error, w = _at(fmt, a, precision)
        return Enclosure(cosine - error, cosine + error, -w)

    return correctly_rounded(fmt, enclose)


def tan(fmt: FloatFormat, a: int) -> int:
    if is_zero(fmt, a):
        return a
    if not is_finite(fmt, a):
        return fmt.nan

    def enclose(precision: int) -> Enclosure:
        sine, cosine, error, w = _at(fmt, a, precision)
        s, c = abs(sine), abs(cosine)
        if c <= error:
            return Enclosure(-1, 1, 0)
        low, high, exponent = quotient((s - error, s + error), (c - error, c + error), w)
        return Enclosure(low, high, exponent) if sine ^ cosine >= 0 else Enclosure(-high, -low, exponent)

    return correctly_rounded(fmt, enclose)


def _at(fmt: FloatFormat, a: int, precision: int) -> tuple[int, int, int, int]:
    """`(sin, cos, error, scale)` at a finite nonzero argument of any size."""
    sign, m, e = unpack(fmt, a)
    top = m.bit_length() + e
    w = precision + max(0, -top)
    # A multiple of pi/2 below 2**top takes that many more bits of pi.
    extra = max(0, top) + 4
    quarter = pi(w + extra - 1)
    turns, rest = divmod((m << (w + e + extra)) + (quarter >> 1), quarter)
    sine, cosine, error = sine_cosine((rest - (quarter >> 1)) >> extra, w)
    match turns & 3:
        case 1:
            sine, cosine = cosine, -sine
        case 2:
            sine, cosine = -sine, -cosine
        case 3:
            sine, cosine = -cosine, sine
        case _:
            pass
    # The reduced argument is off by under one unit for pi and one for the shift.
    return (-sine if sign else sine), cosine, error + 2, w


def asin(fmt: FloatFormat, a: int) -> int:
    """NaN outside -1 to 1."""
    if is_zero(fmt, a):
        return a
    size = a & fmt.magnitude
    if size > fmt.one:
        return fmt.nan
    _, m, e = unpack(fmt, size)

    def enclose(precision: int) -> Enclosure:
        leg, side = _other_leg(m, e, precision)
        return _angle(side, leg, precision, rounded=leg)

    return a & fmt.sign | correctly_rounded(fmt, enclose)


def acos(fmt: FloatFormat, a: int) -> int:
    """NaN outside -1 to 1; +0 at 1."""
    size = a & fmt.magnitude
    if size > fmt.one:
        return fmt.nan
    if a == fmt.one:
        return 0
    _, m, e = unpack(fmt, size)

    def enclose(precision: int) -> Enclosure:
        leg, side = _other_leg(m, e, precision)
        return _angle(leg, side, precision, rounded=leg, beyond=bool(sign_of(fmt, a)))

    return correctly_rounded(fmt, enclose)


def _other_leg(m: int, e: int, precision: int) -> tuple[int, int]:
    """The legs of the right triangle with hypotenuse 1 and one leg `m * 2**e`: the other, then this.

    Both have one scale; the other leg is rounded down by less than a unit.
    """
    guard = precision + 8
    return isqrt(((1 << (-2 * e)) - m * m) << (2 * guard)), m << guard


def atan(fmt: FloatFormat, a: int) -> int:
    return atan2(fmt, a, fmt.one)


def atan2(fmt: FloatFormat, y: int, x: int) -> int:
    """The angle of the point `(x, y)`, signed zeros and infinities as in IEEE 754-2019."""
    if is_nan(fmt, y) or is_nan(fmt, x):
        return fmt.nan
    sign = y & fmt.sign
    left = bool(sign_of(fmt, x))
    if is_infinite(fmt, y):
        eighths = (3 if left else 1) if is_infinite(fmt, x) else 2
        return sign | _eighths_of_a_turn(fmt, eighths)
    if is_zero(fmt, y) or is_infinite(fmt, x):
        return sign | _eighths_of_a_turn(fmt, 4 if left else 0)
    if is_zero(fmt, x):
        return sign | _eighths_of_a_turn(fmt, 2)
    _, m, e = unpack(fmt, y)
    _, n, f = unpack(fmt, x)
    low = min(e, f)
    height, width = m << (e - low), n << (f - low)

    def enclose(precision: int) -> Enclosure:
        return _angle(height, width, precision, beyond=left)

    return sign | correctly_rounded(fmt, enclose)


def _eighths_of_a_turn(fmt: FloatFormat, eighths: int) -> int:
    if eighths == 0:
        return 0

    def enclose(precision: int) -> Enclosure:
        quarter_pi = pi(precision)
        return Enclosure(
            eighths * (quarter_pi - CONSTANT_ERROR), eighths * (quarter_pi + CONSTANT_ERROR), -precision - 2
        )

    return correctly_rounded(fmt, enclose)


def _angle(y: int, x: int, precision: int, *, rounded: int = 0, beyond: bool = False) -> Enclosure:
    """Encloses the angle of `(x, y)`, or of `(-x, y)` when `beyond`.

    `rounded` is whichever of the two is rounded down by less than a unit; 0 when both are exact.
    """
    w = precision + 8
    if not beyond:
        w += max(0, x.bit_length() - y.bit_length() + 1)
    value, error = angle(y, x, w)
    if rounded:
        # q / (1 + q**2) <= arctan q <= q: the angle moves, relatively, no more than the ratio.
        error += (abs(value) >> (rounded.bit_length() - 2)) + 1
    if beyond:
        value = pi(w) - value
        error += CONSTANT_ERROR
    return Enclosure(value - error, value + error, -w)
