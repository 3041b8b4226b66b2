"""The permanent numbers of the wire form.

A number is given once, never changed and never reused; new members take the next free number. They
are written out one by one, here and in the rows of `ir/operators.py`, because the order of an enumeration may
change and these may not. Zero is not a tag, so that a run of zero bytes never reads as a program.
"""

from collections.abc import Mapping
from typing import Any, Final

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.buffers import BufferAccess
from vyre.ir.operators import ApproxOp, AtomicOp, BinaryOp, ReduceOp, ReduceOrder, RoundMode, UnaryOp
from vyre.ir.types import DataType

TYPES: Final[Mapping[DataType, int]] = {
    DataType.U32: 1,
    DataType.I32: 2,
    DataType.U64: 3,
    DataType.Vec2U32: 4,
    DataType.Vec4U32: 5,
    DataType.Bool: 6,
    DataType.Bytes: 7,
    DataType.U128: 8,
    DataType.F32: 9,
    DataType.F16: 10,
    DataType.BF16: 11,
    DataType.F64: 12,
    DataType.I8: 13,
    DataType.U8: 14,
    DataType.I16: 15,
    DataType.U16: 16,
    DataType.I64: 17,
}

ACCESSES: Final[Mapping[BufferAccess, int]] = {
    BufferAccess.ReadOnly: 1,
    BufferAccess.ReadWrite: 2,
    BufferAccess.Uniform: 3,
    BufferAccess.Workgroup: 4,
    BufferAccess.WorkgroupAtomic: 5,
    BufferAccess.Private: 6,
    BufferAccess.Constant: 7,
}

BINARY_OPS: Final[Mapping[BinaryOp, int]] = {op: op.row.tag for op in BinaryOp}
UNARY_OPS: Final[Mapping[UnaryOp, int]] = {op: op.row.tag for op in UnaryOp}

ATOMIC_OPS: Final[Mapping[AtomicOp, int]] = {
    AtomicOp.Add: 1,
    AtomicOp.Or: 2,
    AtomicOp.And: 3,
    AtomicOp.Xor: 4,
    AtomicOp.Min: 5,
    AtomicOp.Max: 6,
    AtomicOp.Exchange: 7,
    AtomicOp.CompareExchange: 8,
}

REDUCE_OPS: Final[Mapping[ReduceOp, int]] = {
    ReduceOp.Add: 1,
    ReduceOp.Mul: 2,
    ReduceOp.Min: 3,
    ReduceOp.Max: 4,
}

REDUCE_ORDERS: Final[Mapping[ReduceOrder, int]] = {
    ReduceOrder.Strict: 1,
    ReduceOrder.TreeBinary: 2,
}

ROUND_MODES: Final[Mapping[RoundMode, int]] = {
    RoundMode.Nearest: 1,
    RoundMode.Truncate: 2,
    RoundMode.Floor: 3,
    RoundMode.Ceil: 4,
}

APPROX_OPS: Final[Mapping[ApproxOp, int]] = {
    ApproxOp.FSinApprox: 1,
    ApproxOp.FCosApprox: 2,
    ApproxOp.FExpApprox: 3,
    ApproxOp.FLogApprox: 4,
    ApproxOp.FTanhApprox: 5,
}

EXPRESSIONS: Final[Mapping[type[e.Expr], int]] = {
    e.LitU32: 1,
    e.LitI32: 2,
    e.LitBool: 3,
    e.Literal: 4,
    e.Var: 5,
    e.Load: 6,
    e.BufLen: 7,
    e.InvocationId: 8,
    e.WorkgroupId: 9,
    e.LocalId: 10,
    e.BinOp: 11,
    e.UnOp: 12,
    e.Call: 13,
    e.Select: 14,
    e.Cast: 15,
    e.Convert: 16,
    e.Lane: 17,
    e.MakeVec: 18,
    e.FMulAdd: 19,
    e.Atomic: 20,
    e.FReduce: 21,
    e.FReduceApprox: 22,
    e.Approx: 23,
}

STATEMENTS: Final[Mapping[type[n.Node], int]] = {
    n.Let: 1,
    n.Assign: 2,
    n.Store: 3,
    n.If: 4,
    n.Loop: 5,
    n.Return: 6,
    n.Block: 7,
    n.Barrier: 8,
    n.Break: 9,
}

TABLES: Final[Mapping[str, Mapping[Any, int]]] = {
    "type": TYPES,
    "access": ACCESSES,
    "binary": BINARY_OPS,
    "unary": UNARY_OPS,
    "atomic": ATOMIC_OPS,
    "reduce": REDUCE_OPS,
    "order": REDUCE_ORDERS,
    "round": ROUND_MODES,
    "approx": APPROX_OPS,
    "expression": EXPRESSIONS,
    "statement": STATEMENTS,
}


def all_tags(tables: Mapping[str, Mapping[Any, int]] = TABLES) -> dict[str, int]:
    """Every tag under a permanent name such as `binary.Add` or `expression.Load`."""
    return {
        f"{group}.{member.__name__ if isinstance(member, type) else member.name}": tag
        for group, table in tables.items()
        for member, tag in table.items()
    }
