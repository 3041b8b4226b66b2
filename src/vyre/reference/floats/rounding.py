"""Rounding to an integral value: FFloor, FCeil, FRound (ties to even), FTrunc.

A result of zero keeps the sign of the operand, so the ceiling of -0.5 is -0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.operators import RoundMode
from vyre.reference.floats.formats import is_finite, is_nan, round_exact, unpack

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat


def integer_magnitude(mode: RoundMode, sign: int, significand: int, exponent: int) -> int:
    """`|value|` after the value is rounded to an integer in `mode`."""
    if exponent >= 0:
        return significand << exponent
    shift = -exponent
    kept = significand >> shift
    rest = significand & (1 << shift) - 1
    half = 1 << (shift - 1)
    match mode:
        case RoundMode.Nearest:
            away = rest > half or (rest == half and kept & 1 == 1)
        case RoundMode.Truncate:
            away = False
        case RoundMode.Floor:
            away = rest != 0 and sign == 1
        case RoundMode.Ceil:
            away = rest != 0 and sign == 0
    return kept + 1 if away else kept


def _to_integral(fmt: FloatFormat, mode: RoundMode, a: int) -> int:
    if is_nan(fmt, a):
        return fmt.nan
    if not is_finite(fmt, a):
        return a
    sign, significand, exponent = unpack(fmt, a)
    if exponent >= 0:
        return a
    return round_exact(fmt, sign, integer_magnitude(mode, sign, significand, exponent), 0)


def floor(fmt: FloatFormat, a: int) -> int:
    return _to_integral(fmt, RoundMode.Floor, a)


def ceil(fmt: FloatFormat, a: int) -> int:
    return _to_integral(fmt, RoundMode.Ceil, a)


def nearest(fmt: FloatFormat, a: int) -> int:
    return _to_integral(fmt, RoundMode.Nearest, a)


def trunc(fmt: FloatFormat, a: int) -> int:
    return _to_integral(fmt, RoundMode.Truncate, a)
