"""Parts in which invocations meet: values through memory across barriers, and atomics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.shapes.constraints import exchange_barriers, loops_around, swaps_in_storage
from vyre.conform.shapes.parts.state import ID, C, G, L, S, State, W, loaded
from vyre.ir.expr import Atomic, BinOp, LitU32, Load, Select, Var
from vyre.ir.node import Assign, Barrier, Block, If, Let, Loop, Store
from vyre.ir.operators import AtomicOp, BinaryOp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

    Words = NDArray[np.uint32]

_PLACE = 0x27D4_EB2F
_FIRST = {AtomicOp.And: 0xFFFF_FFFF, AtomicOp.Min: 0xFFFF_FFFF}
_UFUNC: dict[AtomicOp, Any] = {
    AtomicOp.Add: np.add,
    AtomicOp.Or: np.bitwise_or,
    AtomicOp.And: np.bitwise_and,
    AtomicOp.Xor: np.bitwise_xor,
    AtomicOp.Min: np.minimum,
    AtomicOp.Max: np.maximum,
}


def exchange_parts(state: State) -> None:
    state.spread()
    _own_slots(state)
    if state.row["atomic memory"] == "workgroup":
        _workgroup_atomics(state)
    if exchange_barriers(state.row):
        _phases(state, exchange_barriers(state.row))
    if state.row["atomic memory"] == "storage":
        _storage_atomics(state)


def _own_slots(state: State) -> None:
    """A tile that is too small for all: the first of a workgroup have a place, the others load zero."""
    if 0 < state.tile < state.layout.local_count:
        place = state.slots % state.layout.local_count
        found = np.where(place < state.tile, state.words, np.uint32(0))
        state.add(Store("tile", L, S), state.mix(Load("tile", L + 0), found))


def _grouped(state: State, values: Words) -> Words:
    """By workgroup, in the order of slots."""
    found = np.empty_like(values)
    found[state.slots] = values
    return found.reshape(-1, state.layout.local_count)


def _phases(state: State, count: int) -> None:
    """Exchanges with both neighbours, `count` barriers in all, inside what the row asks for."""
    if swaps_in_storage(state.row):
        state.written("swap", state.random_words(len(state.ids)))
    wrappers = _wrappers(state)
    repeats = 1
    for kind in wrappers:
        repeats *= kind if isinstance(kind, int) else 1
    nodes: list[Node] = []
    exchanges = 0
    for turn in range(count):
        final = turn == count - 1
        if turn % 2 or (repeats > 1 and final):
            nodes.append(Barrier())
        else:
            nodes += _exchange(state)
            exchanges += 1
    for _ in range(repeats * exchanges):
        _exchanged(state)
    for number, kind in enumerate(reversed(wrappers)):
        match kind:
            case "branch":
                nodes = [If(0xFFFF_FFF0 - number > W, nodes, [Assign("s", C)])]
            case "scope":
                nodes = [Block(nodes)]
            case _:
                nodes = [Loop(f"r{number}", LitU32(0), LitU32(int(kind)), nodes)]
    state.add(*nodes)


def _wrappers(state: State) -> list[str | int]:
    """What stands around the barriers: loops first, then branches, then scopes."""
    wanted = state.number("barrier nesting")
    found: list[str | int] = [min(2, state.number("turns"))] * min(wanted, loops_around(state.row))
    found += ["branch"] * min(wanted - len(found), state.number("branch nesting"))
    found += ["scope"] * (wanted - len(found))
    return found


def _exchange(state: State) -> list[Node]:
    size = state.layout.local_count
    after, before = (L + 1) % size, (L + (size - 1)) % size
    if state.tile >= size:
        stride = state.tile // size
        name, own, base, step = "tile", L * stride, LitU32(0), stride
    else:
        name, own, base, step = "swap", G, W * size, 1
    first, second = Load(name, base + after * step), Load(name, base + before * step)
    return [Store(name, own, S), Barrier(), Assign("s", S * _PLACE + (first ^ second * 3))]


def _exchanged(state: State) -> None:
    if not state.whole:
        return
    shared = _grouped(state, state.words)
    if "swap" in state.memory:
        state.memory["swap"] = shared.reshape(-1)
    both = np.roll(shared, -1, axis=1) ^ np.roll(shared, 1, axis=1) * np.uint32(3)
    state.words = state.words * np.uint32(_PLACE) + both.reshape(-1)[state.slots]


def _workgroup_atomics(state: State) -> None:
    op, count = AtomicOp(state.row["atomic"]), state.bins
    state.add(Store("bins", L, LitU32(_FIRST.get(op, 0))), Barrier())
    place: Any = state.slots % state.layout.local_count
    value, found = _contribution(state, op, L, place, count, state.layout.local_count)
    group = state.slots // state.layout.local_count
    table = np.full(state.layout.groups * count if state.whole else 1, _FIRST.get(op, 0), np.uint32)
    if state.whole:
        _combine(op, table, group * count + place % count, found)
    state.add(Let("old", _atomic(op, "bins", L % count, value, LitU32(0))), Barrier())
    if count >= state.layout.local_count:
        state.add(_before(state, op))
    index = group * count + place * 7 % count if state.whole else np.zeros(1, np.int64)
    state.add(state.mix(Load("bins", L * 7 % count), loaded(table, index)))


def _storage_atomics(state: State) -> None:
    op = AtomicOp(state.row["atomic"])
    total = state.layout.count
    count = max(1, total // state.number("contention"))
    first = np.full(count, _FIRST.get(op, 0), np.uint32)
    state.written("counters", first)
    ids: Any = state.ids.astype(np.int64)
    value, found = _contribution(state, op, ID, ids, count, total)
    if state.whole:
        _combine(op, state.memory["counters"], ids % count, found)
    state.add(Let("old", _atomic(op, "counters", ID % count, value, LitU32(0))))
    if count >= total:
        state.add(_before(state, op))


def _before(state: State, op: AtomicOp) -> Node:
    """What an atomic gives, which is known where each invocation has a location of its own."""
    return state.mix(Var("old"), np.full_like(state.words, _FIRST.get(op, 0)))


def _atomic(op: AtomicOp, buffer: str, index: Expr, value: Expr, expected: Expr) -> Atomic:
    return Atomic(op, buffer, index, value, expected if op is AtomicOp.CompareExchange else None)


def _contribution(
    state: State, op: AtomicOp, place: Expr, places: Any, count: int, total: int
) -> tuple[Expr, Words]:
    """What an invocation brings; of bits, only as many do that not all of them are set in the end."""
    if op in (AtomicOp.Exchange, AtomicOp.CompareExchange):
        found = (places % count * _PLACE + 1).astype(np.uint64).astype(np.uint32)
        return place % count * _PLACE + 1, found
    if op not in (AtomicOp.Or, AtomicOp.And):
        return S, state.words
    every = max(1, total // count // 8)
    one = Select((place // count % every).eq(0), LitU32(1) << (S & 31), LitU32(0))
    bits = np.uint32(1) << (state.words & np.uint32(31))
    found = np.where(places // count % every == 0, bits, np.uint32(0))
    return (one, found) if op is AtomicOp.Or else (BinOp(BinaryOp.BitXor, one, LitU32(0xFFFF_FFFF)), ~found)


def _combine(op: AtomicOp, table: Words, index: Any, values: Words) -> None:
    if op in _UFUNC:
        _UFUNC[op].at(table, index, values)
    else:
        table[index] = values
