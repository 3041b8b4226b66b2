"""Conversions between floats and 32-bit integers, and between float formats (decision 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import InterpreterError
from vyre.ir.types import DataType
from vyre.reference.floats.formats import is_infinite, is_nan, round_exact, sign_of, unpack
from vyre.reference.floats.rounding import integer_magnitude

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.operators import RoundMode

_RANGES = {DataType.U32: (0, 0xFFFF_FFFF), DataType.I32: (-0x8000_0000, 0x7FFF_FFFF)}


def _integer_range(dtype: DataType) -> tuple[int, int]:
    try:
        return _RANGES[dtype]
    except KeyError:
        raise InterpreterError(
            f"floats convert to and from U32 and I32, not {dtype.value}.",
            fix="convert through U32 or I32, or use Cast for the other pairs.",
        ) from None


def to_integer(fmt: FloatFormat, bits: int, mode: RoundMode, target: DataType) -> int:
    """The U32 or I32 bits of the rounded value; saturates at the ends of the range, NaN gives 0."""
    lowest, highest = _integer_range(target)
    if is_nan(fmt, bits):
        return 0
    if is_infinite(fmt, bits):
        value = lowest if sign_of(fmt, bits) else highest
    else:
        sign, significand, exponent = unpack(fmt, bits)
        magnitude = integer_magnitude(mode, sign, significand, exponent)
        value = max(lowest, min(highest, -magnitude if sign else magnitude))
    return value & 0xFFFF_FFFF


def from_integer(fmt: FloatFormat, source: DataType, bits: int) -> int:
    """The float nearest to a U32 or I32, ties to even; beyond the largest F16 it is infinity."""
    lowest, highest = _integer_range(source)
    value = bits if bits <= highest else bits + 2 * lowest
    return round_exact(fmt, 1 if value < 0 else 0, abs(value), 0)


def change_format(source: FloatFormat, target: FloatFormat, bits: int) -> int:
    """The nearest value in another format, exact when widening; any NaN becomes the canonical one."""
    if is_nan(source, bits):
        return target.nan
    sign = sign_of(source, bits)
    if is_infinite(source, bits):
        return sign << (target.width - 1) | target.infinity
    _, significand, exponent = unpack(source, bits)
    return round_exact(target, sign, significand, exponent)
