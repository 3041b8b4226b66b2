"""What the reference interpreter's exact floats say of each soft op, on single values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import OpError
from vyre.ir.operators import BinaryOp, RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.reference import floats
from vyre.reference.floats.formats import is_nan

if TYPE_CHECKING:
    from collections.abc import Sequence

_BINARY = {
    op.value[1:].lower(): op
    for op in BinaryOp
    if op.value in ("FAdd", "FSub", "FMul", "FDiv", "FMin", "FMax", "FEq", "FNe", "FLt", "FGt", "FLe", "FGe")
}
_UNARY = {
    "sqrt": UnaryOp.FSqrt,
    "neg": UnaryOp.FNeg,
    "abs": UnaryOp.FAbs,
    "is_nan": UnaryOp.FIsNaN,
    "is_inf": UnaryOp.FIsInf,
    "floor": UnaryOp.FFloor,
    "ceil": UnaryOp.FCeil,
    "round": UnaryOp.FRound,
    "trunc": UnaryOp.FTrunc,
}


def reference(op_id: str, operands: Sequence[int]) -> int:
    """The bits that `op_id` must give."""
    _, type_name, name = op_id.split(".")
    fmt = floats.FORMATS[DataType(type_name.upper())]
    if name in _BINARY:
        return floats.binary(_BINARY[name], fmt, operands[0], operands[1])
    if name in _UNARY:
        return floats.unary(_UNARY[name], fmt, operands[0])
    match name.split("_"):
        case ["fma"]:
            return floats.fma(fmt, operands[0], operands[1], operands[2])
        case ["canon"]:
            return fmt.nan if is_nan(fmt, operands[0]) else operands[0]
        case ["from", "bits"]:
            return operands[0] & 0xFFFF
        case ["from", source]:
            return floats.from_integer(fmt, DataType(source.upper()), operands[0])
        case ["to", target, mode]:
            rounding = RoundMode(mode.capitalize())
            return floats.to_integer(fmt, operands[0], rounding, DataType(target.upper()))
        case ["to", target]:
            return floats.change_format(fmt, floats.FORMATS[DataType(target.upper())], operands[0])
        case _:
            raise OpError(f"the reference has no {op_id}.", fix="take an id from soft_ops().")
