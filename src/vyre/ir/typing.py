"""The type rules: which operand types a node takes and what it gives.

One place for the validator, the interpreter, the lowerings and the generators. `type_of` types one
node from the types of its operands; `None` means that no rule applies.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Protocol

from vyre.ir import expr as e
from vyre.ir.operators import (
    BinaryOp,
    Operands,
    RoundMode,
    Row,
    UnaryOp,
)
from vyre.ir.types import FLOAT_TYPES, LANE_TYPES, STORED_TYPES, DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.ir.signature import OpSignature

_T = DataType


class CastRule(Enum):
    """What a cast does to the bits; U64, U128 and vectors are u32 lanes, lane 0 lowest."""

    Identity = "the value is unchanged"
    Bitcast = "the same bits under another type"
    ToBool = "0 if every lane is 0, else 1"
    FromBool = "0 or 1"
    ZeroExtend = "lane 0 is the value, higher lanes are 0"
    SignExtend = "lane 0 is the value, higher lanes repeat its sign bit"
    Splat = "every lane is the value"
    LowLanes = "the lowest lanes are kept"
    LowHalf = "the low 16 bits are kept"
    ZeroExtendHalf = "the 16 bits, zero-extended"
    Widen = "exact promotion; NaN becomes the canonical NaN"
    Round = "round to nearest, ties to even; NaN becomes the canonical NaN"


CAST_TABLE: Mapping[tuple[DataType, DataType], CastRule] = {
    **{(t, t): CastRule.Identity for t in _T if t not in STORED_TYPES},
    (_T.U32, _T.I32): CastRule.Bitcast,
    (_T.U32, _T.Bool): CastRule.ToBool,
    (_T.U32, _T.U64): CastRule.ZeroExtend,
    (_T.U32, _T.Vec2U32): CastRule.Splat,
    (_T.U32, _T.Vec4U32): CastRule.Splat,
    (_T.I32, _T.U32): CastRule.Bitcast,
    (_T.I32, _T.Bool): CastRule.ToBool,
    (_T.I32, _T.U64): CastRule.SignExtend,
    (_T.I32, _T.Vec2U32): CastRule.Splat,
    (_T.I32, _T.Vec4U32): CastRule.Splat,
    (_T.Bool, _T.U32): CastRule.FromBool,
    (_T.Bool, _T.I32): CastRule.FromBool,
    (_T.Bool, _T.U64): CastRule.ZeroExtend,
    (_T.Bool, _T.Vec2U32): CastRule.Splat,
    (_T.Bool, _T.Vec4U32): CastRule.Splat,
    (_T.U64, _T.U32): CastRule.LowLanes,
    (_T.U64, _T.I32): CastRule.LowLanes,
    (_T.U64, _T.Bool): CastRule.ToBool,
    (_T.U64, _T.Vec2U32): CastRule.Bitcast,
    (_T.Vec2U32, _T.U32): CastRule.LowLanes,
    (_T.Vec2U32, _T.I32): CastRule.LowLanes,
    (_T.Vec2U32, _T.U64): CastRule.Bitcast,
    (_T.Vec2U32, _T.Bool): CastRule.ToBool,
    (_T.Vec4U32, _T.U32): CastRule.LowLanes,
    (_T.Vec4U32, _T.I32): CastRule.LowLanes,
    (_T.Vec4U32, _T.Vec2U32): CastRule.LowLanes,
    (_T.Vec4U32, _T.Bool): CastRule.ToBool,
    (_T.Vec4U32, _T.U64): CastRule.LowLanes,
    (_T.U128, _T.U32): CastRule.LowLanes,
    (_T.U128, _T.I32): CastRule.LowLanes,
    (_T.U128, _T.U64): CastRule.LowLanes,
    (_T.U128, _T.Vec2U32): CastRule.LowLanes,
    (_T.U128, _T.Vec4U32): CastRule.Bitcast,
    (_T.U128, _T.Bool): CastRule.ToBool,
    (_T.U32, _T.U128): CastRule.ZeroExtend,
    (_T.I32, _T.U128): CastRule.SignExtend,
    (_T.U64, _T.U128): CastRule.ZeroExtend,
    (_T.Vec2U32, _T.U128): CastRule.ZeroExtend,
    (_T.Vec4U32, _T.U128): CastRule.Bitcast,
    (_T.Bool, _T.U128): CastRule.ZeroExtend,
    (_T.F32, _T.U32): CastRule.Bitcast,
    (_T.U32, _T.F32): CastRule.Bitcast,
    (_T.F16, _T.F32): CastRule.Widen,
    (_T.F32, _T.F16): CastRule.Round,
    (_T.BF16, _T.F32): CastRule.Widen,
    (_T.F32, _T.BF16): CastRule.Round,
    (_T.U32, _T.F16): CastRule.LowHalf,
    (_T.U32, _T.BF16): CastRule.LowHalf,
    (_T.F16, _T.U32): CastRule.ZeroExtendHalf,
    (_T.BF16, _T.U32): CastRule.ZeroExtendHalf,
    (_T.F32, _T.F64): CastRule.Widen,
    (_T.F64, _T.F32): CastRule.Round,
}
"""Every lawful cast (the documents' stable and planned rows, and decision 6)."""

_OPERANDS: Mapping[Operands, frozenset[DataType]] = {
    Operands.Word: frozenset({_T.U32}),
    Operands.Bits: frozenset({_T.U32, _T.I32}),
    Operands.Truth: frozenset({_T.U32, _T.Bool}),
    Operands.Float: FLOAT_TYPES,
    Operands.Function: FLOAT_TYPES - {_T.F64},
}

CONVERT_INTEGERS = frozenset({_T.U32, _T.I32})


def binary_type(op: BinaryOp, left: DataType, right: DataType) -> DataType | None:
    """Result type of a `BinOp` (decision 2)."""
    return _result_type(op.row, left) if left is right else None


def unary_type(op: UnaryOp, operand: DataType) -> DataType | None:
    """Result type of a `UnOp` (decision 2)."""
    return _result_type(op.row, operand)


def _result_type(row: Row, operand: DataType) -> DataType | None:
    if operand not in _OPERANDS[row.operands]:
        return None
    return _T.U32 if row.truth else operand


def convert_type(target: DataType, mode: RoundMode, source: DataType) -> DataType | None:
    """Result type of a `Convert`: float to integer in any mode, integer to float to nearest only."""
    if source in FLOAT_TYPES and target in CONVERT_INTEGERS:
        return target
    if source in CONVERT_INTEGERS and target in FLOAT_TYPES and mode is RoundMode.Nearest:
        return target
    return None


def is_condition(t: DataType | None) -> bool:
    return t is _T.U32 or t is _T.Bool


class TypeEnv(Protocol):
    """What a node's type depends on beyond its operands; each answers None when unknown."""

    def variable(self, name: str) -> DataType | None: ...
    def element(self, buffer: str) -> DataType | None: ...
    def signature(self, op_id: str) -> OpSignature | None: ...


def cast_source(expr: e.Cast, operand: DataType, element: Callable[[str], DataType | None]) -> DataType:
    """The type that a cast starts from: its operand's, or Bytes for a cast to Bytes of what is of Bytes.

    Bytes are loaded as U32 words, so only the place tells: a word as it is loaded from a Bytes buffer, or
    such a cast of one. Once a word has a name it is a U32.
    """
    if expr.target is not _T.Bytes:
        return operand
    match expr.value:
        case e.Load(buffer=buffer):
            return _T.Bytes if element(buffer) is _T.Bytes else operand
        case e.Cast(target=_T.Bytes):
            return _T.Bytes
        case _:
            return operand


def type_of(expr: e.Expr, operands: tuple[DataType, ...], env: TypeEnv) -> DataType | None:
    """The type of one node over operands of these types; None where no rule applies."""
    match expr:
        case e.LitU32() | e.BufLen() | e.InvocationId() | e.WorkgroupId() | e.LocalId():
            return _T.U32
        case e.LitI32():
            return _T.I32
        case e.LitBool():
            return _T.Bool
        case e.Literal(type=t):
            return t
        case e.Var(name=name):
            return env.variable(name)
        case e.BinOp(op=op):
            return binary_type(op, *operands)
        case e.UnOp(op=op):
            return unary_type(op, *operands)
        case e.Load(buffer=buffer):
            element = env.element(buffer)
            return element.loaded if element and operands == (_T.U32,) else None
        case e.Select():
            cond, yes, no = operands
            return yes if is_condition(cond) and yes is no else None
        case e.Cast(target=target):
            source = cast_source(expr, operands[0], env.element)
            return target.loaded if (source, target) in CAST_TABLE else None
        case e.Convert(target=target, mode=mode):
            return convert_type(target, mode, operands[0])
        case e.Lane(index=index):
            fits = operands[0] in LANE_TYPES and index < operands[0].lanes
            return _T.U32 if fits else None
        case e.MakeVec(type=t):
            fits = t in LANE_TYPES and operands == (_T.U32,) * t.lanes
            return t if fits else None
        case e.FMulAdd():
            a = operands[0]
            return a if a in FLOAT_TYPES and operands == (a, a, a) else None
        case e.Atomic(buffer=buffer):
            fits = env.element(buffer) is _T.U32 and all(t is _T.U32 for t in operands)
            return _T.U32 if fits else None
        case e.FReduce(buffer=buffer) | e.FReduceApprox(buffer=buffer):
            element = env.element(buffer)
            fits = element in FLOAT_TYPES and operands == (_T.U32, _T.U32)
            return element if fits else None
        case e.Approx():
            return operands[0] if operands[0] in FLOAT_TYPES - {_T.F64} else None
        case e.Call(op_id=op_id):
            signature = env.signature(op_id)
            return signature.output if signature and signature.inputs == operands else None
        case _:
            return None
