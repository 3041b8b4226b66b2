"""Bits of a type as the number a person would write."""

from __future__ import annotations

from vyre.ir.float_bits import converted, double_bits, double_of, is_nan
from vyre.ir.types import DataType


def shown(type_: DataType, bits: int) -> str:
    """`-1` for an I32 of all ones, `0.1` for the F32 nearest to it, `(1, 2)` for lanes."""
    match type_:
        case DataType.Bool:
            return str(bool(bits))
        case DataType.I32:
            return str(bits - (1 << 32) if bits >> 31 else bits)
        case DataType.F32 | DataType.F16 | DataType.BF16:
            return _shortest(type_, bits)
        case DataType.F64:
            return repr(double_of(bits))
        case DataType.Vec2U32 | DataType.Vec4U32:
            return str(tuple(bits >> 32 * lane & 0xFFFF_FFFF for lane in range(type_.lanes)))
        case _:
            return str(bits)


def _shortest(type_: DataType, bits: int) -> str:
    """The shortest decimal that reads back as these bits; NaN shows them, as there are many."""
    if is_nan(type_, bits):
        return f"nan (0x{bits:X})"
    value = double_of(converted(type_, bits, DataType.F64))
    for digits in range(1, 17):
        text = f"{value:.{digits}g}"
        if converted(DataType.F64, double_bits(float(text)), type_) == bits:
            return repr(float(text))
    return repr(value)
