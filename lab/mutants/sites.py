"""A program with one place changed: every single-place mutation of it, in program order.

    for mutation in mutations(program): mutation.name, mutation.program

Operators become others, operands and arms change places, literals move by one, guards, barriers, stores and
returns go, loops turn once more or less, atomics become a load and a store. Whoever tests a kernel asks of
each whether the tests notice. Every mutation given is valid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.mutants.rewrite import rewrite
from vyre.ir.expr import (
    Atomic,
    BinOp,
    Expr,
    InvocationId,
    Lane,
    LitU32,
    Load,
    LocalId,
    MakeVec,
    Select,
    WorkgroupId,
)
from vyre.ir.node import Barrier, If, Loop, Node, Return, Store
from vyre.ir.operators import BinaryOp
from vyre.ir.walk import expressions, statements
from vyre.validate import validate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.ir.program import Program

_OTHER = {
    BinaryOp.Add: BinaryOp.Sub,
    BinaryOp.Sub: BinaryOp.Add,
    BinaryOp.Mul: BinaryOp.Add,
    BinaryOp.Div: BinaryOp.Mod,
    BinaryOp.Mod: BinaryOp.Div,
    BinaryOp.BitAnd: BinaryOp.BitOr,
    BinaryOp.BitOr: BinaryOp.BitXor,
    BinaryOp.BitXor: BinaryOp.BitOr,
    BinaryOp.Shl: BinaryOp.Shr,
    BinaryOp.Shr: BinaryOp.Shl,
    BinaryOp.Eq: BinaryOp.Ne,
    BinaryOp.Ne: BinaryOp.Eq,
    BinaryOp.Lt: BinaryOp.Le,
    BinaryOp.Le: BinaryOp.Lt,
    BinaryOp.Gt: BinaryOp.Ge,
    BinaryOp.Ge: BinaryOp.Gt,
    BinaryOp.And: BinaryOp.Or,
    BinaryOp.Or: BinaryOp.And,
}
_COMMUTES = {
    BinaryOp.Add,
    BinaryOp.Mul,
    BinaryOp.BitAnd,
    BinaryOp.BitOr,
    BinaryOp.BitXor,
    BinaryOp.Eq,
    BinaryOp.Ne,
    BinaryOp.And,
    BinaryOp.Or,
    BinaryOp.MulHi,
}


@dataclass(frozen=True, slots=True)
class Mutation:
    """A program with one place changed, and what was changed there."""

    name: str
    program: Program


def mutations(program: Program) -> Iterator[Mutation]:
    """All of them; equal expressions are one place, as they are one node."""
    for x in expressions(program.entry):
        for name, other in _exprs(x):
            yield from _valid(name, rewrite(program, expr=lambda e, x=x, o=other: o if e is x else e))
    seen: set[Node] = set()
    for path, node in statements(program.entry):
        if node in seen:
            continue
        seen.add(node)
        for name, others in _nodes(node):
            made = rewrite(program, node=lambda n, k=node, o=others: o if n is k else (n,))
            yield from _valid(f"{path}: {name}", made)


def _valid(name: str, program: Program) -> Iterator[Mutation]:
    if not validate(program, allow_reserved=True):
        yield Mutation(name, program)


def _exprs(x: Expr) -> Iterator[tuple[str, Expr]]:
    match x:
        case BinOp(op=op, left=left, right=right):
            if op in _OTHER:
                yield f"{op.value} becomes {_OTHER[op].value}", BinOp(_OTHER[op], left, right)
            if op not in _COMMUTES and left is not right:
                yield f"operands of {op.value} exchanged", BinOp(op, right, left)
        case Select(condition=c, if_true=a, if_false=b) if a is not b:
            yield "arms of a Select exchanged", Select(c, b, a)
        case LitU32(value=value):
            yield f"literal {value} plus 1", LitU32((value + 1) & 0xFFFF_FFFF)
            yield f"literal {value} minus 1", LitU32((value - 1) & 0xFFFF_FFFF)
        case Load(buffer=buffer, index=index):
            yield f"load of {buffer} one further", Load(buffer, index + 1)
        case Lane(value=value, index=index):
            yield f"lane {index ^ 1} for {index}", Lane(value, index ^ 1)
        case MakeVec(type=of, lanes=lanes) if lanes != lanes[::-1]:
            yield "lanes made in reverse", MakeVec(of, lanes[::-1])
        case InvocationId(axis=axis):
            yield "local id for the global one", LocalId(axis)
        case WorkgroupId(axis=axis):
            yield "another axis", WorkgroupId((axis + 1) % 3)
        case Atomic(buffer=buffer, index=index):
            yield f"atomic on {buffer} only reads", Load(buffer, index)
        case _:
            return


def _nodes(n: Node) -> Iterator[tuple[str, tuple[Node, ...]]]:
    match n:
        case Barrier():
            yield "barrier removed", ()
        case Return():
            yield "return removed", ()
        case If(condition=c, then=then, orelse=orelse):
            yield "guard dropped", then
            yield "branches exchanged", (If(c, orelse, then),)
        case Loop(var=var, start=start, stop=stop, body=body):
            yield "one turn more", (Loop(var, start, stop + 1, body),)
            yield "one turn less", (Loop(var, start + 1, stop, body),)
        case Store(buffer=buffer, index=index, value=value):
            yield f"store to {buffer} removed", ()
            yield f"store to {buffer} one further", (Store(buffer, index + 1, value),)
        case _:
            return
