"""The expression of an op with its calls written out as by hand; `compose.inline` is not asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import OpError
from vyre.ir.expr import Call, Expr, Var
from vyre.ir.node import Let, Node
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
        raise OpError(f"it calls {op.id}, an instruction, and is no composition.", fix="make it Category C.")
    names = {p.name: _held(x, prefix, before) for p, x in zip(op.params, operands, strict=True)}
    for statement in op.body:
        if not isinstance(statement, Let):
            raise OpError(
                f"it calls {op.id}, whose statements are more than Let.", fix="write it as one expression."
            )
        value = _expanded(statement.value, names, library, prefix, before)
        names[statement.name] = _held(value, prefix, before)
    return _expanded(op.result, names, library, prefix, before)


def _held(value: Expr, prefix: str, before: list[Node]) -> Expr:
    """A value under a name of its own, as a call evaluates its arguments once."""
    if not value.children:
        return value
    before.append(Let(f"{prefix}{len(before)}", value))
    return Var(f"{prefix}{len(before) - 1}")
