"""Unique names: every variable of the program gets a name of its own, so that scopes can be forgotten.

Names stay readable: the first `acc` keeps its name, the next becomes `acc_1`. Inlined names lose
their reserved prefix (`__call3_t` becomes `call3_t`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, Var
from vyre.ir.node import Assign, Let, Loop, Node
from vyre.ir.walk import transform, with_parts

if TYPE_CHECKING:
    from collections.abc import Iterable


class NameSupply:
    """Hands out names that were not handed out before."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def fresh(self, wanted: str) -> str:
        base = wanted.lstrip("_") or "v"
        name = base
        while name in self._taken:
            self._next[base] = self._next.get(base, 0) + 1
            name = f"{base}_{self._next[base]}"
        self._taken.add(name)
        return name


def rename_unique(entry: tuple[Node, ...], supply: NameSupply) -> tuple[Node, ...]:
    """The same statements with every variable renamed apart. Nesting is bounded by V018."""
    return _Renamer(supply).block(entry, {})


class _Renamer:
    def __init__(self, supply: NameSupply) -> None:
        self._supply = supply

    def block(self, body: tuple[Node, ...], outer: dict[str, str]) -> tuple[Node, ...]:
        scope = dict(outer)
        return tuple(self._node(node, scope) for node in body)

    def _node(self, node: Node, scope: dict[str, str]) -> Node:
        exprs = tuple(_substitute(x, scope) for x in node.exprs)
        match node:
            case Let(name=name):
                scope[name] = self._supply.fresh(name)
                return Let(scope[name], exprs[0])
            case Assign(name=name):
                return Assign(scope[name], exprs[0])
            case Loop(var=var, body=body):
                inner = {**scope, var: self._supply.fresh(var)}
                return Loop(inner[var], exprs[0], exprs[1], self.block(body, inner))
            case _:
                return with_parts(node, exprs, tuple(self.block(b, scope) for b in node.bodies))


def _substitute(expr: Expr, scope: dict[str, str]) -> Expr:
    return transform(expr, lambda e: Var(scope[e.name]) if isinstance(e, Var) else e)
