"""BLAKE3 of many messages, plain or keyed, over their trees: an invocation a chunk, then one a parent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, Out, Private, packed_bytes, u32, u128, vec4
from vyre.errors import DispatchError, boundary
from vyre.library.hashing.parts import in_parts
from vyre.library.hashing.sha2 import FIRST
from vyre.library.messages import Messages, grid, plain_bytes, taken
from vyre.library.reading import owner, rotr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.backends.protocol import Backend

_CHUNK = 1024
_KEYED = 16
_STATE = tuple(range(8))
_WORDS = tuple(range(16))
_QUADS = tuple(range(4))
_LEVELS = 7
"""Of a tree that a workgroup joins: it has one invocation for two of 128 nodes."""
_IV = tuple(int(word) for word in FIRST)
_COLUMNS_AND_DIAGONALS = (
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
)  # fmt: skip
_PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)


def _mixes() -> Iterator[tuple[int, ...]]:
    """What each of the 56 mixes of a compression takes: four words of the state and two of the block."""
    order = list(range(16))
    for _ in range(7):
        for place, words in enumerate(_COLUMNS_AND_DIAGONALS):
            yield *words, order[2 * place], order[2 * place + 1]
        order = [order[i] for i in _PERMUTATION]


_MIXES = tuple(_mixes())


def mixed(v: Private[u32], w: Private[u32], place: u32, size: u32, flags: u32) -> None:
    """A block `w` into a state whose first half is the chaining value; the next one is v[k] ^ v[k + 8]."""
    v[8], v[9], v[10], v[11] = _IV[0], _IV[1], _IV[2], _IV[3]
    v[12], v[13], v[14], v[15] = place, u32(0), size, flags
    for a, b, c, d, x, y in _MIXES:
        v[a] += v[b] + w[x]
        v[d] = rotr(v[d] ^ v[a], u32(16))
        v[c] += v[d]
        v[b] = rotr(v[b] ^ v[c], u32(12))
        v[a] += v[b] + w[y]
        v[d] = rotr(v[d] ^ v[a], u32(8))
        v[c] += v[d]
        v[b] = rotr(v[b] ^ v[c], u32(7))


@vyre.kernel
def _chunks(
    data: In[packed_bytes], bounds: In[u32], pieces: In[u32], key: In[u32], out: Out[u32], mode: u32
) -> None:
    """The chaining value of each chunk of 1,024 bytes; of a message that is one chunk, its digest."""
    v = vyre.private(u32, 16)
    w = vyre.private(u32, 16)
    p = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if p >= pieces[len(pieces) - 1]:
        return
    m = owner(pieces, p)
    chunk = p - pieces[m]
    start = bounds[m] + chunk * 1024
    length = min(bounds[m + 1] - start, u32(1024))
    shift = (start & 3) * 8
    last = length - 1 if length > 0 else u32(0)
    blocks = last // 64 + 1
    for k in _STATE:
        v[k] = key[k]
    for block in range(blocks):
        size = min(length - block * 64, u32(64))
        word = (start + block * 64) // 4
        low = data[word]
        for k in _WORDS:
            high = data[word + k + 1]
            w[k] = (low >> shift) | ((high << 1) << (31 - shift))
            low = high
        if size < 64:
            for k in _WORDS:
                if 4 * k >= size:
                    w[k] = 0
                elif 4 * k + 4 > size:
                    w[k] &= (u32(1) << (8 * (size & 3))) - 1
        flags = mode | (1 if block == 0 else 0)
        if block + 1 == blocks:
            flags |= 2 if pieces[m + 1] - pieces[m] > 1 else 10
        mixed(v, w, chunk, size, flags)
        for k in _STATE:
            v[k] ^= v[k + 8]
    for k in _STATE:
        out[p * 8 + k] = v[k]


@vyre.kernel
def _parents(values: In[u32], below: In[u32], nodes: In[u32], key: In[u32], out: Out[u32], mode: u32) -> None:
    """One level up: a node joins two of the level below, or is the last of an odd number, as it was."""
    v = vyre.private(u32, 16)
    w = vyre.private(u32, 16)
    p = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if p >= nodes[len(nodes) - 1]:
        return
    m = owner(nodes, p)
    left = below[m] + 2 * (p - nodes[m])
    if left + 1 >= below[m + 1]:
        for k in _STATE:
            out[p * 8 + k] = values[left * 8 + k]
        return
    for k in _STATE:
        v[k] = key[k]
    for k in _WORDS:
        w[k] = values[left * 8 + k]
    mixed(v, w, u32(0), u32(64), mode | (12 if below[m + 1] - below[m] == 2 else 4))
    for k in _STATE:
        out[p * 8 + k] = v[k] ^ v[k + 8]


def begun(v: Private[u32], low: u128, high: u128) -> None:
    for k in _QUADS:
        v[k] = low[k]
        v[k + 4] = high[k]


@vyre.kernel
def _even_chunks(
    data: In[vec4],
    out: Out[vec4],
    low: u128,
    high: u128,
    quads: u32,
    chunks: u32,
    padding: u32,
    mode: u32,
) -> None:
    """The same of messages of `quads` times 16 bytes, `chunks` each; `padding` bytes are not theirs."""
    v = vyre.private(u32, 16)
    w = vyre.private(u32, 16)
    p = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    each = chunks
    m = p // each
    chunk = p - m * each
    start = m * quads + chunk * 64
    length = min(quads - chunk * 64, u32(64))
    begun(v, low, high)
    for block in range((length + 3) // 4):
        place = start + block * 4
        left = length - block * 4
        if left >= 4:
            for q in _QUADS:
                four = data[place + q]
                for k in _QUADS:
                    w[4 * q + k] = four[k]
        else:
            for q in _QUADS:
                four = data[place + q] if q < left else vec4(0, 0, 0, 0)
                for k in _QUADS:
                    w[4 * q + k] = four[k]
        flags = mode | (1 if block == 0 else 0)
        size = 16 * min(left, u32(4))
        if left <= 4:
            flags |= 2 if each > 1 else 10
            size -= padding if chunk + 1 == each else u32(0)
        mixed(v, w, chunk, size, flags)
        for k in _STATE:
            v[k] ^= v[k + 8]
    out[2 * p] = vec4(v[0], v[1], v[2], v[3])
    out[2 * p + 1] = vec4(v[4], v[5], v[6], v[7])


@vyre.kernel
def _even_parents(
    values: In[vec4], out: Out[vec4], low: u128, high: u128, below: u32, above: u32, levels: u32, mode: u32
) -> None:
    """`levels` up at once, in trees of which each message has `below` nodes, then `above`.

    A workgroup takes 128 nodes: its invocations join them two by two, then half as many what was made.
    """
    v = vyre.private(u32, 16)
    w = vyre.private(u32, 16)
    made = vyre.shared(u32, 512)
    own = vyre.local_id(0)
    group = vyre.workgroup_id(0) + vyre.workgroup_id(1) * vyre.num_workgroups(0)
    width = u32(1) << (levels - 1)
    sub = own & (width - 1)
    first = own - sub
    p = (group * 64 + own) // width
    m = p // above
    node = (p - m * above) * width
    have = min(below - 2 * node, 2 * width)
    place = 2 * (m * below + 2 * (node + sub))
    for q in _QUADS:
        four = values[place + q]
        for k in _QUADS:
            w[4 * q + k] = four[k]
    total = below
    for _ in range(levels):
        if 2 * sub + 1 < have:
            begun(v, low, high)
            mixed(v, w, u32(0), u32(64), mode | (12 if total == 2 else 4))
            for k in _STATE:
                v[k] ^= v[k + 8]
        else:
            for k in _STATE:
                v[k] = w[k]
        for k in _STATE:
            made[k * 64 + own] = v[k]
        vyre.barrier()
        for k in _STATE:
            w[k] = made[k * 64 + first + 2 * sub]
            w[k + 8] = made[k * 64 + first + 2 * sub + 1]
        vyre.barrier()
        have = (have + 1) // 2
        total = (total + 1) // 2
    if sub == 0:
        out[2 * p] = vec4(v[0], v[1], v[2], v[3])
        out[2 * p + 1] = vec4(v[4], v[5], v[6], v[7])


def _even(messages: Messages, data: Any, quads: int, key: bytes, mode: int) -> Any:
    halves = int.from_bytes(key[:16], "little"), int.from_bytes(key[16:], "little")
    count, backend = messages.count, messages.backend
    level = -(-quads // (_CHUNK // 16))
    made = _even_chunks(
        data, 2 * count * level, *halves, quads, level, -(messages.size or 0) % 16, mode,
        workgroups=grid(count * level), backend=backend,
    )  # fmt: skip
    while level > 1:
        levels = min((level - 1).bit_length(), _LEVELS)
        above = -(-level >> levels)
        made = _even_parents(
            made, 2 * count * above, *halves, level, above, levels, mode,
            workgroups=grid(count * above << (levels - 1)), backend=backend,
        )  # fmt: skip
        level = above
    return made


@boundary
@in_parts
def blake3(
    messages: Any, *, key: bytes | None = None, offsets: Any = None, backend: str | Backend | None = None
) -> Any:
    """The digests, 32 bytes of uint8 a message; with a `key` of 32 bytes, the keyed hash."""
    if key is not None and len(plain_bytes("a key", key)) != 32:
        raise DispatchError(f"the key has {len(key)} bytes, not 32.", fix="derive one of 32 bytes.")
    found = taken(messages, offsets, backend)
    words = FIRST if key is None else np.frombuffer(key, "<u4").astype(np.uint32)
    mode = 0 if key is None else _KEYED
    wide = found.padded_quads
    if wide is not None:
        made = _even(found, *wide, words.tobytes(), mode)
        return found.rows(made, np.uint8, 32)
    level = found.pieces(_CHUNK)
    made = _chunks(
        found.data, found.bounds, level, words, 8 * int(level[-1]), mode,
        workgroups=grid(int(level[-1])), backend=found.backend,
    )  # fmt: skip
    while int(level[-1]) > found.count:
        above = np.zeros_like(level)
        np.cumsum((np.diff(level) + 1) // 2, out=above[1:], dtype=np.uint32)
        made = _parents(
            made, level, above, words, 8 * int(above[-1]), mode,
            workgroups=grid(int(above[-1])), backend=found.backend,
        )  # fmt: skip
        level = above
    return found.rows(made, np.uint8, 32)
