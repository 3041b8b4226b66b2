"""Floats between numbers and bits on integers alone, whatever mode the processor rounds or flushes in.

A library may have set another rounding mode, or subnormals to zero, before or after vyre was imported;
Python's own conversions then round otherwise. Here a Python float is only ever its 64 bits.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from vyre.ir.float_formats import FORMATS

if TYPE_CHECKING:
    from fractions import Fraction

    from vyre.ir.types import DataType

_DOUBLE: Final = struct.Struct("<d")


def double_bits(value: float) -> int:
    """The bits of a Python float."""
    return int.from_bytes(_DOUBLE.pack(value), "little")


def double_of(bits: int) -> float:
    """The Python float of these bits."""
    return _DOUBLE.unpack(bits.to_bytes(8, "little"))[0]


def infinity(kind: DataType) -> int:
    """The bits of +infinity."""
    return FORMATS[kind].infinity


def canonical_nan(kind: DataType) -> int:
    return FORMATS[kind].nan


def is_negative(kind: DataType, bits: int) -> bool:
    """Whether the sign bit is set."""
    return bool(bits >> (kind.bits - 1))


def is_finite(kind: DataType, bits: int) -> bool:
    return bits & infinity(kind) != infinity(kind)


def is_nan(kind: DataType, bits: int) -> bool:
    return bits & FORMATS[kind].magnitude > FORMATS[kind].infinity


def size_of(kind: DataType, bits: int) -> tuple[int, int]:
    """The size of a finite value as an exact ratio of integers, not reduced."""
    of = FORMATS[kind]
    size = bits & of.magnitude
    field = size >> of.fraction_bits
    significand = size & of.fraction | min(field, 1) << of.fraction_bits
    places = max(field, 1) - of.bias - of.fraction_bits
    return significand << max(places, 0), 1 << max(-places, 0)


def nearest_bits(kind: DataType, top: int, bottom: int, *, negative: bool) -> int:
    """The bits of the value nearest to `top / bottom` ≥ 0, ties to even; too large gives infinity."""
    fraction, bias = FORMATS[kind].fraction_bits, FORMATS[kind].bias
    sign = int(negative) << (kind.bits - 1)
    if not top:
        return sign
    exponent = top.bit_length() - bottom.bit_length()
    if top << max(-exponent, 0) < bottom << max(exponent, 0):
        exponent -= 1
    if exponent > bias:
        return sign | infinity(kind)
    exponent = max(exponent, 1 - bias)
    shift = exponent - fraction
    top, bottom = top << max(-shift, 0), bottom << max(shift, 0)
    steps, rest = divmod(top, bottom)
    steps += 2 * rest > bottom or (2 * rest == bottom and steps & 1)
    # A carry out of the significand runs into the exponent, which is where it belongs.
    return sign | min(((exponent + bias - 1) << fraction) + steps, infinity(kind))


def converted(source: DataType, bits: int, target: DataType) -> int:
    """The nearest value of another format, rounded once; every NaN becomes the canonical one."""
    if is_nan(source, bits):
        return canonical_nan(target)
    negative = is_negative(source, bits)
    if not is_finite(source, bits):
        return int(negative) << (target.bits - 1) | infinity(target)
    return nearest_bits(target, *size_of(source, bits), negative=negative)


def nearest_of(kind: DataType, value: Fraction, *, negative: bool) -> int:
    """`nearest_bits` of a fraction."""
    return nearest_bits(kind, value.numerator, value.denominator, negative=negative)
