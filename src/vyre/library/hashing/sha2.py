"""SHA-256 (FIPS 180-4) of many messages and HMAC-SHA-256 (RFC 2104) on top of it: an invocation a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, Out, packed_bytes, u32, vec4
from vyre.errors import DispatchError, boundary
from vyre.library.hashing.parts import in_parts
from vyre.library.messages import GROUP, Messages, grid, is_list, plain_bytes, taken
from vyre.library.reading import rotr, swapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.backends.protocol import Backend


def _root_bits(prime: int, degree: int) -> int:
    """The first 32 bits of the fraction of a root, exactly: floor(p^(1/degree) * 2^32) modulo 2^32."""
    scaled, low, high = prime << (32 * degree), 0, 1 << 40
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= scaled else (low, middle)
    return low & 0xFFFFFFFF


_PRIMES = [p for p in range(2, 312) if all(p % q for q in range(2, p))]
FIRST = np.array([_root_bits(p, 2) for p in _PRIMES[:8]], np.uint32)
_ROUNDS = tuple(_root_bits(p, 3) for p in _PRIMES[:64])
_WORDS = tuple(range(16))
_STATE = tuple(range(8))
_QUADS = tuple(range(4))
_FIRST = tuple(int(word) for word in FIRST)
_BLOCK = 64


@vyre.kernel
def _sha256(
    data: In[packed_bytes],
    bounds: In[u32],
    most: In[u32],
    first: In[u32],
    out: Out[u32],
    each: u32,
    before: u32,
    padded: u32,
) -> None:
    """Each message from the state in `first`, its own where `each` is 8, into which `before` bytes went.

    Where `padded` is 0 the message is whole blocks, and the state after them is left as it is. A workgroup
    goes on for the blocks of its longest message, `most`; barriers keep its invocations in step, so that a
    processor can make vectors of them.
    """
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    group = vyre.workgroup_id(0) + vyre.workgroup_id(1) * vyre.num_workgroups(0)
    w = vyre.private(u32, 16)
    h = vyre.private(u32, 8)
    v = vyre.private(u32, 8)
    start = bounds[m]
    length = bounds[m + 1] - start if m < len(bounds) - 1 else u32(0)
    blocks = (length + 72 * padded) // 64
    shift = (start & 3) * 8
    kept = ~(u32(0xFFFFFFFF) >> (8 * (length & 3)))
    mark = u32(0x80000000) >> (8 * (length & 3))
    for k in _STATE:
        h[k] = first[m * each + k]
    for block in range(most[group]):
        place = block * 64
        word = (start + place) // 4
        low = data[word]
        last = (length - place) // 4 + 1 if place <= length else u32(0)
        for k in _WORDS:
            high = data[word + k + 1]
            full = swapped((low >> shift) | ((high << 1) << (31 - shift)))
            w[k] = full if k + 1 < last else (full & kept) | mark if k + 1 == last else u32(0)
            low = high
        if place + 56 > length:
            w[14] = (before + length) >> 29
            w[15] = (before + length) << 3
        for k in _STATE:
            v[k] = h[k]
        for quarter in range(4):
            vyre.barrier()
            a, b, c, d, e, f, g, i = v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
            for k in _WORDS:
                t = i + (rotr(e, u32(6)) ^ rotr(e, u32(11)) ^ rotr(e, u32(25)))
                t += (g ^ (e & (f ^ g))) + _ROUNDS[quarter * 16 + k] + w[k]
                s = (rotr(a, u32(2)) ^ rotr(a, u32(13)) ^ rotr(a, u32(22))) + ((a & b) | (c & (a | b)))
                i, g, f, e, d, c, b, a = g, f, e, d + t, c, b, a, t + s
            v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7] = a, b, c, d, e, f, g, i
            for k in _WORDS:
                x = w[(k + 1) % 16]
                y = w[(k + 14) % 16]
                x = rotr(x, u32(7)) ^ rotr(x, u32(18)) ^ (x >> 3)
                y = rotr(y, u32(17)) ^ rotr(y, u32(19)) ^ (y >> 10)
                w[k] += x + w[(k + 9) % 16] + y
        vyre.barrier()
        if block < blocks:
            for k in _STATE:
                h[k] += v[k]
    if m < len(bounds) - 1:
        for k in _STATE:
            out[m * 8 + k] = swapped(h[k]) if padded > 0 else h[k]


@vyre.kernel
def _even(data: In[vec4], out: Out[vec4], quads: u32) -> None:
    """The same of messages of `quads` times 16 bytes, padded, and each from the first state."""
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    w = vyre.private(u32, 16)
    h = vyre.private(u32, 8)
    for k in _STATE:
        h[k] = _FIRST[k]
    size = quads
    for block in range(size // 4 + 1):
        place = m * size + block * 4
        if block < size // 4:
            for q in _QUADS:
                four = data[place + q]
                for k in _QUADS:
                    w[4 * q + k] = swapped(four[k])
        else:
            left = size & 3
            for q in _QUADS:
                four = data[place + q] if q < left else vec4(128 if q == left else 0, 0, 0, 0)
                for k in _QUADS:
                    w[4 * q + k] = swapped(four[k])
            w[14] = size >> 25
            w[15] = size << 7
        a, b, c, d, e, f, g, i = h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
        for quarter in _QUADS:
            for k in _WORDS:
                t = i + (rotr(e, u32(6)) ^ rotr(e, u32(11)) ^ rotr(e, u32(25)))
                t += (g ^ (e & (f ^ g))) + _ROUNDS[quarter * 16 + k] + w[k]
                s = (rotr(a, u32(2)) ^ rotr(a, u32(13)) ^ rotr(a, u32(22))) + ((a & b) | (c & (a | b)))
                i, g, f, e, d, c, b, a = g, f, e, d + t, c, b, a, t + s
            if quarter < 3:
                for k in _WORDS:
                    x = w[(k + 1) % 16]
                    y = w[(k + 14) % 16]
                    x = rotr(x, u32(7)) ^ rotr(x, u32(18)) ^ (x >> 3)
                    y = rotr(y, u32(17)) ^ rotr(y, u32(19)) ^ (y >> 10)
                    w[k] += x + w[(k + 9) % 16] + y
        h[0], h[1], h[2], h[3] = h[0] + a, h[1] + b, h[2] + c, h[3] + d
        h[4], h[5], h[6], h[7] = h[4] + e, h[5] + f, h[6] + g, h[7] + i
    out[2 * m] = vec4(swapped(h[0]), swapped(h[1]), swapped(h[2]), swapped(h[3]))
    out[2 * m + 1] = vec4(swapped(h[4]), swapped(h[5]), swapped(h[6]), swapped(h[7]))


def _run(messages: Messages, first: Any, before: int, padded: int) -> Any:
    n = messages.count
    workgroups = grid(n)
    blocks = np.zeros((workgroups[0] * workgroups[1], GROUP), np.uint32)
    blocks.reshape(-1)[:n] = (messages.lengths + np.uint32(72 * padded)) // _BLOCK
    return _sha256(
        messages.data, messages.bounds, blocks.max(axis=1), first, n * 8,
        8 * (first.size > 8), before, padded,
        workgroups=workgroups, backend=messages.backend,
    )  # fmt: skip


@boundary
@in_parts
def sha256(messages: Any, *, offsets: Any = None, backend: str | Backend | None = None) -> Any:
    """The digests, 32 bytes of uint8 a message."""
    found = taken(messages, offsets, backend)
    wide = found.quads
    if wide is None:
        return found.rows(_run(found, FIRST, 0, 1), np.uint8, 32)
    data, quads = wide
    made = _even(data, 2 * found.count, quads, workgroups=grid(found.count), backend=found.backend)
    return found.rows(made, np.uint8, 32)


@boundary
def hmac_sha256(
    key: bytes | Sequence[bytes], messages: Any, *, offsets: Any = None, backend: str | Backend | None = None
) -> Any:
    """The codes, 32 bytes of uint8 a message; `key` is bytes for all messages, or a list of one each."""
    found = taken(messages, offsets, backend)
    given = key if is_list(key) else [key]
    keys = [plain_bytes("a key", k) for k in given]
    if len(keys) not in (1, found.count):
        raise DispatchError(
            f"got {len(keys)} keys for {found.count} messages.", fix="pass one key, or one for each message."
        )
    block = np.zeros((len(keys), _BLOCK), np.uint8)
    long = [k for k in keys if len(k) > _BLOCK]
    short = iter(sha256(long, backend=found.backend)) if long else iter(())
    for row, k in zip(block, keys, strict=True):
        used = bytes(next(short)) if len(k) > _BLOCK else k
        row[: len(used)] = np.frombuffer(used, np.uint8)
    inner, outer = (
        _run(taken(block ^ np.uint8(pad), None, found.backend), FIRST, 0, 0) for pad in (0x36, 0x5C)
    )
    middle = found.rows(_run(found, inner, _BLOCK, 1), np.uint8, 32)
    ends = np.arange(found.count + 1, dtype=np.uint32) * 32
    digests = taken(middle, ends, found.backend)
    return found.rows(_run(digests, outer, _BLOCK, 1), np.uint8, 32)
