"""Parts whose values depend on the class of an invocation alone: first word, expressions, loops, payload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.shapes import closed
from vyre.conform.shapes.features import NONE
from vyre.conform.shapes.parts.branches import apply, branches
from vyre.conform.shapes.parts.breaks import breaks
from vyre.conform.shapes.parts.state import ID, C, L, S, State, W, loaded, mixed
from vyre.conform.shapes.payload import CLASSES, ODD, body
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.expr import BinOp, BufLen, Cast, LitU32, Load, Select, Var
from vyre.ir.node import Assign, Block, If, Let, Loop, Store
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

_FOUND = 0x85EB_CA6B
_MASK = 0xFFFF_FFFF
_STEP = 40_503
_BETWEEN = 0x2C1B_3C6D
"""What each turn but the last adds where the last has the payload."""


def class_parts(state: State) -> None:
    _memory(state)
    state.add(*state.layout.lets(), Let("c", ID % CLASSES), Let("g", W * state.layout.local_count + L))
    _first_word(state)
    _variables(state)
    _expression(state)
    _keep(state)
    _loops(state)
    _kept(state)
    breaks(state, _stop(state))


def _memory(state: State) -> None:
    """The buffers that every case has, and those that the class parts read."""
    data = state.given_words(state.number("buffer length"), few=True)
    if state.which > 1 and state.row["loop bounds"] != "length":
        data = np.append(data, data[-1:] if len(data) else np.uint32(_FOUND))
    state.read("data", data)
    invocations = state.layout.count
    lengths = {"exact": invocations, "long": max(invocations + 5, state.number("buffer length"))}
    length = lengths.get(str(state.row["output"]), invocations - max(1, invocations // 3))
    state.written("out", state.given_words(length if state.whole else 1))
    if state.number("uniform bytes"):
        read = state.row["access"] == "Uniform"
        params = state.given_words(state.number("uniform bytes") // 4, few=read)
        params[0] = state.number("loop start") + state.number("turns") & _MASK
        state.bind("params", BufferAccess.Uniform, params)
    stop = (state.turns + state.number("loop start")).astype(np.uint32)
    if state.row["loop bounds"] == "divergent":
        state.read("bound", stop)
    elif state.row["loop bounds"] == "loaded":
        state.read("bound", np.where(state.numbers == 1, stop, state.random_words(CLASSES)))
    if state.row["access"] == "ReadWrite":
        kept = state.given_words(CLASSES, few=True)
        state.written("state", kept[state.of_class])
        state.kept.append(kept)
    if state.tile > 0:
        atomic = state.row["access"] == "WorkgroupAtomic"
        state.buffers.append(BufferDecl.workgroup("tile", DataType.U32, state.tile, atomic=atomic))
    if state.number("private bytes"):
        state.buffers.append(BufferDecl.private("own", DataType.U32, state.number("private bytes") // 4))
    if state.number("table bytes"):
        data = state.random_words(state.number("table bytes") // 4).tobytes()
        state.buffers.append(BufferDecl.constant("table", DataType.U32, data))
        state.tables["table"] = data
    if state.bins:
        state.buffers.append(BufferDecl.workgroup("bins", DataType.U32, state.bins, atomic=True))


def _first_word(state: State) -> None:
    """From the data, and by way of the access that the row asks for."""
    data = np.frombuffer(state.inputs["data"], np.uint32)
    state.add(Let("s", C * _FOUND + 1))
    state.classes[:] = state.numbers * np.uint32(_FOUND) + np.uint32(1)
    state.mix_classes(Load("data", C), loaded(data, state.numbers))
    last = (len(data) - 1) & _MASK
    state.mix_classes(Load("data", BufLen("data") - 1), loaded(data, np.int64(last)))
    _fresh(state)
    match state.row["access"]:
        case "Uniform":
            params = np.frombuffer(state.inputs["params"], np.uint32)
            index = state.numbers % np.uint32(len(params))
            state.mix_classes(Load("params", C % len(params)), params[index])
        case "ReadWrite":
            state.mix_classes(Load("state", ID), state.kept.pop())
        case "Workgroup" | "WorkgroupAtomic":
            state.add(Store("tile", state.slot(L), C * _FOUND))
            state.mix_classes(Load("tile", state.slot(L + 0)), state.numbers * np.uint32(_FOUND))
        case "Private":
            state.add(Store("own", C % _own(state), C * _FOUND))
            state.mix_classes(Load("own", (C + 0) % _own(state)), state.numbers * np.uint32(_FOUND))
        case "Constant":
            table = np.frombuffer(state.tables["table"], np.uint32)
            index = state.numbers * np.uint32(_STEP) % np.uint32(len(table))
            state.mix_classes(Load("table", C * _STEP % BufLen("table")), table[index])
        case _:
            pass


def _fresh(state: State) -> None:
    """Workgroup memory is zero in every workgroup where an invocation is going to store."""
    lanes = state.layout.local_count
    if state.bins:
        state.mix_classes(Load("bins", LitU32(lanes - 1) - L), np.uint32(0))
    if state.tile > 0:
        state.mix_classes(Load("tile", L if state.tile < lanes else state.slot(L)), np.uint32(0))


def _own(state: State) -> int:
    """Words of private memory."""
    return state.number("private bytes") // 4


def _keep(state: State) -> None:
    """A word goes into private memory, first and last of it included, until the loops are over."""
    if _own(state):
        last = _own(state) - 1
        if last:
            state.add(Store("own", LitU32(last), S ^ _FOUND))
        state.add(Store("own", C % _own(state), S))
        state.held = state.classes.copy(), state.classes ^ np.uint32(_FOUND)


def _kept(state: State) -> None:
    """The word again, the last element, one that nobody stored to, and one past the end, which are zero."""
    count = _own(state)
    if not count:
        return
    own, last = state.held
    state.mix_classes(Load("own", (C + 0) % count), own)
    state.mix_classes(
        Load("own", LitU32(count - 1) + 0), np.where(state.numbers % count == count - 1, own, last)
    )
    state.mix_classes(Load("own", LitU32(count)), np.uint32(0))
    if count > 1:
        # The place of the invocation before, whose word is not here.
        place = (state.numbers + np.uint32(count - 1)) % np.uint32(count)
        state.mix_classes(Load("own", (C + (count - 1)) % count), np.where(place == count - 1, last, 0))


def _variables(state: State) -> None:
    """Variables that are bound here and read at the end of the program."""
    for turn in range(state.variables):
        state.add(Let(f"v{turn}", S * (2 * turn + 3) ^ (turn + 1)))
        state.kept.append(state.classes * np.uint32(2 * turn + 3) ^ np.uint32(turn + 1))


def _expression(state: State) -> None:
    value, found, turn = S * 2 + 1, state.classes * np.uint32(2) + np.uint32(1), 0
    while value.depth < state.number("expression depth") - 1:
        value, found = (
            (value * 5, found * np.uint32(5))
            if turn % 3 == 0
            else (value ^ 0x55, found ^ np.uint32(0x55))
            if turn % 3 == 1
            else (C + value, state.numbers + found)
        )
        turn += 1
    state.mix_classes(value, found)


def _stop(state: State) -> Expr:
    stop = state.number("loop start") + state.number("turns") & _MASK
    match state.row["loop bounds"]:
        case "computed":
            return LitU32(stop) + (W >> 31)
        case "length":
            length = len(state.inputs["data"]) // 4
            return BufLen("data") + (stop - length & _MASK)
        case "uniform":
            return Load("params", LitU32(0))
        case "loaded":
            return Load("bound", LitU32(1))
        case "divergent":
            return Load("bound", C)
        case _:
            return LitU32(stop)


def _loops(state: State) -> None:
    depth, turns = state.number("loop depth"), state.number("turns")
    kind, nesting = str(state.row["float loop"]), state.number("branch nesting")
    inside = bool(depth and turns and nesting)
    first = np.where(state.numbers & 1, closed.FIRST_LEAST, closed.FIRST_NORMAL).astype(np.uint32)
    floats = (first + state.numbers * np.uint32(closed.FIRST_STEP)).view(np.float32)
    if kind != NONE:
        base = Select(C & 1, LitU32(closed.FIRST_LEAST), LitU32(closed.FIRST_NORMAL))
        state.add(Let("a", Cast(DataType.F32, C * closed.FIRST_STEP + base)))
    outer = 2 if depth > 1 and turns > 1 else 1
    if depth:
        _nest(state, depth, outer, kind, payload=inside)
        if state.whole:
            _descend(state, depth, outer)
        for turn in range(outer if state.whole else 0):
            _turned(state, depth, turn, payload=inside)
            if kind != NONE:
                floats = _accumulated(state, floats, kind)
    if not inside:
        nodes = branches(state, [*body(state.payload)], inside=False)
        for _ in range(0 if depth else state.number("scopes")):
            nodes = [Block(nodes)]
        state.add(*nodes)
        apply(state, inside=False)
    if kind != NONE:
        state.mix_classes(Cast(DataType.U32, Var("a")), floats.view(np.uint32))


def _descend(state: State, depth: int, turns: int) -> None:
    """What the loops around the last but one do to the words."""
    for turn in list(range(turns)) * max(0, depth - 2):
        state.classes = state.classes * np.uint32(ODD) + np.uint32(turn)


def _turned(state: State, depth: int, turn: int, *, payload: bool) -> None:
    """What a turn of the loop around the innermost does to the words."""
    start = state.number("loop start")
    if depth > 1:
        state.classes = state.classes * np.uint32(ODD) + np.uint32(turn)
    if not payload:
        state.classes = closed.turned_by(state.classes, start, state.turns, turn)
        return
    without = closed.turned_by(state.classes, start, state.turns, turn, _BETWEEN)
    words = closed.turned_by(state.classes, start, state.turns - 1, turn, _BETWEEN)
    state.classes = closed.by_turns(
        state.turns, lambda count: closed.turned(words, start + count - 1, 1, turn)
    )
    apply(state, inside=True)
    state.classes = np.where(state.workgroups == state.staying, without, state.classes)


def _accumulated(state: State, floats: Any, kind: str) -> Any:
    start, listed = state.number("loop start"), state.number("turns")
    return closed.by_turns(state.turns, lambda n: closed.accumulated(floats, kind, start, n, listed))


def _nest(state: State, depth: int, outer: int, kind: str, *, payload: bool) -> None:
    """Loops inside each other, whose turns go into the word. Each takes as many turns as the outermost in the
    last turn of the one around it, and none before, nor in turns that a wrong backend adds: a nest of any
    depth is as short as one of two loops. In the last turn of the innermost is the payload, but for one
    workgroup."""
    start = state.number("loop start")
    k, around = Var("k"), Var(f"k{depth - 2}") if depth > 1 else LitU32(0)
    turn = k * closed.STEP + around * closed.OUTER + closed.OFFSET
    inner: list[Node] = [Assign("s", S * closed.FACTOR + turn)]
    if kind != NONE:
        inner.append(Assign("a", BinOp(BinaryOp(kind), Var("a"), _operand(state, kind))))
    if payload:
        nodes = branches(state, [*body(state.payload)], inside=True)
        last = Select(W.eq(state.staying), LitU32(start - 1 & _MASK), _last(state))
        inner.append(If(k.eq(last), nodes, [Assign("s", S + _BETWEEN)]))
    nodes = [Loop("k", LitU32(start), _stop(state), inner)]
    for level in range(depth - 2, -1, -1):
        name = f"k{level}"
        stop = (Var(f"k{level - 1}") & 1) * outer if level and outer > 1 else LitU32(outer)
        nodes = [Loop(name, LitU32(0), stop, [mixed(Var(name)), *nodes])]
    for _ in range(state.number("scopes")):
        nodes = [Block(nodes)]
    state.add(*nodes)


def _last(state: State) -> Expr:
    """The last turn of an invocation."""
    if state.row["loop bounds"] == "divergent":
        return Load("bound", C) - 1
    return LitU32(state.number("loop start") + state.number("turns") - 1 & _MASK)


def _operand(state: State, kind: str) -> Expr:
    """What a turn adds to the float of an invocation, or multiplies it by; odd classes have small ones."""
    k, (base, mask, shift) = Var("k"), closed.operand(kind)
    if kind == "FAdd":
        least = (k & closed.LEAST_SUMMANDS) + 1
    else:
        first, last = closed.ends(state.number("turns"))
        least = Select(k.eq(state.number("loop start")), LitU32(first), LitU32(closed.ONE))
        least = Select(k.eq(_last(state)), LitU32(last), least)
    return Cast(DataType.F32, Select(C & 1, least, ((k & mask) << shift) + base))
