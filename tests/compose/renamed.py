"""Statements up to the names that the inliner makes up: tests say what is computed, not how it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import Assign, Let, Loop, Var
from vyre.ir.walk import transform, with_parts

if TYPE_CHECKING:
    from vyre.ir import Expr, Node


def renamed(*entry: Node) -> tuple[Node, ...]:
    """The statements with every reserved name, one that begins with `__`, numbered as it is first met."""
    numbers: dict[str, str] = {}

    def of(name: str) -> str:
        return numbers.setdefault(name, f"__{len(numbers)}") if name.startswith("__") else name

    def variable(x: Expr) -> Expr:
        return Var(of(x.name)) if isinstance(x, Var) else x

    def statement(node: Node) -> Node:
        exprs = tuple(transform(x, variable) for x in node.exprs)
        made = with_parts(node, exprs, tuple(tuple(map(statement, body)) for body in node.bodies))
        match made:
            case Let(name, value):
                return Let(of(name), value)
            case Assign(name, value):
                return Assign(of(name), value)
            case Loop(var, start, stop, body):
                return Loop(of(var), start, stop, body)
            case _:
                return made

    return tuple(map(statement, entry))
