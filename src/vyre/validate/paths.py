"""Paths of nodes, built only when a diagnostic needs one: `entry[2].then[0].value.left`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.ir.expr import BinOp, Call, Expr, MakeVec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.errors import SourceLocation
    from vyre.ir.node import Node


class Body:
    """A list of statements and where it hangs: under the root, or under a statement of `parent`."""

    __slots__ = ("_prefix", "depth", "name", "nodes", "parent", "parent_position")

    def __init__(
        self, nodes: tuple[Node, ...], name: str, parent: Body | None = None, parent_position: int = 0
    ) -> None:
        self.nodes = nodes
        self.name = name
        self.parent = parent
        self.parent_position = parent_position
        self.depth: int = 0 if parent is None else parent.depth + 1
        self._prefix: str | None = None

    def path(self, position: int) -> str:
        """The path of the statement at `position`."""
        chain: list[Body] = []
        body: Body | None = self
        while body is not None and body._prefix is None:
            chain.append(body)
            body = body.parent
        for item in reversed(chain):
            if item.parent is None:
                item._prefix = item.name
            else:
                item._prefix = f"{item.parent._prefix}[{item.parent_position}].{item.name}"
        return f"{self._prefix}[{position}]"


def operand_name(expr: Expr, position: int) -> str:
    """The path component of one operand of `expr`, counted as in `expr.children`."""
    if isinstance(expr, BinOp):
        return "right" if position else "left"
    if isinstance(expr, Call):
        return f"args[{position}]"
    if isinstance(expr, MakeVec):
        return f"lanes[{position}]"
    cls: Any = type(expr)
    names = [name for name in cls.__match_args__ if isinstance(getattr(expr, name), Expr)]
    return names[position]


class ExpressionPaths:
    """Finds the first occurrence of any node under one root; the search is made once, on demand."""

    __slots__ = ("_parents", "_root")

    def __init__(self, root: Expr) -> None:
        self._root = root
        self._parents: dict[Expr, tuple[Expr, int]] | None = None

    def path(self, node: Expr) -> str:
        """The path from the root to `node`, with a leading dot; empty for the root itself."""
        if node is self._root:
            return ""
        if self._parents is None:
            self._parents = self._search()
        parts: list[str] = []
        while node is not self._root:
            parent, position = self._parents[node]
            parts.append(operand_name(parent, position))
            node = parent
        return "." + ".".join(reversed(parts))

    def _search(self) -> dict[Expr, tuple[Expr, int]]:
        parents: dict[Expr, tuple[Expr, int]] = {}
        stack = [self._root]
        while stack:
            expr = stack.pop()
            for position, child in reversed(list(enumerate(expr.children))):
                if child not in parents:
                    parents[child] = (expr, position)
                    stack.append(child)
        return parents


def locate(path: str, locations: Mapping[str, SourceLocation], longest: int) -> SourceLocation | None:
    """The source location of the nearest enclosing node that has one; no key is over `longest`."""
    path = path[: longest + 1]
    while path:
        found = locations.get(path)
        if found is not None:
            return found
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return None
