"""Constants: literals as bits and back, and operations on them as the reference defines them.

Only integer operations, moves of bits and lanes are folded. Float operations are left to the
backend, which must give the reference's bits anyway; a load or an atomic is never a constant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre.ir import expr as e
from vyre.ir.limits import U32_MAX
from vyre.ir.types import DataType
from vyre.ir.typing import CAST_TABLE, CastRule, binary_type, unary_type
from vyre.ir.walk import postorder
from vyre.reference.casts import cast
from vyre.reference.integers import BINARY, UNARY

if TYPE_CHECKING:
    from collections.abc import Mapping

_T = DataType
_VECTORS = (_T.Vec2U32, _T.Vec4U32)
_FLOAT_CASTS = (CastRule.Widen, CastRule.Round)


class Constant(NamedTuple):
    """A value known now: its type and its bits."""

    type: DataType
    bits: int


def constant(expr: e.Expr) -> Constant | None:
    """The value of a literal; vectors have no literals, so `MakeVec` of literals counts as one."""
    match expr:
        case e.LitU32(value=value):
            return Constant(_T.U32, value)
        case e.LitI32(value=value):
            return Constant(_T.I32, value & U32_MAX)
        case e.LitBool(value=value):
            return Constant(_T.Bool, int(value))
        case e.Literal(type=t, bits=bits):
            return Constant(t, bits)
        case e.MakeVec(type=t, lanes=lanes) if t in _VECTORS:
            values = [lane.value for lane in lanes if isinstance(lane, e.LitU32)]
            if len(values) < len(lanes):
                return None
            return Constant(t, sum(value << 32 * i for i, value in enumerate(values)))
        case _:
            return None


def literal(t: DataType, bits: int) -> e.Expr:
    """The expression of a known value."""
    match t:
        case _T.U32:
            return e.LitU32(bits)
        case _T.I32:
            return e.LitI32(bits - (1 << 32) if bits >> 31 else bits)
        case _T.Bool:
            return e.LitBool(bool(bits))
        case _T.Vec2U32 | _T.Vec4U32:
            return e.MakeVec(t, tuple(e.LitU32(bits >> 32 * i & U32_MAX) for i in range(t.lanes)))
        case _:
            return e.Literal(t, bits)


def compute(expr: e.Expr, operands: tuple[Constant, ...]) -> Constant | None:
    """The value of one node over known operands; None for what is not folded."""
    types = tuple(operand.type for operand in operands)
    bits = tuple(operand.bits for operand in operands)
    match expr:
        case e.BinOp(op=op) if op in BINARY:
            t = binary_type(op, *types)
            return Constant(t, BINARY[op](*bits)) if t else None
        case e.UnOp(op=op) if op in UNARY:
            t = unary_type(op, *types)
            return Constant(t, UNARY[op](*bits)) if t else None
        case e.Select():
            return operands[1] if bits[0] else operands[2]
        case e.Cast(target=target):
            rule = CAST_TABLE.get((types[0], target))
            if rule is None or rule in _FLOAT_CASTS:
                return None
            return Constant(target, cast(types[0], target, bits[0]))
        case e.Lane(index=index):
            return Constant(_T.U32, bits[0] >> 32 * index & U32_MAX)
        case e.MakeVec(type=t):
            return Constant(t, sum(lane << 32 * i for i, lane in enumerate(bits)))
        case _:
            return None


def fold(expr: e.Expr) -> e.Expr:
    """The literal that an operation on literals gives; any other expression as it is.

    Bytes cast to Bytes are the word itself. No rule of the table says so, because a rule sees a U32.
    """
    if not expr.children:
        return expr
    if isinstance(expr, e.Cast) and expr.target is _T.Bytes:
        return expr.value
    operands: list[Constant] = []
    for child in expr.children:
        known = constant(child)
        if known is None:
            return expr
        operands.append(known)
    value = compute(expr, tuple(operands))
    return expr if value is None else literal(value.type, value.bits)


def evaluate(root: e.Expr, values: Mapping[str, Constant]) -> Constant:
    """The value of an expression over named constants. Only for what `compute` knows."""
    done: dict[e.Expr, Constant] = {}
    for expr in postorder(root):
        known = values[expr.name] if isinstance(expr, e.Var) else constant(expr)
        if known is None:
            known = compute(expr, tuple(done[child] for child in expr.children))
        assert known is not None, f"{expr!r} has no value known now"
        done[expr] = known
    return done[root]
