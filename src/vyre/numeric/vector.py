"""Runs an op of U32 formulas on NumPy arrays: one array operation per expression node.

For testing at scale. It takes ops whose bodies are `Let`s over U32 (what `Formula` builds), with branches one
deep that assign; anything else is refused with an `OpError`, never approximated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import OpError
from vyre.ir import expr as e
from vyre.ir.node import Assign, If, Let
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from vyre.ir.node import Node
    from vyre.ir.op import Op

    Words = NDArray[np.uint32]

_U32 = np.uint32


def evaluate(op: Op, *arguments: Words) -> Words:
    """The op applied to equally long arrays, element by element."""
    if len(arguments) != len(op.params):
        raise OpError(
            f"{op.id} takes {len(op.params)} arrays, not {len(arguments)}.",
            fix="pass one array per parameter.",
        )
    if any(p.type is not DataType.U32 for p in op.params) or op.result is None:
        raise _unsupported(op, "its signature")
    values: dict[str, Words] = {
        p.name: np.asarray(a, dtype=_U32) for p, a in zip(op.params, arguments, strict=True)
    }
    shape = np.broadcast_shapes(*(a.shape for a in values.values()))
    done: dict[e.Expr, Words] = {}
    _run(op, op.body, values, done, None)
    return np.broadcast_to(_value(op, op.result, values, done), shape)


def _run(
    op: Op, body: tuple[Node, ...], values: dict[str, Words], done: dict[e.Expr, Words], taken: Words | None
) -> None:
    """Statements in order; those of a branch run for all elements, and assign to the `taken` ones only."""
    for node in body:
        match node:
            case Let(name=name, value=value):
                values[name] = _value(op, value, values, done)
            case Assign(name=name, value=value) if taken is not None:
                values[name] = np.where(taken != 0, _value(op, value, values, done), values[name])
                done.clear()
            case If(condition=condition, then=then, orelse=()) if taken is None:
                chosen = _value(op, condition, values, done)
                if np.any(chosen != 0):
                    _run(op, then, values, done, chosen)
            case _:
                raise _unsupported(op, type(node).__name__)


def _value(op: Op, root: e.Expr, values: Mapping[str, Words], done: dict[e.Expr, Words]) -> Words:
    for expr in postorder(root):
        if expr in done:
            continue
        operands = [done[child] for child in expr.children]
        match expr:
            case e.LitU32(value=value):
                done[expr] = np.asarray(value, dtype=_U32)
            case e.Var(name=name) if name in values:
                done[expr] = values[name]
            case e.BinOp(op=operator) if operator in _BINARY:
                done[expr] = _BINARY[operator](*operands)
            case e.UnOp(op=operator) if operator in _UNARY:
                done[expr] = _UNARY[operator](*operands)
            case e.Select():
                condition, yes, no = operands
                done[expr] = np.where(condition != 0, yes, no)
            case _:
                raise _unsupported(op, repr(expr))
    return done[root]


def _unsupported(op: Op, what: str) -> OpError:
    return OpError(
        f"{op.id} cannot run on arrays because of {what}.",
        fix="use Let, Assign, If, Select and integer operators over U32, and inline calls first.",
    )


def _bit(value: Any) -> Words:
    return np.asarray(value).astype(_U32)


def _divide(operation: Callable[[Words, Words], Words]) -> Callable[[Words, Words], Words]:
    """Division by zero gives 0 (decision 4)."""

    def divide(a: Words, b: Words) -> Words:
        return np.where(b == 0, _U32(0), operation(a, np.where(b == 0, _U32(1), b)))

    return divide


def _wide(a: Words) -> NDArray[np.uint64]:
    return np.asarray(a).astype(np.uint64)


def _wrapped(operation: Callable[[Any, Any], Any]) -> Callable[[Words, Words], Words]:
    """Scalars would warn when they wrap; arrays of one element do not."""

    def wrap(a: Words, b: Words) -> Words:
        return operation(np.atleast_1d(a), b) if np.ndim(a) == np.ndim(b) == 0 else operation(a, b)

    return wrap


_BINARY: Mapping[BinaryOp, Callable[[Words, Words], Words]] = {
    BinaryOp.Add: _wrapped(np.add),
    BinaryOp.Sub: _wrapped(np.subtract),
    BinaryOp.Mul: _wrapped(np.multiply),
    BinaryOp.Div: _divide(np.floor_divide),
    BinaryOp.Mod: _divide(np.remainder),
    BinaryOp.MulHi: lambda a, b: ((_wide(a) * _wide(b)) >> np.uint64(32)).astype(_U32),
    BinaryOp.BitAnd: np.bitwise_and,
    BinaryOp.BitOr: np.bitwise_or,
    BinaryOp.BitXor: np.bitwise_xor,
    BinaryOp.Shl: lambda a, b: np.left_shift(a, b & _U32(31)),
    BinaryOp.Shr: lambda a, b: np.right_shift(a, b & _U32(31)),
    BinaryOp.Eq: lambda a, b: _bit(a == b),
    BinaryOp.Ne: lambda a, b: _bit(a != b),
    BinaryOp.Lt: lambda a, b: _bit(a < b),
    BinaryOp.Gt: lambda a, b: _bit(a > b),
    BinaryOp.Le: lambda a, b: _bit(a <= b),
    BinaryOp.Ge: lambda a, b: _bit(a >= b),
    BinaryOp.And: lambda a, b: _bit((a != 0) & (b != 0)),
    BinaryOp.Or: lambda a, b: _bit((a != 0) | (b != 0)),
}


def _leading_zeros(a: Words) -> Words:
    # A double holds every u32 exactly, so its exponent is the place of the leading bit.
    exponent = (np.asarray(a).astype(np.float64).view(np.uint64) >> np.uint64(52)).astype(_U32)
    return np.where(np.asarray(a) == 0, _U32(32), _U32(1023 + 31) - exponent)


def _trailing_zeros(a: Words) -> Words:
    a = np.asarray(a)
    return np.where(a == 0, _U32(32), _U32(31) - _leading_zeros(a & (~a + _U32(1))))


_UNARY: Mapping[UnaryOp, Callable[[Words], Words]] = {
    UnaryOp.Negate: lambda a: ~np.asarray(a) + _U32(1),
    UnaryOp.BitNot: np.bitwise_not,
    UnaryOp.LogicalNot: lambda a: _bit(a == 0),
    UnaryOp.Clz: _leading_zeros,
    UnaryOp.Ctz: _trailing_zeros,
    UnaryOp.Popcount: lambda a: _bit(np.bitwise_count(a)),
}
