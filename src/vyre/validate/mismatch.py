"""The words of type errors: what the operands are, and which operation or cast is meant instead."""

from __future__ import annotations

from vyre.ir.operators import FLOAT_BINARY_OPS, FUNCTION_BINARY_OPS, BinaryOp
from vyre.ir.types import FLOAT_TYPES, LANE_TYPES, STORED_TYPES, DataType
from vyre.ir.typing import CAST_TABLE, CONVERT_INTEGERS

SIGNED_OPS = {
    BinaryOp.Div: "signed.div",
    BinaryOp.Mod: "signed.mod",
    BinaryOp.Shl: "signed.shl",
    BinaryOp.Shr: "signed.shr",
    BinaryOp.Lt: "signed.lt",
    BinaryOp.Gt: "signed.gt",
    BinaryOp.Le: "signed.le",
    BinaryOp.Ge: "signed.ge",
}
"""Library ops that do for I32 what an operator defined on U32 alone does not (decision 2)."""

_FLOAT_NAMES = {op.value for op in FLOAT_BINARY_OPS}


def conversion_hint(source: DataType, target: DataType) -> str:
    """How a value of `source` becomes one of `target`."""
    if source is DataType.Bytes or target is DataType.Bytes:
        return "load a word of the Bytes buffer explicitly"
    if target in STORED_TYPES:
        return f"leave the cast out: a store to a buffer of {target.value} keeps the low {target.bits} bits"
    if (source, target) in CAST_TABLE:
        return f"insert Cast {{ target: {target.value}, value }}"
    if source in CONVERT_INTEGERS and target in FLOAT_TYPES:
        return f"use Convert to {target.value} (mode Nearest)"
    if source in FLOAT_TYPES and target in CONVERT_INTEGERS:
        return f"use Convert to {target.value} with the rounding you mean"
    return f"compute a {target.value} from it; no cast leads from {source.value} to {target.value}"


def binary_message(op: BinaryOp, left: DataType, right: DataType) -> tuple[str, str]:
    """Message and fix of a `BinOp` that has no meaning on these operands (V021)."""
    message = f"{op.value} does not take {left.value} and {right.value}."
    return message, _binary_fix(op, left, right)


def _binary_fix(op: BinaryOp, left: DataType, right: DataType) -> str:
    if DataType.I32 in (left, right) and op in SIGNED_OPS and left not in FLOAT_TYPES:
        library = SIGNED_OPS[op]
        return (
            f"call {library} with two I32 for the signed operation, "
            f"or insert Cast {{ target: U32, value }} for the unsigned one."
        )
    if left is not right:
        return f"give both operands one type: {conversion_hint(right, left)} on the right operand."
    if op in FUNCTION_BINARY_OPS and left is DataType.F64:
        return f"insert Cast {{ target: F32, value }}; {op.value} is defined on F32, F16 and BF16."
    if op in FLOAT_BINARY_OPS:
        plain = op.value.removeprefix("F")
        known = plain in BinaryOp.__members__
        return (f"use {plain}, or " if known else "") + "convert both operands to a float type with Convert."
    if left in FLOAT_TYPES:
        strict = f"F{op.value}"
        return f"use {strict}." if strict in _FLOAT_NAMES else "insert Cast or Convert to U32 first."
    if left in LANE_TYPES:
        return "take the lanes with Lane, operate on them as U32, and join them with MakeVec."
    return "insert Cast { target: U32, value } on both operands."
