"""Which families of operations, and which literals that compilers treat specially, a program has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import (
    Atomic,
    BinOp,
    Cast,
    Convert,
    FMulAdd,
    FReduce,
    Lane,
    Literal,
    LitI32,
    LitU32,
    MakeVec,
    Select,
    UnOp,
)
from vyre.ir.operators import (
    FLOAT_CLASS_OPS,
    FLOAT_COMPARE_OPS,
    FUNCTION_BINARY_OPS,
    FUNCTION_UNARY_OPS,
    INTEGER_COMPARE_OPS,
    LOGICAL_BINARY_OPS,
    BinaryOp,
    UnaryOp,
)
from vyre.ir.types import DataType
from vyre.ir.walk import expressions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vyre.ir.node import Node

    Operator = BinaryOp | UnaryOp

B, U = BinaryOp, UnaryOp

FAMILIES: Mapping[str, frozenset[Operator]] = {
    "arithmetic": frozenset({B.Add, B.Sub, B.Mul, U.Negate}),
    "bitwise": frozenset(
        {B.BitAnd, B.BitOr, B.BitXor, U.BitNot, B.Shl, B.Shr, U.Popcount, U.Clz, U.Ctz, U.ReverseBits}
    ),
    "compare": INTEGER_COMPARE_OPS | LOGICAL_BINARY_OPS | {U.LogicalNot},
    "division": frozenset({B.Div, B.Mod, B.MulHi}),
    "F32 arithmetic": frozenset({B.FAdd, B.FSub, B.FMul, B.FDiv, U.FSqrt, U.FNeg, U.FAbs}),
    "F32 order": FLOAT_COMPARE_OPS
    | FLOAT_CLASS_OPS
    | {B.FMin, B.FMax, U.FFloor, U.FCeil, U.FRound, U.FTrunc},
    "functions": FUNCTION_BINARY_OPS | FUNCTION_UNARY_OPS,
}
"""The operators of each family, by the name of its level."""

_NODES: Mapping[type, str] = {
    Select: "choice",
    Cast: "choice",
    Convert: "convert",
    Lane: "lanes",
    MakeVec: "lanes",
    FMulAdd: "F32 arithmetic",
    Atomic: "atomics",
    FReduce: "reductions",
}
_NARROW = {DataType.F16: "F16", DataType.BF16: "BF16", DataType.F64: "F64"}

LITERALS: Mapping[str, int] = {
    "0": 0,
    "1": 1,
    "2": 2,
    "3": 3,
    "10": 10,
    "31": 31,
    "32": 32,
    "255": 255,
    "2^16": 1 << 16,
    "2^24 + 1": (1 << 24) + 1,
    "2^31 - 1": (1 << 31) - 1,
    "2^31": 1 << 31,
    "-1": 0xFFFF_FFFF,
    "1.0": 0x3F80_0000,
    "NaN": 0x7FC0_0000,
    "NaN with a payload": 0xFFA5_5A5A,
    "infinity": 0x7F80_0000,
}
"""Words that stand in programs as a U32 literal and, by its bits, as an F32 one; -0.0 is `2^31`."""


def families_of(entry: Iterable[Node]) -> frozenset[str]:
    found: set[str] = set()
    for expr in expressions(entry):
        if type(expr) in _NODES:
            found.add(_NODES[type(expr)])
        if isinstance(expr, BinOp | UnOp):
            found |= {name for name, ops in FAMILIES.items() if expr.op in ops}
        elif isinstance(expr, Cast) and expr.target in _NARROW:
            found.add(_NARROW[expr.target])
    return frozenset(found)


def literal_names(entry: Iterable[Node]) -> frozenset[str]:
    """The names of the special literals of a program."""
    bits: set[int] = set()
    for expr in expressions(entry):
        match expr:
            case LitU32(value=value) | LitI32(value=value):
                bits.add(value & 0xFFFF_FFFF)
            case Literal(type=DataType.F32, bits=value):
                bits.add(value)
            case _:
                pass
    return frozenset(name for name, value in LITERALS.items() if value in bits)
