"""Loops that end early: all invocations of a workgroup at one turn, each at its own, or in another loop.

One class, or one workgroup, stays to the last turn, so that the bounds of such a loop show too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.shapes import closed
from vyre.conform.shapes.features import NONE
from vyre.conform.shapes.parts.state import C, S, W, mixed
from vyre.conform.shapes.payload import ODD
from vyre.ir.expr import LitU32, Select, Var
from vyre.ir.node import Assign, Break, If, Loop

if TYPE_CHECKING:
    from vyre.conform.shapes.parts.state import State
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

_MOST = 4
"""Turns that are taken at most before a loop is left."""

_STAYING = 7
"""The class that stays."""

_MASK = 0xFFFF_FFFF


def breaks(state: State, stop: Expr) -> None:
    """A loop with the bounds of the row, left before its last turn; the word tells how many were taken."""
    kind = state.row["break"]
    if kind == NONE:
        return
    start, turns = state.number("loop start"), state.number("turns")
    if kind == "uniform":
        # Odd workgroups leave one turn later, which may be the end.
        taken = min(_MOST, turns - 1)
        last = Select(W.eq(state.staying), _never(start), (W & 1) + (taken + start & _MASK))
        state.add(_left(start, stop, last, LitU32(0)))
        each = np.where(state.workgroups == state.staying, turns, taken + (state.workgroups & 1))
        state.classes = closed.turned_by(state.classes, start, each, 0)
    elif kind == "divergent":
        state.add(_left(start, stop, _own(C % (_MOST + 1) + start, start), LitU32(0)))
        state.classes = closed.turned_by(state.classes, start, _turns(state, _MOST + 1, 0), 0)
    else:
        around = Var("m0")
        inner = _left(start, stop, _own((C + around) % (_MOST - 1) + start, start), around)
        state.add(Loop("m0", LitU32(0), LitU32(2), [inner, mixed(around)]))
        for turn in range(2):
            each = _turns(state, _MOST - 1, turn)
            state.classes = closed.turned_by(state.classes, start, each, turn)
            state.classes = state.classes * np.uint32(ODD) + np.uint32(turn)


def _own(last: Expr, start: int) -> Expr:
    return Select(C.eq(_STAYING), _never(start), last)


def _never(start: int) -> Expr:
    """The number of no turn."""
    return LitU32(start - 1 & _MASK)


def _turns(state: State, most: int, more: int) -> Any:
    """Those that each class takes."""
    each = np.minimum((state.numbers + np.uint32(more)) % most, state.turns)
    return np.where(state.numbers == _STAYING, state.turns, each)


def _left(start: int, stop: Expr, last: Expr, around: Expr) -> Node:
    """A loop that is left at the turn `last`, before this turn does anything."""
    m = Var("m")
    turn = m * closed.STEP + around * closed.OUTER + closed.OFFSET
    return Loop("m", LitU32(start), stop, [If(m.eq(last), [Break()]), Assign("s", S * closed.FACTOR + turn)])
