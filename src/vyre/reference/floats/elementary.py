"""Logarithm, exponential and angle of exact arguments, as fixed point values with error bounds."""

from __future__ import annotations

from vyre.reference.floats.constants import CONSTANT_ERROR, arctan_half, ln2, pi
from vyre.reference.floats.series import arctan_series, exponential
from vyre.reference.floats.ziv import Enclosure


def logarithm(significand: int, exponent: int, w: int) -> tuple[int, int]:
    """The natural logarithm of `significand * 2**exponent > 0` at scale `w`, and its error."""
    shift = significand.bit_length() - 1
    if significand * significand > 2 << (2 * shift):
        shift += 1
    # The value is m * 2**whole with m between the square roots of 1/2 and 2: nothing cancels below.
    whole = exponent + shift
    one = 1 << shift
    half, error = arctan_series(abs(significand - one), significand + one, w, hyperbolic=True)
    value = 2 * half if significand >= one else -2 * half
    return value + whole * ln2(w), 2 * error + CONSTANT_ERROR * abs(whole)


def bits_lost_near_one(significand: int, exponent: int) -> int:
    """How many leading bits of the logarithm vanish because the argument is close to 1."""
    if exponent >= 0:
        return 0
    distance = abs(significand - (1 << -exponent))
    return max(0, -exponent - distance.bit_length())


def exponential_of(t: int, error: int, w: int) -> Enclosure:
    """Encloses `e**x` for every `x` within `error` of `t`, both at scale `w`."""
    log_two = ln2(w)
    whole, rest = divmod(t, log_two)
    error += CONSTANT_ERROR * abs(whole)
    value, own_error = exponential(rest, w)
    # The slope of e**x between 0 and log 2 is at most 2, and a wide margin doubles it.
    spread = own_error + 4 * error
    return Enclosure(value - spread, value + spread, whole - w)


def angle(y: int, x: int, w: int) -> tuple[int, int]:
    """The angle of the point `(x, y)`, neither negative nor both 0: from 0 to a quarter turn."""
    if y > x:
        value, error = angle(x, y, w)
        return pi(w - 1) - value, error + CONSTANT_ERROR
    # Turning back by arctan(1/2) or arctan(1) keeps the ratio rational and makes it at most 1/4.
    if 4 * y < x:
        return arctan_series(y, x, w, hyperbolic=False)
    if 4 * y < 3 * x:
        base, y, x = arctan_half(w), 2 * y - x, 2 * x + y
    else:
        base, y, x = pi(w - 2), y - x, x + y
    rest, error = arctan_series(abs(y), x, w, hyperbolic=False)
    return (base + rest if y >= 0 else base - rest), error + CONSTANT_ERROR
