"""Names of their own for variables: what is declared twice is renamed, everything else keeps its name.

The passes behind this one need no scopes: a name means one variable in the whole program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.blocks import rewrite_blocks
from vyre.ir.expr import Expr, Var
from vyre.ir.limits import MAX_NAME_LENGTH
from vyre.ir.node import Assign, Let, Loop, Node
from vyre.ir.walk import every_node, transform, with_parts

if TYPE_CHECKING:
    from collections.abc import Iterable


_STEM_LENGTH = MAX_NAME_LENGTH - 10


def declared_names(entry: Iterable[Node]) -> list[str]:
    """The name of every declaration, in program order, as often as it is declared."""
    names: list[str] = []
    for node in every_node(entry):
        if isinstance(node, Let):
            names.append(node.name)
        elif isinstance(node, Loop):
            names.append(node.var)
    return names


def unique_names(entry: tuple[Node, ...]) -> tuple[Node, ...]:
    """The same statements; two declarations never share a name afterwards."""
    names = declared_names(entry)
    if len(set(names)) == len(names):
        return entry
    return rewrite_blocks(entry, _Renaming(set(names)).enter, None)


class _Renaming:
    """A statement-by-statement renaming; V008 forbids shadowing, so a name has one live meaning."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._seen: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._current: dict[str, str] = {}

    def enter(self, node: Node, _: None, __: list[Node]) -> tuple[Node, None]:
        exprs = tuple(self._renamed(expr) for expr in node.exprs)
        match node:
            case Let(name=name):
                return Let(self._declare(name), exprs[0]), None
            case Assign(name=name):
                return Assign(self._current.get(name, name), exprs[0]), None
            case Loop(var=var, body=body):
                return Loop(self._declare(var), exprs[0], exprs[1], body), None
            case _:
                return with_parts(node, exprs, node.bodies), None

    def _declare(self, name: str) -> str:
        new, number = name, self._numbers.get(name, 0)
        while new in self._seen or (new != name and new in self._taken):
            number += 1
            new = f"{name[:_STEM_LENGTH]}_{number}"
        self._numbers[name] = number
        self._seen.add(new)
        self._current[name] = new
        return new

    def _renamed(self, root: Expr) -> Expr:
        current = self._current
        return transform(root, lambda e: Var(current.get(e.name, e.name)) if isinstance(e, Var) else e)
