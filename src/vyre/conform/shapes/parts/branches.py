"""Branches around the payload: who takes which side of them, and what the sides do.

    branches(state, nodes, inside=False)        the statements inside as many branches as the row asks for
    apply(state, inside=False)                  what they do to the words

Both sides of every branch are taken: by classes where branches diverge, else by workgroups. Beside the
innermost branch stands another that every second class or workgroup takes, so that a dispatch of a few
workgroups has both sides too. `inside` a loop its last turn is the outermost branch, which is not made here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.shapes.parts.state import C, S, W
from vyre.conform.shapes.payload import anchored
from vyre.ir.node import Assign, If

if TYPE_CHECKING:
    from vyre.conform.shapes.parts.state import State
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

_OTHER, _EVEN = 0x5A5A, 0x3C3C


def branches(state: State, nodes: list[Node], *, inside: bool) -> list[Node]:
    sides = _sides(state, inside=inside)
    for level in reversed(range(len(sides))):
        nodes = [If(sides[level][0], nodes, [Assign("s", S ^ (_OTHER + level))])]
        if level == len(sides) - 1:
            odd = C & 1 if _divergent(state) else W & 1
            nodes = [If(odd, [Assign("s", S * 3 + 1)], [Assign("s", S ^ _EVEN)]), *nodes]
    return nodes


def apply(state: State, *, inside: bool) -> None:
    if not state.whole:
        return
    sides = _sides(state, inside=inside)
    words, found = state.classes, state.classes.copy()
    here = np.ones(words.shape, bool)
    for level, (_, leaves) in enumerate(sides):
        if level == len(sides) - 1:
            odd = state.numbers & 1 if _divergent(state) else state.workgroups & 1
            words = np.where(odd, words * np.uint32(3) + np.uint32(1), words ^ np.uint32(_EVEN))
        found = np.where(here & leaves, words ^ np.uint32(_OTHER + level), found)
        here &= ~leaves
    some = here.any(axis=1)
    rows, place = np.unique(words[some], axis=0, return_inverse=True)
    found[some] = np.where(here[some], anchored(state.payload, rows)[place.reshape(-1)], found[some])
    state.classes = found


def _divergent(state: State) -> bool:
    return state.row["branches"] == "divergent"


def _sides(state: State, *, inside: bool) -> list[tuple[Expr, Any]]:
    """The condition of each branch, the outermost first, and who takes its other side."""
    found: list[tuple[Expr, Any]] = []
    levels = state.number("branch nesting") - inside
    for level in range(levels):
        number = level if inside else level - 1
        if _divergent(state) and number >= 0:
            found.append((C.ne(number), state.numbers == number))
        else:
            apart = state.apart(level, levels)
            found.append((W.ne(apart), state.workgroups == apart))
    return found
