"""Parts about memory: loads after stores, element types, reductions, further buffers, the last stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.shapes import closed
from vyre.conform.shapes.constraints import buffers_needed, further
from vyre.conform.shapes.features import NONE
from vyre.conform.shapes.history import others
from vyre.conform.shapes.parts.state import ID, C, G, S, State, loaded, mixed, store
from vyre.conform.shapes.payload import ODD
from vyre.ir.buffers import BufferAccess
from vyre.ir.expr import BufLen, Cast, FReduce, LitU32, Load, Select, Var
from vyre.ir.node import Assign, If, Let, Loop, Return, Store
from vyre.ir.operators import ReduceOp, ReduceOrder
from vyre.ir.types import NARROW_TYPES, SIGNED_TYPES, DataType

if TYPE_CHECKING:
    from vyre.ir.expr import Expr

_ELEMENTS = 67
_CORNERS = (
    1, 0x8000_0001, 0x0000_8001, 0x8000_0000, 0x7F80_0000, 0x7FA5_5A5A, 0x7C01_FE00, 0xFF80_FF80,
    0, 0xFFFF_FFFF,
)  # fmt: skip
"""Words that are subnormal, infinite, or a NaN with a payload in one of the float formats."""

_READ, _WRITTEN = (2, 2, 0, 5), (1, 5, 5, 1)
"""Words of further buffers, in turn."""

_SPREAD = 7919
_LAST = 0x85EB_CA77
_TURNS = 3
"""Turns of a loop that carries an element through memory, at most."""

_LEAVING = 2
"""The class of invocations that return early."""


def memory_parts(state: State) -> None:
    _again(state)
    _spread(state)
    _reduction(state)
    _further(state)
    _kept(state)
    kinds = [DataType(kind) for kind in (state.row["element type"], *further(state.row))]
    state.add(Let("e", Select(ID.eq(0), LitU32(_ELEMENTS - 1), (S + ID) % _ELEMENTS)))
    index = np.where(state.ids == 0, _ELEMENTS - 1, (state.words + state.ids) % np.uint32(_ELEMENTS))
    for place, kind in enumerate(kinds):
        _element(state, place, kind, index)
    leaving = _returns(state)
    _last(state, kinds, leaving)


def _again(state: State) -> None:
    """One element is stored and loaded again and again, by turns of a loop too, whose bound is a variable
    that its turns assign to: a loop has the bound that it began with.

    What is stored is twice the word: the word and itself together would lose a bit each time.
    """
    out = state.memory["out"]
    turns = min(_TURNS, state.number("turns"))
    if turns > 1:
        found, stop = Var("h"), Var("t")
        body = [
            Let("h", Load("out", G + 0)),
            mixed(found),
            Store("out", G, S * 2 ^ found * 5),
            Assign("t", Var("n")),
        ]
        state.add(Let("t", LitU32(turns)), Loop("n", LitU32(0), stop, body), mixed(stop))
        for _ in range(turns if state.whole else 0):
            before = loaded(out, state.slots)
            state.take(before)
            store(out, state.slots, state.words * np.uint32(2) ^ before * np.uint32(5))
        state.take(np.uint32(turns - 1))
    for turn in range(state.number("loads after stores")):
        value = state.words * np.uint32(2) ^ np.uint32(turn + 7)
        if state.whole:
            store(out, state.slots, value)
        state.add(Store("out", G, S * 2 ^ (turn + 7)), state.mix(Load("out", G), loaded(out, state.slots)))


def _spread(state: State) -> None:
    """Every invocation reads other elements of what is only read, the first of them the last element, one
    past the end, and how many there are: of an empty buffer nothing else tells."""
    length = np.uint32(len(state.inputs["data"]) // 4)
    state.add(state.mix(Load("data", BufLen("data") + C) + BufLen("data"), length))
    ids = state.ids.astype(np.uint64)
    tables = {**state.inputs, **state.tables}
    for name in ("data", "params", "table"):
        if name in tables:
            table = np.frombuffer(tables[name], np.uint32)
            count = len(table)
            wrapped = (ids * _SPREAD + (count - 1 & 0xFFFF_FFFF)).astype(np.uint32)
            index = wrapped % np.uint32(count) if count else np.zeros_like(wrapped)
            state.add(
                state.mix(
                    Load(name, (ID * _SPREAD + (BufLen(name) - 1)) % BufLen(name)), loaded(table, index)
                )
            )


def _reduction(state: State) -> None:
    """The first three invocations reduce what is left from their own place on, the others nothing."""
    if state.row["reduction"] == NONE:
        return
    order, op = str(state.row["reduction"]).split()
    count = state.number("reduction length")
    values = _reduced_values(state, op, count)
    if state.which:
        values = (values.view(np.uint32) ^ np.uint32(state.which)).view(np.float32)
    state.read("floats", values, DataType.F32)
    start = Select(ID < 3, ID, BufLen("floats"))
    reduce = FReduce(ReduceOrder(order), ReduceOp(op), "floats", start, BufLen("floats"))
    found = np.full(len(state.ids), closed.reduced(order, op, values[:0]), np.uint32)
    for first in range(min(3, len(state.ids))):
        found[first] = closed.reduced(order, op, values[first:])
    state.add(state.mix(Cast(DataType.U32, reduce), found))


def _reduced_values(state: State, op: str, count: int) -> Any:
    """Values whose order shows; of the least numbers, so that what is lost of those shows as well.

    Minima and maxima meet a NaN, and what the second invocation finds is subnormal.
    """
    random = state.random.random(count)
    if op == "Add":
        exponents = np.arange(count, dtype=np.uint32) % 8 << np.uint32(23)
        return ((state.random_words(count) & np.uint32(0x807F_FFFF)) | exponents).view(np.float32)
    if op == "Mul":
        values = (1 + random / 1024).astype(np.float32)
        values[:1] = np.ldexp(values[:1], -127)
        return values
    values = (random * 4 + 1).astype(np.float32)
    values[1:2] = np.nan if count > 2 else 1
    values[-1:] = np.ldexp(values[-1:], -130)
    values[:1] *= -1 if count > 1 else 1
    return values if op == "Min" else -values


def _further(state: State) -> None:
    """Buffers that are there for their number: short and empty, read, written, and left alone.

    Some that follow each other have one size, and the last that is read has that of the elements, which come
    next: of buffers that are exchanged the sizes do not tell.
    """
    more = state.number("buffers") - buffers_needed(state.row)
    for turn in range(more):
        name, count = f"more{turn}", (_READ if turn % 2 == 0 else _WRITTEN)[turn // 2 % 4]
        if turn >= more - 2 and turn % 2 == 0:
            count = _ELEMENTS * max(4, DataType(state.row["element type"]).stride) // 4
        data = state.given_words(count)
        if turn % 2 == 0:
            state.read(name, data)
            index = state.ids % np.uint32(count) if count else np.zeros_like(state.ids)
            found = loaded(data, index) + np.uint32(count)
            state.add(state.mix(Load(name, ID % BufLen(name)) + BufLen(name), found))
        else:
            state.written(name, data)
            if turn % 3:
                state.add(Store(name, ID, S ^ turn))
                if state.whole:
                    store(state.memory[name], state.ids, state.words ^ np.uint32(turn))


def _kept(state: State) -> None:
    """The variables that were bound at the start, last one first."""
    factor, total = 1, np.zeros_like(state.classes)
    for turn in reversed(range(state.variables)):
        state.add(mixed(Var(f"v{turn}")))
        total = total * np.uint32(ODD) + state.kept.pop()
        factor = factor * ODD & 0xFFFF_FFFF
    if state.whole:
        state.words = state.words * np.uint32(factor) + state.each(total)


def _element(state: State, place: int, kind: DataType, index: Any) -> None:
    """The two buffers of an element type; which element goes where depends on the word, but the first place
    has the last element, which may not fill a word."""
    elements, copies = _named(place)
    raw = state.random_words(_ELEMENTS * max(1, kind.stride // 4))
    table: Any = raw.view(np.dtype((np.void, kind.stride)))[:_ELEMENTS]
    raw[: 3 * len(_CORNERS)] = _CORNERS * 3
    raw[:] = others(raw, state.which)
    if kind is DataType.Bool:
        table = (raw & np.uint32(1)).view(np.dtype((np.void, 4)))
    state.bind(elements, BufferAccess.ReadOnly, table, kind)
    total = state.layout.count if state.whole else 1
    before: Any = np.zeros(total * kind.stride, np.uint8).view(np.dtype((np.void, kind.stride)))
    state.written(copies, before, kind)
    if state.whole:
        state.memory[copies] = table[index]
    if kind in NARROW_TYPES:
        _widened(state, elements, kind, table, index)


def _named(place: int) -> tuple[str, str]:
    """The buffers of the element type at this place of the row."""
    return (f"elements{place}", f"copies{place}") if place else ("elements", "copies")


def _widened(state: State, elements: str, kind: DataType, table: Any, index: Any) -> None:
    """What a narrow element is as a word."""
    signed = "i" if kind in SIGNED_TYPES else "u"
    numbers: Any = table.view(f"<{signed}{kind.stride}").astype(np.int64)
    state.add(state.mix(Cast(DataType.U32, Load(elements, Var("e"))), numbers[index]))


def _returns(state: State) -> Any:
    """Some invocations leave before the last stores."""
    leaves, turn = C.eq(_LEAVING), Var("q")
    match state.row["return"]:
        case "late":
            state.add(If(leaves, (Return(),)))
        case "in loop":
            turns = min(2, state.number("turns"))
            leave = If(leaves.and_(turn.eq(turns - 1)), (Return(),))
            state.add(Loop("q", LitU32(0), LitU32(turns), [mixed(turn), leave]))
            for number in range(turns):
                state.take(np.uint32(number))
        case _:
            return np.zeros(len(state.ids), bool)
    return state.of_class == np.uint32(_LEAVING)


def _last(state: State, kinds: list[DataType], leaving: Any) -> None:
    for place, kind in enumerate(kinds):
        elements, copies = _named(place)
        element: Expr = Load(elements, Var("e"))
        if kind in NARROW_TYPES:
            element = Cast(DataType.U32, element) ^ S << kind.bits
        state.add(Store(copies, ID, element))
        if state.whole:
            held = state.memory[copies]
            held[leaving] = np.zeros(1, held.dtype)[0]
    state.add(Store("out", G, S * _LAST + ID))
    if state.whole:
        stay = ~leaving
        values = state.words * np.uint32(_LAST) + state.ids
        store(state.memory["out"], state.slots[stay], values[stay])
