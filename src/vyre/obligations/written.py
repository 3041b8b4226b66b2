"""Which buffers a program writes from end to end, so that what they held before does not matter.

`fully_written` names a buffer only if every element of it is stored, by the invocation whose id along x is
the index, in every run whose grid reaches all of them (at least as many invocations along x as elements, and
some along y and z), and if the program reads no element of it. The host then need not clear it. What cannot
be seen at a glance stays out: a store in a loop, behind another condition, or after a possible return.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.buffers import BufferAccess
from vyre.ir.operators import BinaryOp
from vyre.ir.walk import every_node, expressions

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.ir.program import Program

_PASSED = (n.Let, n.Assign, n.Store, n.Barrier)
"""Statements that everybody comes out of."""


def fully_written(program: Program) -> frozenset[str]:
    """The ReadWrite buffers of a program without calls of ops for which that holds."""
    read = _named(program)
    first = _first_ids(program)
    return frozenset(
        b.name
        for b in program.buffers
        if b.access is BufferAccess.ReadWrite and b.name not in read and _stores(program.entry, b.name, first)
    )


def _named(program: Program) -> set[str]:
    """Whatever an expression names but variables and lengths: the buffers that are read are among it."""
    return {
        value
        for x in expressions(program.entry)
        if not isinstance(x, e.Var | e.BufLen)
        for field in type(x).__match_args__
        if isinstance(value := getattr(x, field), str)
    }


def _first_ids(program: Program) -> frozenset[Expr]:
    """The expressions that are the id along x: itself, and variables that never are anything else."""
    given: Counter[str] = Counter()
    lets: list[n.Let] = []
    for node in every_node(program.entry):
        match node:
            case n.Let(name=name) | n.Assign(name=name) | n.Loop(var=name):
                given[name] += 1
            case _:
                pass
        if isinstance(node, n.Let):
            lets.append(node)
    found: set[Expr] = {e.InvocationId(0)}
    for let in lets:
        if let.value in found and given[let.name] == 1:
            found.add(e.Var(let.name))
    return frozenset(found)


def _stores(body: tuple[Node, ...], buffer: str, first: frozenset[Expr]) -> bool:
    """Whether each invocation that enters `body`, and whose first id is an index, stores there."""
    # Validation bounds the nesting of statements, so recursion is safe here.
    for node in body:
        match node:
            case n.Store(buffer=name, index=index) if name == buffer and index in first:
                return True
            case n.If(condition=condition, then=then, orelse=orelse):
                inside = _inside(condition, buffer, first)
                ways = [then, orelse] if inside is None else [then if inside else orelse]
                if all(_stores(way, buffer, first) for way in ways):
                    return True
                if any(_may_end(way) for way in ways):
                    return False
            case n.Block(body=inner):
                if _stores(inner, buffer, first):
                    return True
                if _may_end(inner):
                    return False
            case n.Loop(body=inner):
                if _may_end(inner):
                    return False
            case _:
                if not isinstance(node, _PASSED):
                    return False
    return False


def _inside(condition: Expr, buffer: str, first: frozenset[Expr]) -> bool | None:
    """Which way those go whose first id is an index of the buffer; None where that is not known."""
    match condition:
        case e.BinOp(op=BinaryOp.Lt, left=x, right=length) | e.BinOp(op=BinaryOp.Gt, left=length, right=x):
            answer = True
        case e.BinOp(op=BinaryOp.Ge, left=x, right=length) | e.BinOp(op=BinaryOp.Le, left=length, right=x):
            answer = False
        case _:
            return None
    return answer if x in first and length is e.BufLen(buffer) else None


def _may_end(body: tuple[Node, ...]) -> bool:
    """Whether somebody may leave in a body: by a `Return`, or by a statement that is not known here."""
    known = (*_PASSED, n.If, n.Loop, n.Block)
    return any(not isinstance(node, known) for node in every_node(body))
