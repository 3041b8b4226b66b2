"""Numbers that were taken apart and given names: the row and the column of an index, put together again.

    row = i >> 6; column = i & 63; … a[(row << 6) + column] …        is  a[i]

The rules see one expression at a time (`split-add-and`); here the names of such parts are opened for them,
and the result is taken where it is smaller. What a part is taken of must be the same wherever the part is
seen: an id, or a variable that is given its value once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir.operators import BinaryOp
from vyre.ir.walk import transform

if TYPE_CHECKING:
    from vyre.optimize.rewrite import Simplifier

_TAKING = frozenset({BinaryOp.Shr, BinaryOp.BitAnd})
_JOINING = frozenset({BinaryOp.Add, BinaryOp.BitOr, BinaryOp.BitXor})


class NamedParts:
    """The variables that are part of another number, by name."""

    def __init__(self, simplifier: Simplifier, assigned: frozenset[str]) -> None:
        self._simplifier = simplifier
        self._assigned = assigned
        self._values: dict[str, e.Expr] = {}

    def note(self, name: str, value: e.Expr) -> None:
        """Remembers a variable, which was just given its value, where that is a part."""
        match value:
            case e.BinOp(op=op, left=whole, right=e.LitU32()) if op in _TAKING and name not in self._assigned:
                if self._is_steady(whole):
                    self._values[name] = value
            case _:
                pass

    def _is_steady(self, whole: e.Expr) -> bool:
        if isinstance(whole, e.Var):
            return whole.name not in self._assigned
        return isinstance(whole, e.InvocationId | e.LocalId | e.WorkgroupId)

    def joined(self, root: e.Expr) -> e.Expr:
        return transform(root, self._whole) if len(self._values) > 1 else root

    def _whole(self, expr: e.Expr) -> e.Expr:
        if not (isinstance(expr, e.BinOp) and expr.op in _JOINING):
            return expr
        left, right = self._opened(expr.left), self._opened(expr.right)
        if left is expr.left or right is expr.right:
            return expr
        found = self._simplifier.simplify(e.BinOp(expr.op, left, right))
        return found if found.size < expr.size else expr

    def _opened(self, expr: e.Expr) -> e.Expr:
        match expr:
            case e.Var(name=name):
                return self._values.get(name, expr)
            case e.BinOp(op=BinaryOp.Shl, left=e.Var(name=name), right=e.LitU32() as by):
                return e.BinOp(BinaryOp.Shl, self._values[name], by) if name in self._values else expr
            case _:
                return expr
