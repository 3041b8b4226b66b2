"""What generated programs contain: every node kind with the types it can have, counted."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.buffers import BufferAccess
from vyre.ir.environment import Types
from vyre.ir.operators import (
    ApproxOp,
    AtomicOp,
    BinaryOp,
    ReduceOp,
    ReduceOrder,
    RoundMode,
    UnaryOp,
)
from vyre.ir.types import FLOAT_TYPES, LANE_TYPES, WIDE_LITERAL_TYPES, DataType
from vyre.ir.typing import CAST_TABLE, binary_type, convert_type, unary_type
from vyre.ir.walk import postorder, statements

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Mapping

    from vyre.compose import Registry
    from vyre.ir.program import Program

Key = tuple[str, ...]


def universe(types: Iterable[DataType], *, approximate: bool) -> set[Key]:
    """Every (kind, operator, types) that a valid program over these types can contain."""
    some = tuple(types)
    floats = [t for t in some if t in FLOAT_TYPES]
    lanes = [t for t in some if t in LANE_TYPES]
    keys: set[Key] = {("BufLen",), ("Call",), ("If",), ("Loop",), ("Return",), ("Block",), ("Barrier",)}
    keys |= {("Break",), *(("Buffer", access.value) for access in BufferAccess)}
    keys |= {(k, str(a)) for k in ("InvocationId", "WorkgroupId", "LocalId") for a in range(3)}
    keys |= {("BinOp", o.value, t.value) for o, t in product(BinaryOp, some) if binary_type(o, t, t)}
    keys |= {("UnOp", o.value, t.value) for o, t in product(UnaryOp, some) if unary_type(o, t)}
    keys |= {("Cast", s.value, t.value) for s, t in CAST_TABLE if s in some and t in some}
    keys |= {
        ("Convert", s.value, m.value, t.value)
        for s, m, t in product(some, RoundMode, some)
        if convert_type(t, m, s)
    }
    for kind in ("Var", "Select", "Let", "Assign"):
        keys |= {(kind, t.value) for t in some}
    for kind in ("Load", "Store"):
        keys |= {(kind, t.value) for t in (*some, DataType.Bytes)}
    keys |= {("Literal", t.value) for t in some if t in WIDE_LITERAL_TYPES}
    keys |= {("LitU32",), ("LitI32",), ("LitBool",)}
    keys |= {("Lane", t.value, str(i)) for t in lanes for i in range(t.lanes)}
    keys |= {("MakeVec", t.value) for t in lanes}
    keys |= {("FMulAdd", t.value) for t in floats}
    keys |= {("Atomic", o.value) for o in AtomicOp}
    keys |= {("FReduce", o.value, r.value, t.value) for o, r, t in product(ReduceOrder, ReduceOp, floats)}
    if approximate:
        keys |= {("FReduceApprox", r.value, t.value) for r, t in product(ReduceOp, floats)}
        keys |= {("Approx", o.value, t.value) for o, t in product(ApproxOp, floats) if t is not DataType.F64}
    return keys


def count_kinds(program: Program, registry: Registry, counts: Counter[Key]) -> None:
    """Adds what a valid program with unique variable names contains; shared nodes count once a statement."""
    types = Types(program.buffers, signatures=lambda op_id: registry[op_id].signature)
    elements = {b.name: b.element for b in program.buffers}
    for decl in program.buffers:
        counts["Buffer", decl.access.value] += 1
    for _, node in statements(program.entry):
        for root in node.exprs:
            for expr in postorder(root):
                operands = tuple(types.type(c) for c in expr.children)
                counts[_expr_key(expr, operands, types.type(expr), elements)] += 1
        types.enter(node)
        match node:
            case n.Let(value=value):
                counts["Let", types.type(value).value] += 1
            case n.Assign(value=value):
                counts["Assign", types.type(value).value] += 1
            case n.Store(buffer=buffer):
                counts["Store", elements[buffer].value] += 1
            case n.Loop():
                counts["Loop",] += 1
            case _:
                counts[type(node).__name__,] += 1


def _expr_key(
    expr: e.Expr, operands: tuple[DataType, ...], result: DataType, elements: Mapping[str, DataType]
) -> Key:
    kind = type(expr).__name__
    match expr:
        case e.BinOp(op=op) | e.UnOp(op=op):
            return (kind, op.value, operands[0].value)
        case e.Cast():
            return (kind, operands[0].value, result.value)
        case e.Convert(mode=mode):
            return (kind, operands[0].value, mode.value, result.value)
        case e.InvocationId(axis=axis) | e.WorkgroupId(axis=axis) | e.LocalId(axis=axis):
            return (kind, str(axis))
        case e.Load(buffer=buffer):
            return (kind, elements[buffer].value)
        case e.Lane(index=index):
            return (kind, operands[0].value, str(index))
        case e.Atomic(op=op):
            return (kind, op.value)
        case e.FReduce(order=order, op=op):
            return (kind, order.value, op.value, result.value)
        case e.FReduceApprox(op=op) | e.Approx(op=op):
            return (kind, op.value, result.value)
        case e.LitU32() | e.LitI32() | e.LitBool() | e.BufLen() | e.Call():
            return (kind,)
        case _:
            return (kind, result.value)
