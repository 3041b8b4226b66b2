"""Short constructors, so that a family of ops reads as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, Lane, Var
from vyre.ir.op import Op, Param
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.ir.node import Node

U32 = DataType.U32
I32 = DataType.I32
U64 = DataType.U64
U128 = DataType.U128

A = Var("a")
B = Var("b")


def unary(op_id: str, result: Expr, doc: str, *, of: DataType = U32, gives: DataType | None = None) -> Op:
    """An op of `a`."""
    return Op(op_id, (Param("a", of),), gives or of, result, doc=doc)


def binary(
    op_id: str,
    result: Expr,
    doc: str,
    *,
    of: DataType = U32,
    gives: DataType | None = None,
    body: Sequence[Node] = (),
) -> Op:
    """An op of `a` and `b`, both of one type."""
    return Op(op_id, (Param("a", of), Param("b", of)), gives or of, result, tuple(body), doc=doc)


def shift(op_id: str, result: Expr, doc: str, *, of: DataType, body: Sequence[Node] = ()) -> Op:
    """An op of `a` and a U32 `amount`."""
    return Op(op_id, (Param("a", of), Param("amount", U32)), of, result, tuple(body), doc=doc)


def lanes(value: Expr, count: int) -> tuple[Lane, ...]:
    return tuple(Lane(value, i) for i in range(count))


def fold(values: Sequence[Expr], join: Callable[[Expr, Expr], Expr]) -> Expr:
    """The values joined from the left."""
    total = values[0]
    for value in values[1:]:
        total = join(total, value)
    return total
