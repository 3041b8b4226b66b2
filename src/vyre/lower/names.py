"""Unique names: every variable of the program gets a name of its own, so that scopes can be forgotten.

Names stay readable: the first `acc` keeps its name, the next becomes `acc_1`. Inlined names lose
their reserved prefix (`__call3_t` becomes `call3_t`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.blocks import rewrite_blocks
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


def rename_unique(
    entry: tuple[Node, ...], supply: NameSupply, *, outer: dict[str, str] | None = None
) -> tuple[Node, ...]:
    """The same statements with every variable renamed apart; `outer` names what is visible already."""
    outermost = dict(outer or {})

    def statement(node: Node, scope: dict[str, str], _: list[Node]) -> tuple[Node, dict[str, str]]:
        exprs = tuple(_substitute(x, scope) for x in node.exprs)
        match node:
            case Let(name=name):
                scope[name] = supply.fresh(name)
                return Let(scope[name], exprs[0]), scope
            case Assign(name=name):
                return Assign(scope[name], exprs[0]), scope
            case Loop(var=var, body=body):
                inner = {**scope, var: supply.fresh(var)}
                return Loop(inner[var], exprs[0], exprs[1], body), inner
            case _:
                return with_parts(node, exprs, node.bodies), scope

    return rewrite_blocks(entry, statement, outermost, body=lambda scope, _: dict(scope))


def _substitute(expr: Expr, scope: dict[str, str]) -> Expr:
    return transform(expr, lambda e: Var(scope[e.name]) if isinstance(e, Var) else e)
