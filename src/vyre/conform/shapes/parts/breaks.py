"""Loops that end early: all invocations of a workgroup at one turn, each at its own, or in another loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.shapes import closed
from vyre.conform.shapes.features import NONE
from vyre.conform.shapes.parts.state import C, S, mixed
from vyre.conform.shapes.payload import ODD
from vyre.ir.expr import LitU32, Var
from vyre.ir.node import Assign, Break, If, Loop

if TYPE_CHECKING:
    from vyre.conform.shapes.parts.state import State
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

_MOST = 4
"""Turns that are taken at most before a loop is left."""

_MASK = 0xFFFF_FFFF


def breaks(state: State, stop: Expr) -> None:
    """A loop with the bounds of the row, left before its last turn; the word tells how many were taken."""
    kind = state.row["break"]
    if kind == NONE:
        return
    start, turns = state.number("loop start"), state.number("turns")
    taken = min(_MOST, turns - 1)
    if kind == "uniform":
        state.add(_left(start, stop, LitU32(taken + start & _MASK), LitU32(0)))
        state.classes = closed.turned(state.classes, start, taken, 0)
    elif kind == "divergent":
        state.add(_left(start, stop, C % (_MOST + 1) + start, LitU32(0)))
        each = np.minimum(state.numbers % (_MOST + 1), turns).astype(np.int64)
        state.classes = closed.turned_by(state.classes, start, each, 0)
    else:
        around = Var("m0")
        inner = _left(start, stop, (C + around) % (_MOST - 1) + start, around)
        state.add(Loop("m0", LitU32(0), LitU32(2), [inner, mixed(around)]))
        for turn in range(2):
            each = np.minimum((state.numbers + np.uint32(turn)) % (_MOST - 1), turns).astype(np.int64)
            state.classes = closed.turned_by(state.classes, start, each, turn)
            state.classes = state.classes * np.uint32(ODD) + np.uint32(turn)


def _left(start: int, stop: Expr, last: Expr, around: Expr) -> Node:
    """A loop that is left at the turn `last`, before this turn does anything."""
    m = Var("m")
    turn = m * closed.STEP + around * closed.OUTER + closed.OFFSET
    return Loop("m", LitU32(start), stop, [If(m.eq(last), [Break()]), Assign("s", S * closed.FACTOR + turn)])
