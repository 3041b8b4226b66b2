"""Short ways to change a program for a fault.

statements(lambda n: [...])             what stands in for each statement
expressions(lambda x: ...)              what stands in for each expression
last(Store, lambda n: [...])            for the last statement of a kind alone
flipped(DataType.F32, value)            a value with its lowest bit turned
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from lab.mutants.rewrite import rewrite
from vyre.ir.environment import Types
from vyre.ir.expr import Cast, Lane, LitU32, MakeVec, UnOp
from vyre.ir.node import Node
from vyre.ir.operators import UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import LANE_TYPES, DataType
from vyre.ir.walk import BODY_NAMES, with_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lab.mutants.backend import Change
    from vyre.ir.expr import Expr

N = TypeVar("N", bound=Node)


def statements(rule: Callable[[Node], Sequence[Node]]) -> Change:
    return lambda program: rewrite(program, node=rule)


def expressions(rule: Callable[[Expr], Expr]) -> Change:
    return lambda program: rewrite(program, expr=rule)


def typed(rule: Callable[[Types, Node], Sequence[Node]]) -> Change:
    """A rule for statements that asks for types."""

    def change(program: Program) -> Program:
        types = Types.of(program.entry, program.buffers)
        return rewrite(program, node=lambda n: rule(types, n))

    return change


def first(kind: type[N], rule: Callable[[Program, N], Sequence[Node]]) -> Change:
    return _one(kind, rule, backwards=False)


def last(kind: type[N], rule: Callable[[Program, N], Sequence[Node]]) -> Change:
    return _one(kind, rule, backwards=True)


def _one(kind: type[N], rule: Callable[[Program, N], Sequence[Node]], *, backwards: bool) -> Change:
    """The rule for one statement: the first or last of a kind in program order, the innermost of several."""

    def change(program: Program) -> Program:
        done = False

        def body(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
            order = reversed(nodes) if backwards else nodes
            found = [(node,) if done else one(node) for node in order]
            return tuple(n for part in (reversed(found) if backwards else found) for n in part)

        def one(node: Node) -> Sequence[Node]:
            nonlocal done
            if type(node) in BODY_NAMES:
                order = reversed(node.bodies) if backwards else node.bodies
                made = [body(inner) for inner in order]
                node = with_parts(node, node.exprs, tuple(reversed(made) if backwards else made))
            if not done and isinstance(node, kind):
                done = True
                return rule(program, node)
            return (node,)

        return Program(program.buffers, program.workgroup_size, body(program.entry))

    return change


def element(program: Program, buffer: str) -> DataType:
    return next(b.element.loaded for b in program.buffers if b.name == buffer)


def flipped(of: DataType, value: Expr) -> Expr:
    """The value with its lowest bit turned; doubles, which have no bits here, as they are."""
    match of:
        case DataType.U32 | DataType.Bytes:
            return value ^ 1
        case DataType.Bool:
            return Cast(DataType.Bool, UnOp(UnaryOp.LogicalNot, value))
        case DataType.F64:
            return value
        case _ if of in LANE_TYPES:
            lanes = [Lane(value, k) for k in range(of.lanes)]
            return MakeVec(of, (lanes[0] ^ 1, *lanes[1:]))
        case _:
            return Cast(of, Cast(DataType.U32, value) ^ LitU32(1))
