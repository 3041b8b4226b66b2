"""A small builder, so that the definition of an op reads as a list of named formulas.

    f = Formula("soft.f32.is_inf", "a", doc="…")
    (a,) = f.params
    magnitude = f("magnitude", a & 0x7FFFFFFF)
    return f.gives(magnitude.eq(0x7F800000))

Every parameter and every intermediate is U32. Each named step is one `Let`, so emitted source keeps
the names; a name used twice is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import OpError
from vyre.ir.expr import Expr, Operand, UnOp, Var, lift, select
from vyre.ir.node import Let
from vyre.ir.op import Op, Param
from vyre.ir.operators import UnaryOp
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.ir.node import Node


class Formula:
    """An op under construction: U32 parameters, and the `Let`s made so far."""

    def __init__(self, op_id: str, *params: str, doc: str) -> None:
        self._id = op_id
        self._doc = doc
        self._body: list[Node] = []
        self._names = set(params)
        self.params = tuple(Var(name) for name in params)

    def __call__(self, name: str, value: Operand) -> Var:
        """Names a step and gives the variable that holds it."""
        if name in self._names:
            raise OpError(f"{self._id} defines {name!r} twice.", fix="give each step a name of its own.")
        self._names.add(name)
        self._body.append(Let(name, lift(value)))
        return Var(name)

    def gives(self, result: Operand) -> Op:
        params = tuple(Param(v.name, DataType.U32) for v in self.params)
        return Op(self._id, params, DataType.U32, lift(result), tuple(self._body), doc=self._doc)


def clz(value: Expr) -> UnOp:
    """The number of leading zeros; 32 for zero."""
    return UnOp(UnaryOp.Clz, value)


def smaller(a: Operand, b: Operand) -> Expr:
    a, b = lift(a), lift(b)
    return select(a < b, a, b)


def larger(a: Operand, b: Operand) -> Expr:
    a, b = lift(a), lift(b)
    return select(a < b, b, a)


def sticky(shifted: Expr, amount: Expr, original: Expr) -> Expr:
    """`shifted = original >> amount` with bit 0 set when a set bit was lost."""
    return shifted | (shifted << amount).ne(original)
