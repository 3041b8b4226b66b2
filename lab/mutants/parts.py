"""Short ways to make mutants out of rules about expressions and statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lab.mutants.backend import Mutated
from lab.mutants.mutant import LOWERING, Mutant
from lab.mutants.rewrite import rewrite
from vyre.ir.expr import Expr
from vyre.ir.node import Node
from vyre.ir.program import Program

if TYPE_CHECKING:
    from lab.mutants.mutant import Make
    from vyre.ir.types import DataType

ExprFault = Callable[[Program, Expr], Expr]
NodeFault = Callable[[Program, Node], Sequence[Node]]


def by_expr(fault: ExprFault) -> Make:
    """A wrong backend in whose programs every expression is what `fault` makes of it."""
    return lambda inner: Mutated(inner, change=lambda p: rewrite(p, expr=partial(fault, p)))


def by_node(fault: NodeFault) -> Make:
    """The same for statements."""
    return lambda inner: Mutated(inner, change=lambda p: rewrite(p, node=partial(fault, p)))


def on_expr(kind: str, where: str, fault: ExprFault, witness: str, **more: Any) -> Mutant:
    return Mutant(kind, where, LOWERING, by_expr(fault), witness, **more)


def on_node(kind: str, where: str, fault: NodeFault, witness: str, **more: Any) -> Mutant:
    return Mutant(kind, where, LOWERING, by_node(fault), witness, **more)


def element(program: Program, buffer: str) -> DataType:
    return next(b.element for b in program.buffers if b.name == buffer)


def shared(program: Program, buffer: str) -> bool:
    return next(b.access.shared for b in program.buffers if b.name == buffer)
