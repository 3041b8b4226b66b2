"""Bytes packed as blocks of LZ4: a workgroup a block, each into room for the worst case, then joined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, Out, Shared, packed_bytes, u8, u32
from vyre.errors import DispatchError, boundary
from vyre.library.decoding.result import host
from vyre.library.messages import GROUP, MOST_BYTES, grid, taken
from vyre.library.reading import byte_at, word_at
from vyre.library.side_by_side import joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

_MOST = 0x7E000000
"""Bytes of a block, as many as LZ4 takes."""


def slot_of(data: In[packed_bytes], place: u32) -> u32:
    """A hash of 13 bits of the five bytes from `place` on."""
    return (word_at(data, place) * 0x9E3779B1 + byte_at(data, place + 4) * 0x85EBCA77) >> 19


def note(seen: Shared[u32], slot: u32, at: u32) -> None:
    """Two places in a word."""
    shift = (slot & 1) << 4
    pair = seen[slot >> 1]
    seen[slot >> 1] = pair ^ ((pair ^ (at << shift)) & (u32(0xFFFF) << shift))


def put_length(out: Out[u8], to: u32, rest: u32) -> None:
    """What a length has beyond its four bits of the token, in `rest // 255 + 1` bytes."""
    for k in range(rest // 255):
        out[to + k] = 255
    out[to + rest // 255] = rest % 255


def put_literals(out: Out[u8], to: u32, data: In[packed_bytes], place: u32, count: u32) -> None:
    for k in range(count):
        out[to + k] = byte_at(data, place + k)


@vyre.kernel(workgroup_size=1)
def _packed(data: In[packed_bytes], bounds: In[u32], room: In[u32], out: Out[u8], sizes: Out[u32]) -> None:
    """Each block from the beginning of its room on, and how long it is.

    `seen` has for each hash where in the block its bytes were last, modulo 2^16. Whatever stands there is a
    guess of how far back they are, and is looked at before it is believed. Where guesses fail, steps grow by
    one with every 64 of them.
    """
    seen = vyre.shared(u32, 4096)  # all that every device has
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if m >= len(bounds) - 1:
        return
    start, size, to = bounds[m], bounds[m + 1] - bounds[m], room[m]
    # A match begins 12 bytes before the end at the latest, and the last 5 bytes are literals.
    last = size - 12 if size > 12 else u32(0)
    at, done, tries = u32(1), u32(0), u32(64)
    while vyre.bounded(at <= last, size):
        slot = slot_of(data, start + at)
        back = (at - (seen[slot >> 1] >> ((slot & 1) << 4))) & 0xFFFF
        note(seen, slot, at)
        if back == 0 or back > at or word_at(data, start + at - back) != word_at(data, start + at):
            at += tries >> 6
            tries += 1
            continue
        tries = 64
        while vyre.bounded(at > done and at > back, size):
            if byte_at(data, start + at - 1) != byte_at(data, start + at - back - 1):
                break
            at -= 1
        length, most = u32(4), last + 7 - at
        while vyre.bounded(length < most, size):
            here = start + at + length
            differs = word_at(data, here) ^ word_at(data, here - back)
            if differs > 0:
                length += vyre.ctz(differs) >> 3
                break
            length += 4
        length = min(length, most)
        literals = at - done
        out[to] = (min(literals, 15) << 4) | min(length - 4, 15)
        to += 1
        if literals >= 15:
            put_length(out, to, literals - 15)
            to += (literals - 15) // 255 + 1
        put_literals(out, to, data, start + done, literals)
        to += literals
        out[to] = back & 255
        out[to + 1] = back >> 8
        to += 2
        if length >= 19:
            put_length(out, to, length - 19)
            to += (length - 19) // 255 + 1
        at += length
        done = at
        note(seen, slot_of(data, start + at - 2), at - 2)
    out[to] = min(size - done, 15) << 4
    to += 1
    if size - done >= 15:
        put_length(out, to, size - done - 15)
        to += (size - done - 15) // 255 + 1
    put_literals(out, to, data, start + done, size - done)
    sizes[m] = to + size - done - room[m]


@boundary
def encode_lz4(
    blocks: Any, *, offsets: Any = None, backend: str | Backend | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """A block of LZ4 for each message, one after another and without their sizes, and their offsets."""
    found = taken(blocks, offsets, backend)
    n = found.count
    if not n:
        return np.zeros(0, np.uint8), np.zeros(1, np.uint32)
    lengths = found.lengths.astype(np.int64)
    room = np.zeros(n + 1, np.int64)
    np.cumsum(lengths + lengths // 255 + 16, out=room[1:])
    _refuse_size(int(lengths.max()), int(room[-1]))
    rooms = room.astype(np.uint32)
    made, sizes = _packed(
        found.data, found.bounds, rooms, -(-int(room[-1]) // 16) * 16, n,
        workgroups=grid(GROUP * n), backend=found.backend,
    )  # fmt: skip
    places = np.zeros(n + 1, np.uint32)
    np.cumsum(host(sizes), out=places[1:])
    words = host(joined(made, rooms[:-1], places, found.backend))
    return words.view(np.uint8)[: places[-1]], places


def _refuse_size(longest: int, worst: int) -> None:
    if longest > _MOST:
        raise DispatchError(
            f"a block of {longest} bytes is more than the {_MOST} of LZ4.", fix="pass it as several blocks."
        )
    if worst > MOST_BYTES:
        raise DispatchError(
            f"the blocks could take {worst} bytes, more than the {MOST_BYTES} of one call.",
            fix="pass fewer blocks in each call.",
        )
