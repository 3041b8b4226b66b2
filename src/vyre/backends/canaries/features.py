"""What a program has that a canary may watch, found in one walk over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import BinOp
from vyre.ir.walk import expressions, statements
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir import BinaryOp, BufferDecl, Expr, Node, Program


@dataclass(frozen=True, slots=True)
class Features:
    """Kinds of statements, expressions and operators, and the buffers."""

    statements: frozenset[type[Node]]
    expressions: frozenset[type[Expr]]
    operators: frozenset[BinaryOp]
    buffers: tuple[BufferDecl, ...]

    @staticmethod
    def of(program: Program) -> Features:
        found = list(expressions(program.entry))
        return Features(
            frozenset({type(node) for _, node in statements(program.entry)}),
            frozenset({type(x) for x in found}),
            frozenset({x.op for x in found if isinstance(x, BinOp)}),
            program.buffers,
        )


if TYPE_CHECKING:
    Uses = Callable[[Features], bool]


def has_statement(kind: type[Node]) -> Uses:
    return lambda program: kind in program.statements


def has_expression(kind: type[Expr]) -> Uses:
    return lambda program: kind in program.expressions


def has_operator(*ops: BinaryOp) -> Uses:
    return lambda program: not program.operators.isdisjoint(ops)


def has_stores_of(size: int) -> Uses:
    return lambda program: any(b.element.stride == size and b.access.writable for b in program.buffers)


def has_bound_buffer(program: Features) -> bool:
    return any(b.access.bound for b in program.buffers)


def has_workgroup_memory(program: Features) -> bool:
    return any(b.access.shared for b in program.buffers)
