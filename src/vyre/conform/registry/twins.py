"""The expression of an op with its calls written out as by hand; `compose.inline` is not asked."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from vyre.errors import OpError
from vyre.ir.blocks import rewrite_blocks
from vyre.ir.expr import Call, Expr, Var
from vyre.ir.node import Assign, Break, If, Let, Loop, Node
from vyre.ir.walk import postorder, rebuild

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.compose.registry import Registry
    from vyre.ir.op import Op


def written_out(root: Expr, library: Registry, prefix: str) -> tuple[list[Node], Expr]:
    """Statements to stand in front, and the expression; names of statements begin with the prefix."""
    before: list[Node] = []
    return before, _expanded(root, {}, library, prefix, before)


def _expanded(
    root: Expr, names: Mapping[str, Expr], library: Registry, prefix: str, before: list[Node]
) -> Expr:
    done: dict[Expr, Expr] = {}
    for node in postorder(root):
        operands = tuple(done[child] for child in node.children)
        if isinstance(node, Var):
            done[node] = names.get(node.name, node)
        elif isinstance(node, Call):
            done[node] = _body(library[node.op_id], operands, library, prefix, before)
        else:
            done[node] = rebuild(node, operands)
    return done[root]


def _body(op: Op, operands: tuple[Expr, ...], library: Registry, prefix: str, before: list[Node]) -> Expr:
    if op.result is None:
        raise OpError(
            f"it calls {op.id}, an instruction, so it is not a composition.", fix="make it Category C."
        )
    names = {p.name: _held(x, prefix, before) for p, x in zip(op.params, operands, strict=True)}
    if not all(isinstance(statement, Let) for statement in op.body):
        before += _renamed(op, names, library, f"{prefix}{len(before)}_")
        return _expanded(op.result, names, library, prefix, before)
    for statement in op.body:
        assert isinstance(statement, Let)
        value = _expanded(statement.value, names, library, prefix, before)
        names[statement.name] = _held(value, prefix, before)
    return _expanded(op.result, names, library, prefix, before)


def _renamed(op: Op, names: dict[str, Expr], library: Registry, prefix: str) -> tuple[Node, ...]:
    """The statements of an op that branches or loops, under names that begin with the prefix.

    `names` learns what became of each. A call inside gets statements of its own in front, numbered through.
    """
    numbers = count()

    def value(expr: Expr, out: list[Node]) -> Expr:
        return _expanded(expr, names, library, f"{prefix}{next(numbers)}_", out)

    def named(name: str) -> str:
        names[name] = Var(f"{prefix}{name}")
        return f"{prefix}{name}"

    def enter(node: Node, scope: None, out: list[Node]) -> tuple[Node, None]:
        exprs = tuple(value(expr, out) for expr in node.exprs)
        match node:
            case Let(name=name):
                return Let(named(name), exprs[0]), None
            case Assign(name=name):
                return Assign(f"{prefix}{name}", exprs[0]), None
            case Loop(var=var, body=body):
                return Loop(named(var), exprs[0], exprs[1], body), None
            case If(then=then, orelse=orelse):
                return If(exprs[0], then, orelse), None
            case Break():
                return node, None
            case _:
                raise OpError(
                    f"it calls {op.id}, which is more than a function of its operands.",
                    fix="write it with Let, Assign, If, Loop and Break alone.",
                )

    return rewrite_blocks(op.body, enter, None)


def _held(value: Expr, prefix: str, before: list[Node]) -> Expr:
    """A value under a name of its own, as a call evaluates its arguments once."""
    if not value.children:
        return value
    before.append(Let(f"{prefix}{len(before)}", value))
    return Var(f"{prefix}{len(before) - 1}")
