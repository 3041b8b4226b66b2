"""Programs with every expression or statement of a kind replaced.

    rewrite(program, expr=f)    f sees each expression once, operands rewritten before it
    rewrite(program, node=g)    g gives the statements that stand in for one statement

What `f` and `g` give is not looked at again, so a replacement may contain what it replaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.program import Program
from vyre.ir.walk import transform, with_parts
from vyre.semantics.emitted import IrDomain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

    ExprRule = Callable[[Expr], Expr]
    NodeRule = Callable[[Node], Sequence[Node]]


def rewrite(program: Program, *, expr: ExprRule | None = None, node: NodeRule | None = None) -> Program:
    """The program after the rules; the program itself where they change nothing."""
    done: dict[Node, tuple[Node, ...]] = {}
    stack = list(program.entry)
    while stack:
        found = stack[-1]
        inner = [n for body in found.bodies for n in body if n not in done]
        if found in done:
            stack.pop()
        elif inner:
            stack += inner
        else:
            done[found] = _one(found, done, expr, node)
            stack.pop()
    entry = tuple(n for old in program.entry for n in done[old])
    return program if entry == program.entry else Program(program.buffers, program.workgroup_size, entry)


def _one(
    found: Node, done: dict[Node, tuple[Node, ...]], expr: ExprRule | None, node: NodeRule | None
) -> tuple[Node, ...]:
    exprs = found.exprs if expr is None else tuple(transform(x, expr) for x in found.exprs)
    bodies = tuple(tuple(n for old in body for n in done[old]) for body in found.bodies)
    changed = with_parts(found, exprs, bodies)
    return (changed,) if node is None else tuple(node(changed))


class Expressions(IrDomain):
    """Words as bare expressions, without names: a condition that can stand inside an expression."""

    def bind(self, value: Expr) -> Expr:
        return value
