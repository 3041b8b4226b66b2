"""Correctly rounded exp, exp2, exp10, log, log2, log10 and log1p.

Where each result is a midpoint or zero, and so never reaches Ziv's loop: exp, log and log1p of a nonzero
(for log: other than 1) rational are transcendental, by Lindemann's theorem; exp2 and exp10 are rational
at integers alone, log2 at powers of two alone, log10 at powers of ten alone, and those are exact integers
or powers here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.reference.floats.constants import CONSTANT_ERROR, ln2, ln10
from vyre.reference.floats.elementary import bits_lost_near_one, exponential_of, logarithm
from vyre.reference.floats.formats import is_infinite, is_nan, is_zero, round_exact, sign_of, unpack
from vyre.reference.floats.ziv import Enclosure, correctly_rounded, quotient

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.float_formats import FloatFormat


def exp(fmt: FloatFormat, a: int) -> int:
    return _power_of(fmt, a, _natural, exact_base=0)


def exp2(fmt: FloatFormat, a: int) -> int:
    return _power_of(fmt, a, ln2, exact_base=2)


def exp10(fmt: FloatFormat, a: int) -> int:
    return _power_of(fmt, a, ln10, exact_base=10)


def log(fmt: FloatFormat, a: int) -> int:
    return _logarithm_to(fmt, a, None)


def log2(fmt: FloatFormat, a: int) -> int:
    return _logarithm_to(fmt, a, ln2)


def log10(fmt: FloatFormat, a: int) -> int:
    return _logarithm_to(fmt, a, ln10)


def log1p(fmt: FloatFormat, a: int) -> int:
    if is_nan(fmt, a):
        return fmt.nan
    if is_zero(fmt, a) or a == fmt.infinity:
        return a
    sign, m, e = unpack(fmt, a) if not is_infinite(fmt, a) else (1, 1, 1)
    scale = max(-e, 0)
    total = (1 << scale) + (-m if sign else m) * (1 << max(e, 0))
    if total <= 0:
        return fmt.nan if total else fmt.sign | fmt.infinity
    lost = bits_lost_near_one(total, -scale)

    def enclose(precision: int) -> Enclosure:
        w = precision + lost + 16
        value, error = logarithm(total, -scale, w)
        return Enclosure(value - error, value + error, -w)

    return correctly_rounded(fmt, enclose)


def overflowed(fmt: FloatFormat, sign: int) -> int:
    return round_exact(fmt, sign, 1, fmt.max_exponent + 2)


def underflowed(fmt: FloatFormat, sign: int) -> int:
    return round_exact(fmt, sign, 1, fmt.min_exponent - 2)


def _natural(w: int) -> int:
    return 1 << w


def _power_of(fmt: FloatFormat, a: int, log_of_base: Callable[[int], int], *, exact_base: int) -> int:
    """`base**a`; `exact_base` 0 says that no power of the base but the zeroth is rational."""
    if is_nan(fmt, a):
        return fmt.nan
    if is_infinite(fmt, a):
        return 0 if sign_of(fmt, a) else a
    if is_zero(fmt, a):
        return fmt.one
    sign, m, e = unpack(fmt, a)
    # From twice the range of exponents on, no base comes anywhere near a finite nonzero result.
    if m.bit_length() + e > fmt.exponent_bits + 1:
        return underflowed(fmt, 0) if sign else overflowed(fmt, 0)
    if exact_base and (e >= 0 or m & (1 << -e) - 1 == 0):
        n = m << e if e >= 0 else m >> -e
        if exact_base == 2:
            return round_exact(fmt, 0, 1, -n if sign else n)
        if not sign:
            return round_exact(fmt, 0, exact_base**n, 0)

    def enclose(precision: int) -> Enclosure:
        w = precision + fmt.exponent_bits + 8
        product = m * log_of_base(w)
        t = product << e if e >= 0 else product >> -e
        error = (CONSTANT_ERROR * m << max(e, 0) >> max(-e, 0)) + 2
        return exponential_of(-t if sign else t, error, w)

    return correctly_rounded(fmt, enclose)


def _logarithm_to(fmt: FloatFormat, a: int, log_of_base: Callable[[int], int] | None) -> int:
    if is_zero(fmt, a):
        return fmt.sign | fmt.infinity
    if is_nan(fmt, a) or sign_of(fmt, a):
        return fmt.nan
    if is_infinite(fmt, a):
        return a
    if a == fmt.one:
        return 0
    _, m, e = unpack(fmt, a)
    n = _exact_logarithm(m, e, log_of_base)
    if n is not None:
        return round_exact(fmt, 1 if n < 0 else 0, abs(n), 0)
    lost = bits_lost_near_one(m, e)

    def enclose(precision: int) -> Enclosure:
        w = precision + lost + 16
        value, error = logarithm(m, e, w)
        if log_of_base is None:
            return Enclosure(value - error, value + error, -w)
        base = log_of_base(w)
        size = abs(value)
        low, high, _ = quotient(
            (size - error, size + error), (base - CONSTANT_ERROR, base + CONSTANT_ERROR), w
        )
        return Enclosure(-high, -low, -w) if value < 0 else Enclosure(low, high, -w)

    return correctly_rounded(fmt, enclose)


def _exact_logarithm(m: int, e: int, log_of_base: Callable[[int], int] | None) -> int | None:
    """The logarithm to base 2 or 10 of `m * 2**e` where it is rational; it is then an integer."""
    if log_of_base is ln2 and m & (m - 1) == 0:
        return e + m.bit_length() - 1
    if log_of_base is ln10:
        twos = (m & -m).bit_length() - 1
        odd, twos = m >> twos, twos + e
        if twos > 0 and odd == 5**twos:
            return twos
    return None
