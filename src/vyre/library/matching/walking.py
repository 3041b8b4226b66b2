"""An automaton walks over symbols, all parts of them at once; and what it marked, gathered in order.

A part maps each state in which it may begin to the one in which it ends. These maps are joined, block by
block, until the state before every part is known; then each part is walked once more, for its marks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, Out, engines, packed_bytes, u32
from vyre.backends.device_buffer import DeviceBuffer
from vyre.engines.collection import cut_for, walkers
from vyre.errors import DispatchError
from vyre.library.messages import grid
from vyre.library.reading import byte_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.library.matching.automata import Walk

PART = 256
"""Symbols that an invocation walks over."""
MOST_TEXT = 1 << 29
"""Bytes of one call: each may begin and end two matches, and places of results are u32."""
_BLOCK = 64
"""Maps that are joined into one."""


@vyre.kernel
def _symbols(data: In[packed_bytes], classes: In[u32], out: Out[u32], size: u32) -> None:
    """The class of each byte, of a newline that is the last one, and of the end."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i > size:
        return
    byte = byte_at(data, i)
    last = i + 1 == size and byte == 10
    out[i] = classes[256] if i == size else classes[257] if last else classes[byte]


@vyre.kernel
def _maps(
    symbols: In[u32], table: In[u32], out: Out[u32], states: u32, width: u32, part_size: u32, backward: u32
) -> None:
    """`out[part * states + state]` is where a part ends that begins in that state."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(out):
        return
    part = i // states
    state = i - part * states
    size = len(symbols)
    for k in range(part * part_size, min(part * part_size + part_size, size)):
        place = size - 1 - k if backward == 1 else u32(k)
        state = table[state * width + symbols[place]] & 0x1FFFFFFF
    out[i] = state


@vyre.kernel
def _joined(maps: In[u32], out: Out[u32], states: u32, block_size: u32) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(out):
        return
    block = i // states
    state = i - block * states
    for k in range(block * block_size, min(block * block_size + block_size, len(maps) // states)):
        state = maps[k * states + state]
    out[i] = state


@vyre.kernel
def _starts(maps: In[u32], before: In[u32], out: Out[u32], states: u32, block_size: u32) -> None:
    """The state before every part, from the one before its block."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(before):
        return
    state = before[i]
    for k in range(i * block_size, min(i * block_size + block_size, len(out))):
        out[k] = state
        state = maps[k * states + state]


@vyre.kernel
def _walked(
    symbols: In[u32],
    table: In[u32],
    starts: In[u32],
    out: Out[u32],
    width: u32,
    part_size: u32,
    backward: u32,
    keep: u32,
) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(starts):
        return
    state = starts[i]
    size = len(symbols)
    for k in range(i * part_size, min(i * part_size + part_size, size)):
        place = size - 1 - k if backward == 1 else u32(k)
        entry = table[state * width + symbols[place]]
        state = entry & 0x1FFFFFFF
        out[place] = entry & keep


@vyre.kernel
def _counted(entries: In[u32], begins: Out[u32], ends: Out[u32], part_size: u32, keep: u32) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(begins):
        return
    first, last = u32(0), u32(0)
    for k in range(i * part_size, min(i * part_size + part_size, len(entries))):
        entry = entries[k] & keep
        first += (entry >> 29 & 1) + (entry >> 30 & 1)
        last += (entry >> 31) + (entry >> 30 & 1)
    begins[i] = first
    ends[i] = last


@vyre.kernel
def _gathered(
    entries: In[u32],
    begins: In[u32],
    ends: In[u32],
    out: Out[u32],
    columns: u32,
    part_size: u32,
    keep: u32,
) -> None:
    """Places where matches begin in column 0, and where they end in the last one."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(begins):
        return
    first, last = begins[i], ends[i]
    for k in range(i * part_size, min(i * part_size + part_size, len(entries))):
        marks = (entries[k] & keep) >> 29
        if marks & 4 != 0:
            out[last * columns + columns - 1] = u32(k)
            last += 1
        if marks & 2 != 0:
            out[first * columns] = u32(k)
            out[last * columns + columns - 1] = u32(k)
            first += 1
            last += 1
        if marks & 1 != 0:
            out[first * columns] = u32(k)
            first += 1


def symbols_of(data: Any, classes: NDArray[np.uint32], backend: str | Backend | None) -> Any:
    """The classes of all symbols of a text, one more than its bytes."""
    size = data.size
    given = data if size else np.zeros(4, np.uint8)
    return _symbols(given, classes, size + 1, size, workgroups=grid(size + 1), backend=backend)


def refuse_long(size: int) -> None:
    """Raises `DispatchError` for a text that one call does not take."""
    if size > MOST_TEXT:
        raise DispatchError(
            f"a text of {size} bytes is longer than the {MOST_TEXT} that one call takes.",
            fix="pass it in parts that end where no match goes on.",
        )


def one_walks(states: int, backend: str | Backend | None) -> bool:
    """Whether a processor has so few threads for so many states that one of them walks over all."""
    return cut_for(backend, None, None) is not None and walkers(backend) <= states + 1


def walked(
    walk: Walk, symbols: Any, backend: str | Backend | None, *, backward: bool = False, keep: int = 0xFFFFFFFF
) -> Any:
    """For each symbol the entry of the table that it met, as far as `keep` has it."""
    states, way = walk.states, int(backward)
    size = len(symbols) if one_walks(states, backend) else PART
    parts = -(-len(symbols) // size)
    levels = [
        _maps(
            symbols, walk.table, parts * states, states, walk.width, size, way,
            workgroups=grid(parts * states), backend=backend,
        )
    ] if parts > 1 else []  # fmt: skip
    counts = [parts]
    while counts[-1] > _BLOCK:
        counts.append(-(-counts[-1] // _BLOCK))
        room = counts[-1] * states
        levels.append(_joined(levels[-1], room, states, _BLOCK, workgroups=grid(room), backend=backend))
    starts: Any = np.zeros(1, np.uint32)
    for maps, count in zip(reversed(levels), reversed(counts), strict=False):
        blocks = grid(-(-count // _BLOCK))
        starts = _starts(maps, starts, count, states, _BLOCK, workgroups=blocks, backend=backend)
    return _walked(
        symbols, walk.table, starts, len(symbols), walk.width, size, way, keep,
        workgroups=grid(parts), backend=backend,
    )  # fmt: skip


def gathered(
    entries: Any, columns: int, backend: str | Backend | None, *, keep: int = 0xFFFFFFFF
) -> NDArray[np.uint32]:
    """The marked places in order: rows of where a match begins and ends, or (one column) where it ends.

    `keep` has the marks that count.
    """
    parts = -(-len(entries) // PART)
    begins, ends = _counted(entries, parts, parts, PART, keep, workgroups=grid(parts), backend=backend)
    begins_at = engines.scan(begins, inclusive=False, backend=backend)
    ends_at = engines.scan(ends, inclusive=False, backend=backend)
    total = int(host(ends_at)[-1]) + int(host(ends)[-1])
    if not total:
        return np.zeros((0, columns), np.uint32)
    made = _gathered(
        entries, begins_at, ends_at, total * columns, columns, PART, keep,
        workgroups=grid(parts), backend=backend,
    )  # fmt: skip
    return host(made).reshape(total, columns)


def host(array: Any) -> NDArray[np.uint32]:
    return array.numpy() if isinstance(array, DeviceBuffer) else array
