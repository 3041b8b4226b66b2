"""Correctly rounded pow, with the special cases of IEEE 754-2019.

A power is a midpoint only where it is a dyadic rational. With `x = m * 2**e` (m odd) and
`y = n / 2**j` (n odd or j = 0) that takes a rational root of x of order `2**j`, which is found by exact
square roots; then the power is that of an integer exponent. It is computed exactly when the root is a
power of two or the exponent is small. Beyond that, a positive exponent leaves an odd factor of
`3**(precision + 2)` or more, too long for a midpoint, and a negative one an odd denominator.
"""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

from vyre.reference.floats.elementary import exponential_of, logarithm
from vyre.reference.floats.exponentials import overflowed, underflowed
from vyre.reference.floats.formats import is_infinite, is_nan, is_zero, round_exact, sign_of, unpack
from vyre.reference.floats.ziv import Enclosure, correctly_rounded

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat


def power(fmt: FloatFormat, x: int, y: int) -> int:
    """`x**y`; it is 1 for `y = 0` and for `x = 1` even when the other operand is NaN."""
    if is_zero(fmt, y) or x == fmt.one:
        return fmt.one
    if is_nan(fmt, x) or is_nan(fmt, y):
        return fmt.nan
    integral, odd = _parity(fmt, y)
    sign = sign_of(fmt, x) if odd else 0
    sign_bit = sign << (fmt.width - 1)
    size = x & fmt.magnitude
    rising = not sign_of(fmt, y)
    if is_infinite(fmt, y) and size == fmt.one:
        return fmt.one
    if size == 0 or is_infinite(fmt, x) or is_infinite(fmt, y):
        grows = (size > fmt.one) == rising
        return sign_bit | fmt.infinity if grows else sign_bit
    if sign_of(fmt, x) and not integral:
        return fmt.nan
    return _finite_power(fmt, sign, size, y)


def _parity(fmt: FloatFormat, y: int) -> tuple[bool, bool]:
    """Whether `y` is an integer, and an odd one; infinities count as even integers."""
    if is_infinite(fmt, y):
        return True, False
    _, n, k = unpack(fmt, y)
    if k > 0:
        return True, False
    below_one = n & (1 << -k) - 1
    return below_one == 0, below_one == 0 and n >> -k & 1 == 1


def _finite_power(fmt: FloatFormat, sign: int, x: int, y: int) -> int:
    _, m, e = unpack(fmt, x)
    y_sign, n, k = unpack(fmt, y)
    exact = _exact_power(fmt, m, e, y_sign, n, k)
    if exact is not None:
        return round_exact(fmt, sign, *exact)
    y_length = max(n.bit_length() + k, 0)

    def log_of_result(w: int) -> tuple[int, int]:
        log_scale = w + y_length
        log_x, error = logarithm(m, e, log_scale)
        shift = log_scale - w - k
        t = log_x * n >> shift
        return (-t if y_sign else t), (error * n >> shift) + 2

    rough, margin = log_of_result(64)
    if rough - margin > (fmt.max_exponent + 2) << 64:
        return overflowed(fmt, sign)
    if rough + margin < (fmt.min_exponent - 2) << 64:
        return underflowed(fmt, sign)

    def enclose(precision: int) -> Enclosure:
        w = precision + fmt.exponent_bits + 8
        return exponential_of(*log_of_result(w), w)

    return correctly_rounded(fmt, enclose) | sign << (fmt.width - 1)


def _exact_power(fmt: FloatFormat, m: int, e: int, y_sign: int, n: int, k: int) -> tuple[int, int] | None:
    """`(significand, exponent)` of the power where it may be a midpoint, None where it cannot be."""
    zeros = (m & -m).bit_length() - 1
    m, e = m >> zeros, e + zeros
    zeros = (n & -n).bit_length() - 1
    n, k = n >> zeros, k + zeros
    while k < 0:
        root = isqrt(m)
        if e & 1 or root * root != m:
            return None
        m, e, k = root, e // 2, k + 1
    exponent = n << k
    if m == 1:
        return 1, -e * exponent if y_sign else e * exponent
    if y_sign or exponent > fmt.precision + 2:
        return None
    return m**exponent, e * exponent
