"""Kernels whose work follows an input: they read one at the invocation's id, and write no output there.

A histogram, a sum and a compaction are such. The default grid covers the outputs, so that a call of one must
say how many workgroups it takes as soon as the input is longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Atomic, InvocationId, Load, LocalId, Var
from vyre.ir.node import Assign, Let, Loop, Store
from vyre.ir.walk import expressions, postorder, statements

if TYPE_CHECKING:
    from collections.abc import Collection

    from vyre.ir.expr import Expr
    from vyre.ir.program import Program


def followed(program: Program, inputs: Collection[str], outputs: Collection[str]) -> tuple[str, ...]:
    """The inputs read at the id along x, where no output is touched at an index made from an id."""
    own, placed = _names(program)
    read: dict[str, None] = {}
    touched = [(n.buffer, n.index) for _, n in statements(program.entry) if isinstance(n, Store)]
    for expr in expressions(program.entry):
        match expr:
            case Load(buffer=buffer, index=index) | Atomic(buffer=buffer, index=index):
                touched.append((buffer, index))
            case _:
                pass
    for buffer, index in touched:
        if buffer in outputs and _is_placed(index, placed):
            return ()
        if buffer in inputs and _is_id(index, own):
            read[buffer] = None
    return tuple(read)


def _names(program: Program) -> tuple[set[str], set[str]]:
    """The variables that are the id along x from first to last, and those that an id has part in."""
    own: set[str] = set()
    placed: set[str] = set()
    changed: set[str] = set()
    before = -1
    while before != len(placed):
        before = len(placed)
        for _, node in statements(program.entry):
            match node:
                case Let(name=name, value=value):
                    if _is_id(value, own):
                        own.add(name)
                    if _is_placed(value, placed):
                        placed.add(name)
                case Assign(name=name, value=value):
                    changed.add(name)
                    if _is_placed(value, placed):
                        placed.add(name)
                case Loop(var=name, start=start, stop=stop):
                    if _is_placed(start, placed) or _is_placed(stop, placed):
                        placed.add(name)
                case _:
                    pass
    return own - changed, placed


def _is_id(expr: Expr, own: Collection[str]) -> bool:
    match expr:
        case InvocationId(axis=0):
            return True
        case Var(name=name):
            return name in own
        case _:
            return False


def _is_placed(root: Expr, placed: Collection[str]) -> bool:
    """Whether an id has part in a number other than by what memory holds there."""
    known: dict[Expr, bool] = {}
    for expr in postorder(root):
        match expr:
            case InvocationId() | LocalId():
                found = True
            case Load() | Atomic():
                found = False
            case Var(name=name):
                found = name in placed
            case _:
                found = any(known[child] for child in expr.children)
        known[expr] = found
    return known[root]
