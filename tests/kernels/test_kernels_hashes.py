"""SHA-256 with a private schedule, and xxHash32 over messages of any length."""

from __future__ import annotations

import hashlib
import math
from typing import Literal

import numpy as np
import pytest

import vyre
from vyre import In, Out, u32

PRIMES = [n for n in range(2, 312) if all(n % d for d in range(2, n))][:64]


def _root(number: int, degree: int) -> int:
    """The first 32 bits of the fraction of a root, in whole numbers."""
    if degree == 2:
        return math.isqrt(number << 64) & 0xFFFFFFFF
    low, high = 0, 1 << 40
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**3 <= number << 96 else (low, middle)
    return low & 0xFFFFFFFF


ROUND = tuple(_root(p, 3) for p in PRIMES)
START = tuple(_root(p, 2) for p in PRIMES[:8])


def turned(x: u32, n: u32) -> u32:
    return (x >> n) | (x << (32 - n))


@vyre.kernel
def sha256(blocks: In[u32, Literal["n", "b", 16]], out: Out[u32, Literal["n", 8]]) -> None:
    schedule = vyre.private(u32, 64)
    state = vyre.private(u32, 8)
    v = vyre.private(u32, 8)
    i = vyre.invocation_id(0)
    if i >= out.shape[0]:
        return
    for k in range(8):
        state[k] = START[k]
    for block in range(blocks.shape[1]):
        for t in range(16):
            schedule[t] = blocks[i, block, t]
        for t in range(16, 64):
            late, early = schedule[t - 2], schedule[t - 15]
            s0 = turned(early, u32(7)) ^ turned(early, u32(18)) ^ (early >> 3)
            s1 = turned(late, u32(17)) ^ turned(late, u32(19)) ^ (late >> 10)
            schedule[t] = schedule[t - 16] + s0 + schedule[t - 7] + s1
        for k in range(8):
            v[k] = state[k]
        for t in range(64):
            a, e = v[0], v[4]
            s1 = turned(e, u32(6)) ^ turned(e, u32(11)) ^ turned(e, u32(25))
            first = v[7] + s1 + ((e & v[5]) ^ (~e & v[6])) + ROUND[t] + schedule[t]
            s0 = turned(a, u32(2)) ^ turned(a, u32(13)) ^ turned(a, u32(22))
            second = s0 + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]))
            for k in range(7, 0, -1):
                v[k] = v[k - 1]
            v[4] += first
            v[0] = first + second
        for k in range(8):
            state[k] += v[k]
    for k in range(8):
        out[i, k] = state[k]


@pytest.mark.parametrize("length", [0, 55, 56, 130])
def test_sha256(backend: str, length: int) -> None:
    rng = np.random.default_rng(length)
    messages = [rng.bytes(length) for _ in range(3)]
    padding = b"\x80" + bytes(-(length + 9) % 64) + (8 * length).to_bytes(8, "big")
    words = np.stack([np.frombuffer(m + padding, ">u4").astype(np.uint32).reshape(-1, 16) for m in messages])
    found = sha256(words, backend=backend)
    assert [row.astype(">u4").tobytes() for row in found] == [hashlib.sha256(m).digest() for m in messages]


P1, P2, P3, P4, P5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393


def byte_at(words: In[u32], at: u32) -> u32:
    return (words[at // 4] >> (8 * (at % 4))) & 255


def word_at(words: In[u32], at: u32) -> u32:
    found = u32(0)
    for k in range(4):
        found |= byte_at(words, at + k) << (8 * k)
    return found


@vyre.kernel
def xxhash32(words: In[u32], starts: In[u32], out: Out[u32], seed: u32) -> None:
    lanes = vyre.private(u32, 4)
    i = vyre.invocation_id(0)
    if i + 1 >= len(starts):
        return
    at, stop = starts[i], starts[i + 1]
    length = stop - at
    total = seed + P5
    if length >= 16:
        lanes[0] = seed + P1 + P2
        lanes[1] = seed + P2
        lanes[2] = seed
        lanes[3] = seed - P1
        while vyre.bounded(at + 16 <= stop, length):
            for k in range(4):
                mixed = lanes[k] + word_at(words, at + 4 * k) * P2
                lanes[k] = turned(mixed, u32(19)) * P1
            at += 16
        total = (
            turned(lanes[0], u32(31))
            + turned(lanes[1], u32(25))
            + turned(lanes[2], u32(20))
            + turned(lanes[3], u32(14))
        )
    total += length
    while vyre.bounded(at + 4 <= stop, 4):
        total += word_at(words, at) * P3
        total = turned(total, u32(15)) * P4
        at += 4
    for k in range(at, stop):
        total += byte_at(words, u32(k)) * P5
        total = turned(total, u32(21)) * P1
    for shift, factor in ((15, P2), (13, P3), (16, 1)):
        total = (total ^ (total >> shift)) * factor
    out[i] = total


def test_xxhash32(backend: str) -> None:
    messages = [b"", b"a", b"abc", b"Nobody inspects the spammish repetition"]
    expected = [0x02CC5D05, 0x550D7456, 0x32D153FF, 0xE2293B2F]
    joined = b"".join(messages)
    starts = np.cumsum([0, *map(len, messages)]).astype(np.uint32)
    words = np.frombuffer(joined + bytes(-len(joined) % 4 + 4), np.uint32)
    found = xxhash32(words, starts, out=4, seed=0, backend=backend)
    assert [hex(n) for n in found.tolist()] == [hex(n) for n in expected]
