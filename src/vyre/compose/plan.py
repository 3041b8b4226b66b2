"""A body flattened once, so that each copy of it is one straight loop and no walk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.compose.scan import distinct_nodes
from vyre.ir import node as n
from vyre.ir.expr import BinOp, Expr, UnOp, Var
from vyre.ir.walk import postorder, rebuild, with_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Build = Callable[[list[Expr]], Expr]


class InlinePlan:
    """The expressions of a body and a result in one list, operands first, and its statements."""

    __slots__ = ("_body", "_builds", "_closed", "_nodes", "_result", "_variables", "_where")

    def __init__(self, body: Sequence[n.Node], result: Expr) -> None:
        self._body = body
        self._nodes = tuple(distinct_nodes(body))
        self._where: dict[Expr, int] = {}
        self._closed: list[Expr] = []
        self._variables: list[tuple[int, str]] = []
        self._builds: list[tuple[int, Build]] = []
        is_open: set[Expr] = set()
        for root in [*(x for node in self._nodes for x in node.exprs), result]:
            if root not in self._where:
                self._flatten(root, is_open)
        self._result = self._where[result]

    def _flatten(self, root: Expr, is_open: set[Expr]) -> None:
        where = self._where
        for expr in postorder(root):
            if expr in where:
                continue
            position = where[expr] = len(where)
            self._closed.append(expr)
            if isinstance(expr, Var):
                is_open.add(expr)
                self._variables.append((position, expr.name))
            elif any(child in is_open for child in expr.children):
                is_open.add(expr)
                self._builds.append((position, _build(expr, where)))

    def copy(self, arguments: Mapping[str, Expr], names: Mapping[str, str]) -> tuple[list[n.Node], Expr]:
        """The body and result with arguments in place of variables, and all other names renamed."""
        values = self._closed.copy()
        for position, name in self._variables:
            given = arguments.get(name)
            values[position] = Var(names[name]) if given is None else given
        for position, build in self._builds:
            values[position] = build(values)
        copied: dict[n.Node, n.Node] = {}
        for node in self._nodes:
            exprs = tuple(values[self._where[x]] for x in node.exprs)
            bodies = tuple(tuple(copied[child] for child in body) for body in node.bodies)
            copied[node] = _copy_node(node, exprs, bodies, names)
        return [copied[node] for node in self._body], values[self._result]


def _build(expr: Expr, where: Mapping[Expr, int]) -> Build:
    match expr:
        case BinOp(op=op, left=left, right=right):
            i, j = where[left], where[right]
            return lambda values: BinOp(op, values[i], values[j])
        case UnOp(op=op, operand=operand):
            i = where[operand]
            return lambda values: UnOp(op, values[i])
        case _:
            slots = tuple(where[child] for child in expr.children)
            return lambda values: rebuild(expr, tuple(values[slot] for slot in slots))


def _copy_node(
    node: n.Node, exprs: tuple[Expr, ...], bodies: tuple[tuple[n.Node, ...], ...], names: Mapping[str, str]
) -> n.Node:
    match node:
        case n.Let(name=name):
            return n.Let(names[name], exprs[0])
        case n.Assign(name=name):
            return n.Assign(names[name], exprs[0])
        case n.Loop(var=var):
            return n.Loop(names[var], exprs[0], exprs[1], bodies[0])
        case _:
            return with_parts(node, exprs, bodies)
