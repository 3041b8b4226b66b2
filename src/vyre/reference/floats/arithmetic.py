"""Add, sub, mul, div, sqrt, cbrt and fma: the exact result, rounded once. NaNs produced are canonical."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

from vyre.reference.floats.formats import (
    is_finite,
    is_infinite,
    is_nan,
    is_zero,
    round_exact,
    sign_of,
    unpack,
)

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat


def neg(fmt: FloatFormat, a: int) -> int:
    """The sign bit flipped, on NaN too (decision 7)."""
    return a ^ fmt.sign


def absolute(fmt: FloatFormat, a: int) -> int:
    """The sign bit cleared, on NaN too (decision 7)."""
    return a & fmt.magnitude


def add(fmt: FloatFormat, a: int, b: int) -> int:
    if not (is_finite(fmt, a) and is_finite(fmt, b)):
        return _sum_of_specials(fmt, a, b)
    return _sum(fmt, unpack(fmt, a), unpack(fmt, b))


def sub(fmt: FloatFormat, a: int, b: int) -> int:
    return add(fmt, a, b ^ fmt.sign)


def mul(fmt: FloatFormat, a: int, b: int) -> int:
    sign = (a ^ b) & fmt.sign
    if not (is_finite(fmt, a) and is_finite(fmt, b)):
        if is_nan(fmt, a) or is_nan(fmt, b) or is_zero(fmt, a) or is_zero(fmt, b):
            return fmt.nan
        return sign | fmt.infinity
    _, m, e = unpack(fmt, a)
    _, n, f = unpack(fmt, b)
    return round_exact(fmt, 1 if sign else 0, m * n, e + f)


def div(fmt: FloatFormat, a: int, b: int) -> int:
    sign = (a ^ b) & fmt.sign
    if is_nan(fmt, a) or is_nan(fmt, b):
        return fmt.nan
    if is_infinite(fmt, a):
        return fmt.nan if is_infinite(fmt, b) else sign | fmt.infinity
    if is_infinite(fmt, b):
        return sign
    if is_zero(fmt, b):
        return fmt.nan if is_zero(fmt, a) else sign | fmt.infinity
    _, m, e = unpack(fmt, a)
    _, n, f = unpack(fmt, b)
    # A quotient of precision + 2 bits or more, whatever the lengths of the two significands.
    shift = max(0, fmt.precision + 2 + n.bit_length() - m.bit_length())
    quotient, rest = divmod(m << shift, n)
    return round_exact(fmt, 1 if sign else 0, quotient, e - f - shift, sticky=rest != 0)


def sqrt(fmt: FloatFormat, a: int) -> int:
    """The square root; that of a negative number is NaN, that of -0 is -0."""
    if is_zero(fmt, a):
        return a
    if is_nan(fmt, a) or sign_of(fmt, a):
        return fmt.nan
    if is_infinite(fmt, a):
        return a
    _, m, e = unpack(fmt, a)
    # A root of precision + 1 bits or more, of a number with an even exponent.
    shift = 2 * fmt.precision + 2 - m.bit_length()
    shift += (e - shift) & 1
    scaled = m << shift
    root = isqrt(scaled)
    return round_exact(fmt, 0, root, (e - shift) // 2, sticky=root * root != scaled)


def cbrt(fmt: FloatFormat, a: int) -> int:
    """The cube root, of negative numbers too."""
    if is_nan(fmt, a):
        return fmt.nan
    if is_zero(fmt, a) or is_infinite(fmt, a):
        return a
    sign, m, e = unpack(fmt, a)
    # A root of precision + 1 bits or more, of a number whose exponent is a multiple of 3.
    shift = 3 * fmt.precision + 3 - m.bit_length()
    shift += (e - shift) % 3
    scaled = m << shift
    root = _integer_cube_root(scaled)
    return round_exact(fmt, sign, root, (e - shift) // 3, sticky=root**3 != scaled)


def _integer_cube_root(n: int) -> int:
    """The largest integer whose cube is at most `n`, by Newton's steps from above."""
    root = 1 << -(-n.bit_length() // 3)
    while (lower := (2 * root + n // (root * root)) // 3) < root:
        root = lower
    return root


def fma(fmt: FloatFormat, a: int, b: int, c: int) -> int:
    """`a * b + c` with one rounding; 0 times infinity is NaN whatever `c` is."""
    if not (is_finite(fmt, a) and is_finite(fmt, b) and is_finite(fmt, c)):
        if is_finite(fmt, a) and is_finite(fmt, b):
            return fmt.nan if is_nan(fmt, c) else c
        return add(fmt, mul(fmt, a, b), c)
    s, m, e = unpack(fmt, a)
    t, n, f = unpack(fmt, b)
    return _sum(fmt, (s ^ t, m * n, e + f), unpack(fmt, c))


def _sum(fmt: FloatFormat, x: tuple[int, int, int], y: tuple[int, int, int]) -> int:
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


def _sum_of_specials(fmt: FloatFormat, a: int, b: int) -> int:
    if is_nan(fmt, a) or is_nan(fmt, b):
        return fmt.nan
    if is_infinite(fmt, a):
        return fmt.nan if is_infinite(fmt, b) and a != b else a
    return b
