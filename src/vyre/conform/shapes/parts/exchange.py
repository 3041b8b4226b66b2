"""Parts in which invocations meet: values through memory across barriers, and atomics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.shapes.constraints import exchange_barriers, loops_around, swaps_in_storage
from vyre.conform.shapes.layout import everywhere
from vyre.conform.shapes.parts.atomics import AtomicPlaces
from vyre.conform.shapes.parts.state import ID, C, G, L, S, State, W, loaded, mixed, store
from vyre.conform.shapes.payload import ODD
from vyre.ir.expr import InvocationId, LitU32, Load, LocalId, Var, WorkgroupId
from vyre.ir.node import Assign, Barrier, Block, Break, If, Let, Loop, Store
from vyre.ir.operators import AtomicOp

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

    Words = NDArray[np.uint32]

_PLACE = 0x27D4_EB2F
_WEIGHTS = (0x0001_0003, 0x0011_0005, 0x0101_0009)


def exchange_parts(state: State) -> None:
    state.spread()
    _fold(state)
    _ids(state)
    _own_slots(state)
    if state.row["atomic memory"] == "workgroup":
        _workgroup_atomics(state)
    if exchange_barriers(state.row):
        _phases(state, exchange_barriers(state.row))
    _own_memory(state)
    if state.row["atomic memory"] == "storage":
        _storage_atomics(state)


def _fold(state: State) -> None:
    """The upper bits of the word into the lower ones: sums and products carry bits upwards only, and out."""
    state.add(Assign("s", S ^ (S >> 16)))
    state.words = state.words ^ state.words >> np.uint32(16)


def _ids(state: State) -> None:
    """The ids of each axis with a weight of its own: linear ones may not tell which axis is which."""
    for kind, axes in zip((InvocationId, LocalId, WorkgroupId), state.layout.ids(), strict=True):
        value = kind(0) * _WEIGHTS[0] ^ kind(1) * _WEIGHTS[1] ^ kind(2) * _WEIGHTS[2]
        found = [axis * weight for axis, weight in zip(axes, _WEIGHTS, strict=True)]
        state.add(state.mix(value, everywhere(np.bitwise_xor, found) if state.whole else 0))


def _own_slots(state: State) -> None:
    """A tile that is too small for all: the first of a workgroup have a place, the others load zero."""
    if 0 < state.tile < state.layout.local_count:
        place = state.slots % state.layout.local_count
        found = np.where(place < state.tile, state.words * np.uint32(2), np.uint32(0))
        state.add(Store("tile", L, S * 2), state.mix(Load("tile", L + 0), found))


def _own_memory(state: State) -> None:
    """Private memory is still that of the invocation after all others were at this place, and what nobody
    stored to in workgroup memory is zero."""
    if state.tile > state.layout.local_count:
        state.add(state.mix(Load("tile", state.gap(L)), 0))
    count = state.number("private bytes") // 4
    if count:
        state.add(state.mix(Load("own", (C + 0) % count), state.each(state.held[0])))


def _grouped(state: State, values: Words) -> Words:
    """By workgroup, in the order of slots."""
    found = np.empty_like(values)
    found[state.slots] = values
    return found.reshape(-1, state.layout.local_count)


def _phases(state: State, count: int) -> None:
    """Exchanges with far places, `count` barriers in all, inside what the row asks for.

    Every second barrier keeps the stores behind it from the loads before it: of the next exchange, or the
    last store of all. Of two that follow each other the second is for what the other end stores between them.
    """
    if swaps_in_storage(state.row):
        state.written("swap", state.given_words(len(state.ids)))
    wrappers = _wrappers(state)
    repeats = 1
    for kind in wrappers:
        repeats *= kind if isinstance(kind, int) else 1
    nodes: list[Node] = []
    done: list[Callable[[State], None]] = []
    behind = False
    for turn in range(count):
        twice = behind
        behind = bool(turn % 2 or (repeats > 1 and turn == count - 1))
        if behind and twice:
            nodes += _across(state)
            done.append(_crossed)
        elif behind:
            nodes.append(Barrier())
            if repeats > 1 and turn == count - 1:
                nodes += _replaced(state)
                done.append(_kept)
        else:
            nodes += _exchange(state)
            done.append(_exchanged)
    before = state.words
    for what in done * repeats if state.whole else []:
        what(state)
    for number, kind in enumerate(reversed(wrappers)):
        match kind:
            case "branch":
                apart = state.apart(number, state.number("branch nesting"))
                nodes = [If(W.ne(apart), nodes, [mixed(C)])]
                _not_exchanged(state, before, apart, repeats)
            case "scope":
                nodes = [Block(nodes)]
            case _:
                nodes = [_repeated(state, f"r{number}", int(kind), nodes)]
    state.add(*nodes)
    if behind:
        _overwritten(state)


def _not_exchanged(state: State, before: Words, apart: int, repeats: int) -> None:
    """One workgroup takes the other side of a branch around the barriers, as often as they are repeated."""
    if not state.whole:
        return
    for _ in range(repeats):
        before = before * np.uint32(ODD) + state.of_class
    state.words = np.where(state.groups == apart, before, state.words)
    if "swap" in state.memory:
        size = state.layout.local_count
        given = np.frombuffer(state.inputs["swap"], np.uint32)
        state.memory["swap"][apart * size : (apart + 1) * size] = given[apart * size : (apart + 1) * size]


def _repeated(state: State, name: str, turns: int, nodes: list[Node]) -> Node:
    """Barriers in a loop; where the row asks for such loops every second workgroup leaves it at one turn, and
    the others end it."""
    if state.row["break"] != "uniform":
        return Loop(name, LitU32(0), LitU32(turns), nodes)
    odd = W & 1
    leave = If(Var(name).eq(odd + turns), (Break(),))
    return Loop(name, LitU32(0), LitU32(turns + 1) - odd, [leave, *nodes])


def _replaced(state: State) -> list[Node]:
    """Behind the last barrier of a turn the place is replaced in the same turn: a device may take turns one
    by one, and the end of each would hide that the barrier is lost."""
    name, own = _slot(state)
    return [Store(name, own, S * 2 ^ _PLACE), mixed(Load(name, own + 0))]


def _kept(state: State) -> None:
    state.take(state.words * np.uint32(2) ^ np.uint32(_PLACE))


def _overwritten(state: State) -> None:
    """What others load before the last barrier is replaced behind it."""
    name, own = _slot(state)
    if state.whole and name in state.memory:
        store(state.memory[name], state.slots, state.words * np.uint32(2) ^ np.uint32(_PLACE))
    found = state.words * np.uint32(2) ^ np.uint32(_PLACE)
    state.add(Store(name, own, S * 2 ^ _PLACE), state.mix(Load(name, own + 0), found))


def _wrappers(state: State) -> list[str | int]:
    """What stands around the barriers: loops first, then branches, then scopes."""
    wanted = state.number("barrier nesting")
    found: list[str | int] = [min(2, state.number("turns"))] * min(wanted, loops_around(state.row))
    found += ["branch"] * min(wanted - len(found), state.number("branch nesting"))
    found += ["scope"] * (wanted - len(found))
    return found


def _slot(state: State) -> tuple[str, Expr]:
    """The memory of exchanges and the place of an invocation in it."""
    return ("tile", state.slot(L)) if state.tile >= state.layout.local_count else ("swap", G)


def _across(state: State) -> list[Node]:
    """A store to the place of the other end, and what that stored here."""
    name, own = _slot(state)
    place = LitU32(state.layout.local_count - 1) - L
    other = state.slot(place) if name == "tile" else W * state.layout.local_count + place
    return [Store(name, other, S * 2), Barrier(), mixed(Load(name, own + 0))]


def _crossed(state: State) -> None:
    other = _grouped(state, state.words)[:, ::-1].reshape(-1)[state.slots]
    state.take(other * np.uint32(2))


def _exchange(state: State) -> list[Node]:
    """Loads from half a workgroup further on and from the other end: invocations that run together are near
    each other."""
    size = state.layout.local_count
    name, own = _slot(state)
    half, across = (L + size // 2) % size, LitU32(size - 1) - L
    first, second = (Load(name, state.slot(x) if name == "tile" else W * size + x) for x in (half, across))
    return [Store(name, own, S), Barrier(), Assign("s", S * _PLACE + (first ^ second * 3))]


def _exchanged(state: State) -> None:
    shared = _grouped(state, state.words)
    if "swap" in state.memory:
        state.memory["swap"] = shared.reshape(-1)
    both = np.roll(shared, -(shared.shape[1] // 2), axis=1) ^ shared[:, ::-1] * np.uint32(3)
    state.words = state.words * np.uint32(_PLACE) + both.reshape(-1)[state.slots]


def _workgroup_atomics(state: State) -> None:
    """The first values are stored from the other end, so that atomics of the first invocations need them."""
    size = state.layout.local_count
    plan = AtomicPlaces(AtomicOp(state.row["atomic"]), state.bins, size)
    state.add(Store("bins", LitU32(size - 1) - L, LitU32(plan.first)), Barrier())
    place: Any = state.slots % size
    group = state.slots // size
    table = np.full(state.layout.groups * state.bins if state.whole else 1, plan.first, np.uint32)
    _atomics(state, plan, "bins", L, place, table, group)
    state.add(Barrier())
    index = group * state.bins + place * 7 % state.bins if state.whole else np.zeros(1, np.int64)
    state.add(state.mix(Load("bins", L * 7 % state.bins), loaded(table, index)))


def _storage_atomics(state: State) -> None:
    total = state.layout.count
    count = max(1, total // state.number("contention"))
    plan = AtomicPlaces(AtomicOp(state.row["atomic"]), count, total)
    state.written("counters", np.full(count, plan.first, np.uint32))
    ids: Any = state.ids.astype(np.int64)
    _atomics(state, plan, "counters", ID, ids, state.memory["counters"], np.zeros_like(ids))


def _atomics(
    state: State, plan: AtomicPlaces, buffer: str, place: Expr, places: Any, table: Words, group: Any
) -> None:
    """One atomic of every invocation, and what it gives: taken into the word or into the tally."""
    state.add(Let("old", plan.atomic(buffer, place)))
    if state.whole:
        plan.apply(table, group, places, state.words)
    if plan.own:
        state.add(state.mix(Var("old"), np.full_like(state.words, plan.first)))
    elif plan.tally:
        state.add(Let("told", plan.told(buffer, place)))
