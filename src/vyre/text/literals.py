"""Float literals between bits and decimal digits, exactly."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import Final

from vyre.ir.types import DataType

_HALF: Final = struct.Struct("<e")
_SINGLE: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")
_FRACTION_BITS: Final = {DataType.F16: 10, DataType.BF16: 7, DataType.F32: 23, DataType.F64: 52}


def decimal_of(kind: DataType, bits: int) -> str:
    """Digits for a reader: the shortest that name the value in F32, in F64 for an F64."""
    if kind is DataType.F64:
        return repr(_DOUBLE.unpack(bits.to_bytes(8, "little"))[0])
    if kind is DataType.F16:
        value: float = _HALF.unpack(bits.to_bytes(2, "little"))[0]
    else:
        value = _SINGLE.unpack((bits << (32 - kind.bits)).to_bytes(4, "little"))[0]
    digits = ""
    for precision in (6, 7, 8, 9):
        digits = f"{value:.{precision}g}"
        if _nearest_single(float(digits)) == value:
            break
    return digits if "." in digits or "e" in digits or "n" in digits else f"{digits}.0"


def _nearest_single(value: float) -> float:
    try:
        return _SINGLE.unpack(_SINGLE.pack(value))[0]
    except OverflowError:
        return math.inf


def bits_of(kind: DataType, value: Fraction, *, negative: bool) -> int:
    """Bits of the float nearest to `value` ≥ 0, ties to even; too large gives infinity."""
    fraction_bits = _FRACTION_BITS[kind]
    exponent_bits = kind.bits - 1 - fraction_bits
    bias = (1 << (exponent_bits - 1)) - 1
    sign = int(negative) << (kind.bits - 1)
    if value == 0:
        return sign
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, 1 - bias)
    # Rounding up to the next power of two carries into the exponent field, which is what IEEE asks for.
    steps = round(value / Fraction(2) ** (exponent - fraction_bits))
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    return sign | min(((exponent + bias - 1) << fraction_bits) + steps, infinity)
