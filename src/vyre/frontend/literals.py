"""Python numbers as values of a type: the exact bits, rounded once, or a refusal."""

from __future__ import annotations

import math

from vyre.frontend.values import Refused
from vyre.ir.expr import Expr, LitBool, Literal, LitI32, LitU32
from vyre.ir.types import DataType

_INTEGERS = {
    DataType.U32: (0, (1 << 32) - 1),
    DataType.I32: (-(1 << 31), (1 << 31) - 1),
    DataType.U64: (0, (1 << 64) - 1),
    DataType.U128: (0, (1 << 128) - 1),
}
_FLOATS = {DataType.F16: (11, 5), DataType.BF16: (8, 8), DataType.F32: (24, 8), DataType.F64: (53, 11)}
"""Bits of the significand, with the hidden one, and of the exponent."""


def number_bits(value: bool | int | float, target: DataType) -> int:
    """The bits of a Python number as `target`. Raises `Refused` where it has no such value."""
    if target in _FLOATS:
        return float_bits(value, target)
    if target is DataType.Bool:
        if isinstance(value, bool):
            return int(value)
        raise Refused(f"{value!r} is no Bool.", "write True or False, or compare: x != 0.")
    if target not in _INTEGERS:
        raise Refused(
            f"{value!r} is no {target.value}.",
            "write the lanes: vec2(x, y), vec4(x, y, z, w) or vyre.from_lanes(type, …).",
        )
    if isinstance(value, float):
        raise Refused(
            f"{value!r} is a float and {target.value} an integer type.",
            "write an integer, or convert the other side: vyre.convert(x, f32).",
        )
    low, high = _INTEGERS[target]
    if not low <= value <= high:
        fix = f"use a number from {low} to {high}"
        wrapped = f", such as {value & high:#x} for the same low bits" if low == 0 else ""
        raise Refused(f"{value} does not fit into {target.value}.", f"{fix}{wrapped}.")
    return int(value) & ((1 << target.bits) - 1)


def literal(value: bool | int | float, target: DataType) -> Expr:
    """The literal expression of a Python number as `target`."""
    bits = number_bits(value, target)
    match target:
        case DataType.U32:
            return LitU32(bits)
        case DataType.I32:
            return LitI32(int(value))
        case DataType.Bool:
            return LitBool(bool(bits))
        case _:
            return Literal(target, bits)


def float_bits(value: float, target: DataType) -> int:
    """Nearest value of a float format, ties to even, rounded once from the exact number."""
    precision, exponent_bits = _FLOATS[target]
    infinity = ((1 << exponent_bits) - 1) << (precision - 1)
    if value != value:
        return infinity | 1 << (precision - 2)
    sign = (1 << (target.bits - 1)) if math.copysign(1.0, _sign_of(value)) < 0 else 0
    if isinstance(value, float) and math.isinf(value):
        return sign | infinity
    top, bottom = abs(value).as_integer_ratio()
    if not top:
        return sign
    lowest = 2 - (1 << (exponent_bits - 1))
    exponent = top.bit_length() - bottom.bit_length()
    if top << max(-exponent, 0) < bottom << max(exponent, 0):
        exponent -= 1
    exponent = max(exponent, lowest)
    if exponent > 1 - lowest:
        return sign | infinity
    shift = exponent - precision + 1
    top, bottom = top << max(-shift, 0), bottom << max(shift, 0)
    digits, rest = divmod(top, bottom)
    digits += 2 * rest > bottom or (2 * rest == bottom and digits & 1)
    # A carry out of the digits runs into the exponent, which is where it belongs.
    return sign | min(((exponent - lowest) << (precision - 1)) + digits, infinity)


def _sign_of(value: float) -> float:
    return value if isinstance(value, float) else (-1.0 if value < 0 else 1.0)
