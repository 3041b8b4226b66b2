"""What an automaton marks, in order: by one walker on a processor, by all parts of a text at once elsewhere.

A walker needs no memory for what it passes: it writes down a place whether or not it is marked, and goes on
to the next line of its list only where it is. Its tables have a row a symbol, so that only an addition and a
look-up lie between one state and the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vyre
from vyre import In, InOut, packed_bytes, u32
from vyre.library.matching.automata import EMPTY, STATE
from vyre.library.matching.walking import gathered, one_walks, refuse_long, symbols_of, walked
from vyre.library.reading import byte_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.library.matching.automata import Walk

    Numbers = NDArray[np.uint32]
    Where = str | Backend | None

_STRETCH = 1 << 20
"""Symbols of one call: lists are as long as if each were marked."""
_MARKS = ~STATE & 0xFFFFFFFF


def symbol_at(data: In[packed_bytes], classes: In[u32], place: u32, size: u32) -> u32:
    """The class of a byte, of a newline that is the last one, or of the end."""
    byte = byte_at(data, place)
    last = place + 1 == size and byte == 10
    return classes[u32(256) if place == size else u32(257) if last else byte]


@vyre.kernel(workgroup_size=1)
def _listed(
    data: In[packed_bytes],
    classes: In[u32],
    table: In[u32],
    carried: InOut[u32, Literal[4]],
    begins: InOut[u32],
    ends: InOut[u32],
    others: InOut[u32],
    size: u32,
    start: u32,
    stop: u32,
    told: u32,
    apart: u32,
) -> None:
    """Marks from `start` to `stop`; `carried` is the state, and how many begins, ends and others there are.

    `told` says that the words of `data` are the rows of the table. An empty match begins and ends where it
    stands, but where such marks are kept `apart`.
    """
    state, first, last, other = carried[0], u32(0), u32(0), u32(0)
    for k in range(start, stop):
        row = data[k]
        if told == 0:
            row = symbol_at(data, classes, u32(k), size)
        entry = table[row + state]
        state = entry & 0x1FFFFFFF
        middle = entry >> 30 & 1
        both = middle & (1 - apart)
        begins[first] = u32(k)
        first += entry >> 29 & 1
        ends[last] = u32(k)
        last += entry >> 31
        if both == 1:
            begins[first] = u32(k)
            ends[last] = u32(k)
            first += 1
            last += 1
        others[other] = u32(k)
        other += middle & apart
    carried[0] = state
    carried[1] = first
    carried[2] = last
    carried[3] = other


@vyre.kernel(workgroup_size=1)
def _told(
    data: In[packed_bytes], classes: In[u32], table: In[u32], out: InOut[u32], size: u32, width: u32
) -> None:
    """The state at each place, walking from the end to the beginning, as a row of another walk's table."""
    state = u32(0)
    for k in range(size + 1):
        place = size - u32(k)
        state = table[symbol_at(data, classes, place, size) + state] & 0x1FFFFFFF
        out[place] = state * width


def listed(
    walk: Walk,
    classes: Numbers,
    data: Any,
    backend: Where,
    *,
    columns: int = 2,
    after: Walk | None = None,
    apart: bool = False,
) -> tuple[Numbers, Numbers]:
    """What a walk from the left marks over classes of symbols, or over the states of one from the right.

    Rows of where a match begins and ends, or (one column) where it ends, in order; and the places of the
    marks `EMPTY`, where these are kept `apart`.
    """
    refuse_long(data.size)
    if all(one_walks(each.states, backend) for each in (walk, after) if each is not None):
        begins, ends, others = _by_one(walk, classes, data, backend, after, apart)
        return np.stack([begins, ends], axis=1) if columns == 2 else ends.reshape(-1, 1), others
    symbols = symbols_of(data, classes, backend)
    if after is not None:
        symbols = walked(after, symbols, backend, backward=True, keep=STATE)
    entries = walked(walk, symbols, backend, keep=_MARKS)
    if not apart:
        return gathered(entries, columns, backend), np.zeros(0, np.uint32)
    others = gathered(entries, 1, backend, keep=EMPTY).reshape(-1)
    return gathered(entries, columns, backend, keep=_MARKS & ~EMPTY), others


def _by_one(
    walk: Walk, classes: Numbers, data: Any, backend: Where, after: Walk | None, apart: bool
) -> tuple[Numbers, Numbers, Numbers]:
    """The places of begins, of ends and of other marks, by one walker, stretch by stretch."""
    size, given = data.size, data if data.size else np.zeros(4, np.uint8)
    rows = classes * np.uint32((after or walk).states)
    if after is not None:
        told = np.zeros(size + 1, np.uint32)
        _told(given, rows, _turned(after), told, size, walk.states, workgroups=1, backend=backend)
        given = told.view(np.uint8)
    room = 2 * min(size + 1, _STRETCH) + 2
    lists = [np.zeros(room, np.uint32), np.zeros(room, np.uint32), np.zeros(room if apart else 1, np.uint32)]
    found: list[list[Numbers]] = [[], [], []]
    carried, table = np.zeros(4, np.uint32), _turned(walk)
    for start in range(0, size + 1, _STRETCH):
        _listed(
            given, rows, table, carried, *lists, size, start, min(start + _STRETCH, size + 1),
            int(after is not None), int(apart), workgroups=1, backend=backend,
        )  # fmt: skip
        for parts, whole, count in zip(found, lists, carried[1:].tolist(), strict=True):
            parts.append(whole[:count].copy())
    begins, ends, others = (np.concatenate(parts) for parts in found)
    return begins, ends, others


def _turned(walk: Walk) -> Numbers:
    """The table of a walk with a row a symbol."""
    return np.ascontiguousarray(walk.table.reshape(-1, walk.width).T).reshape(-1)
