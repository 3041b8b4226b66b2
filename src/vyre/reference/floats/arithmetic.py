"""Add, sub, mul, div, sqrt and fma: the exact result, rounded once. NaNs produced are canonical."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

from vyre.reference.floats.formats import round_exact, unpack

if TYPE_CHECKING:
    from vyre.reference.floats.formats import Format


def neg(fmt: Format, a: int) -> int:
    """The sign bit flipped, on NaN too (decision 7)."""
    return a ^ fmt.sign_bit


def absolute(fmt: Format, a: int) -> int:
    """The sign bit cleared, on NaN too (decision 7)."""
    return a & fmt.magnitude_mask


def add(fmt: Format, a: int, b: int) -> int:
    if not (fmt.is_finite(a) and fmt.is_finite(b)):
        return _sum_of_specials(fmt, a, b)
    return _sum(fmt, unpack(fmt, a), unpack(fmt, b))


def sub(fmt: Format, a: int, b: int) -> int:
    return add(fmt, a, b ^ fmt.sign_bit)


def mul(fmt: Format, a: int, b: int) -> int:
    sign = (a ^ b) & fmt.sign_bit
    if not (fmt.is_finite(a) and fmt.is_finite(b)):
        if fmt.is_nan(a) or fmt.is_nan(b) or fmt.is_zero(a) or fmt.is_zero(b):
            return fmt.canonical_nan
        return sign | fmt.infinity
    _, m, e = unpack(fmt, a)
    _, n, f = unpack(fmt, b)
    return round_exact(fmt, 1 if sign else 0, m * n, e + f)


def div(fmt: Format, a: int, b: int) -> int:
    sign = (a ^ b) & fmt.sign_bit
    if fmt.is_nan(a) or fmt.is_nan(b):
        return fmt.canonical_nan
    if fmt.is_infinite(a):
        return fmt.canonical_nan if fmt.is_infinite(b) else sign | fmt.infinity
    if fmt.is_infinite(b):
        return sign
    if fmt.is_zero(b):
        return fmt.canonical_nan if fmt.is_zero(a) else sign | fmt.infinity
    _, m, e = unpack(fmt, a)
    _, n, f = unpack(fmt, b)
    # A quotient of precision + 2 bits or more, whatever the lengths of the two significands.
    shift = max(0, fmt.precision + 2 + n.bit_length() - m.bit_length())
    quotient, rest = divmod(m << shift, n)
    return round_exact(fmt, 1 if sign else 0, quotient, e - f - shift, sticky=rest != 0)


def sqrt(fmt: Format, a: int) -> int:
    """The square root; that of a negative number is NaN, that of -0 is -0."""
    if fmt.is_zero(a):
        return a
    if fmt.is_nan(a) or fmt.sign_of(a):
        return fmt.canonical_nan
    if fmt.is_infinite(a):
        return a
    _, m, e = unpack(fmt, a)
    # A root of precision + 1 bits or more, of a number with an even exponent.
    shift = 2 * fmt.precision + 2 - m.bit_length()
    shift += (e - shift) & 1
    scaled = m << shift
    root = isqrt(scaled)
    return round_exact(fmt, 0, root, (e - shift) // 2, sticky=root * root != scaled)


def fma(fmt: Format, a: int, b: int, c: int) -> int:
    """`a * b + c` with one rounding; 0 times infinity is NaN whatever `c` is."""
    if not (fmt.is_finite(a) and fmt.is_finite(b) and fmt.is_finite(c)):
        if fmt.is_finite(a) and fmt.is_finite(b):
            return fmt.canonical_nan if fmt.is_nan(c) else c
        return add(fmt, mul(fmt, a, b), c)
    s, m, e = unpack(fmt, a)
    t, n, f = unpack(fmt, b)
    return _sum(fmt, (s ^ t, m * n, e + f), unpack(fmt, c))


def _sum(fmt: Format, x: tuple[int, int, int], y: tuple[int, int, int]) -> int:
    s, m, e = x
    t, n, f = y
    low = min(e, f)
    left = m << (e - low)
    right = n << (f - low)
    total = (-left if s else left) + (-right if t else right)
    if total:
        return round_exact(fmt, 1 if total < 0 else 0, abs(total), low)
    # An exact zero is +0, except the sum of two negative zeros.
    return round_exact(fmt, s & t, 0, low)


def _sum_of_specials(fmt: Format, a: int, b: int) -> int:
    if fmt.is_nan(a) or fmt.is_nan(b):
        return fmt.canonical_nan
    if fmt.is_infinite(a):
        return fmt.canonical_nan if fmt.is_infinite(b) and a != b else a
    return b
