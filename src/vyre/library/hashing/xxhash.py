"""xxHash of many messages, XXH32 and XXH64: an invocation a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, Out, packed_bytes, u32, u64
from vyre.errors import DispatchError, boundary, whole
from vyre.library.hashing.parts import in_parts
from vyre.library.messages import taken
from vyre.library.reading import byte_at, rotl, word_at

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend

_A32, _B32, _C32, _D32, _E32 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1
_A64, _B64, _C64 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_D64, _E64 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def round32(total: u32, word: u32) -> u32:
    return rotl(total + word * 0x85EBCA77, u32(13)) * 0x9E3779B1


def hash32(data: In[packed_bytes], start: u32, end: u32, seed: u32) -> u32:
    place = start
    length = end - start
    h = seed + _E32
    if length >= 16:
        a, b, c, d = seed + _A32 + _B32, seed + _B32, seed, seed - _A32
        for _block in range(length // 16):
            a = round32(a, word_at(data, place))
            b = round32(b, word_at(data, place + 4))
            c = round32(c, word_at(data, place + 8))
            d = round32(d, word_at(data, place + 12))
            place += 16
        h = rotl(a, u32(1)) + rotl(b, u32(7)) + rotl(c, u32(12)) + rotl(d, u32(18))
    h += length
    for _ in range((length & 15) // 4):
        h = rotl(h + word_at(data, place) * _C32, u32(17)) * _D32
        place += 4
    for k in range(place, end):
        h = rotl(h + byte_at(data, u32(k)) * _E32, u32(11)) * _A32
    h = (h ^ (h >> 15)) * _B32
    h = (h ^ (h >> 13)) * _C32
    return h ^ (h >> 16)


@vyre.kernel
def _xxh32(data: In[packed_bytes], bounds: In[u32], out: Out[u32], seed: u32) -> None:
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if m < len(out):
        out[m] = hash32(data, bounds[m], bounds[m + 1], seed)


@vyre.kernel
def _even_xxh32(data: In[packed_bytes], out: Out[u32], size: u32, seed: u32) -> None:
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if m < len(out):
        out[m] = hash32(data, m * size, m * size + size, seed)


def rotl64(x: u64, amount: u32) -> u64:
    return (x << amount) | (x >> (64 - amount))


def round64(total: u64, word: u64) -> u64:
    return rotl64(total + word * 0xC2B2AE3D27D4EB4F, u32(31)) * 0x9E3779B185EBCA87


def merged64(total: u64, lane: u64) -> u64:
    return (total ^ round64(u64(0), lane)) * 0x9E3779B185EBCA87 + 0x85EBCA77C2B2AE63


def two_words_at(data: In[packed_bytes], place: u32) -> u64:
    return vyre.from_lanes(u64, word_at(data, place), word_at(data, place + 4))


def hash64(data: In[packed_bytes], start: u32, end: u32, seed: u64) -> u64:
    place = start
    length = end - start
    h = seed + _E64
    if length >= 32:
        a, b, c, d = seed + _A64 + _B64, seed + _B64, seed, seed - _A64
        for _block in range(length // 32):
            a = round64(a, two_words_at(data, place))
            b = round64(b, two_words_at(data, place + 8))
            c = round64(c, two_words_at(data, place + 16))
            d = round64(d, two_words_at(data, place + 24))
            place += 32
        h = rotl64(a, u32(1)) + rotl64(b, u32(7)) + rotl64(c, u32(12)) + rotl64(d, u32(18))
        h = merged64(merged64(merged64(merged64(h, a), b), c), d)
    h += u64(length)
    for _ in range((length & 31) // 8):
        h = rotl64(h ^ round64(u64(0), two_words_at(data, place)), u32(27)) * _A64 + _D64
        place += 8
    if length & 4 > 0:
        h = rotl64(h ^ (u64(word_at(data, place)) * _A64), u32(23)) * _B64 + _C64
        place += 4
    for k in range(place, end):
        h = rotl64(h ^ (u64(byte_at(data, u32(k))) * _E64), u32(11)) * _A64
    h = (h ^ (h >> 33)) * _B64
    h = (h ^ (h >> 29)) * _C64
    return h ^ (h >> 32)


@vyre.kernel
def _xxh64(data: In[packed_bytes], bounds: In[u32], out: Out[u64], seed: u64) -> None:
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if m < len(out):
        out[m] = hash64(data, bounds[m], bounds[m + 1], seed)


@vyre.kernel
def _even_xxh64(data: In[packed_bytes], out: Out[u64], size: u32, seed: u64) -> None:
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if m < len(out):
        out[m] = hash64(data, m * size, m * size + size, seed)


def _seed(seed: int, bits: int) -> int:
    seed = whole("seed", seed)
    if not 0 <= seed < 1 << bits:
        raise DispatchError(f"the seed {seed} has more than {bits} bits.", fix=f"pass 0 to 2^{bits} - 1.")
    return seed


@boundary
@in_parts
def xxh32(messages: Any, *, seed: int = 0, offsets: Any = None, backend: str | Backend | None = None) -> Any:
    """A uint32 a message."""
    found = taken(messages, offsets, backend)
    return found.rows(found.each(_xxh32, _even_xxh32, _seed(seed, 32)), np.uint32)


@boundary
@in_parts
def xxh64(messages: Any, *, seed: int = 0, offsets: Any = None, backend: str | Backend | None = None) -> Any:
    """A uint64 a message."""
    found = taken(messages, offsets, backend)
    return found.rows(found.each(_xxh64, _even_xxh64, _seed(seed, 64)), np.uint64)
