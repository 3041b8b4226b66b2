"""Which variables an expression or a statement reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, Var
from vyre.ir.walk import postorder

if TYPE_CHECKING:
    from vyre.ir.node import Node


class Reads:
    """Answers from memory for expressions seen before."""

    def __init__(self) -> None:
        self._known: dict[Expr, frozenset[str]] = {}

    def of(self, root: Expr) -> frozenset[str]:
        found = self._known.get(root)
        if found is None:
            found = frozenset(x.name for x in postorder(root) if isinstance(x, Var))
            self._known[root] = found
        return found

    def of_statement(self, node: Node) -> set[str]:
        """What the statement itself reads, its bodies left out."""
        return {name for expr in node.exprs for name in self.of(expr)}

    def of_tree(self, root: Node) -> set[str]:
        """What the statement and everything in its bodies reads."""
        names: set[str] = set()
        stack = [root]
        while stack:
            node = stack.pop()
            for expr in node.exprs:
                names |= self.of(expr)
            for body in node.bodies:
                stack.extend(body)
        return names
