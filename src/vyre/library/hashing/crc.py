"""CRC-32 and CRC-32C of many messages; long ones in parts that are computed apart and joined exactly.

The CRC of a whole is the sum, without carries, of those of its parts, each times x^(8 n) for the n
bytes after it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vyre
from vyre import In, Out, packed_bytes, u32, vec4
from vyre.errors import boundary
from vyre.library.hashing.parts import in_parts
from vyre.library.messages import grid, taken
from vyre.library.reading import byte_at, owner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

CRC32, CRC32C = 0xEDB88320, 0x82F63B78
"""The polynomials with their bits reversed: bit 31 is the constant term, and x^32 is left out."""

_STRAND = 2048
_PART = 2 * _STRAND
_PAST_STRAND = 16 * 2 + 8
"""Where the powers have x^(8 _STRAND)."""


def _times(a: int, b: int, polynomial: int) -> int:
    product = 0
    for bit in range(31, -1, -1):
        product ^= b if a >> bit & 1 else 0
        b = (b >> 1) ^ (polynomial if b & 1 else 0)
    return product


@lru_cache(maxsize=4)
def _tables(polynomial: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """For a byte that is 0 to 7 bytes before the last: its part in the remainder. And x^(8 d 16^k)."""
    remainders = np.zeros((8, 256), np.uint32)
    for byte in range(256):
        remainder = byte
        for ahead in range(8):
            for _ in range(8):
                remainder = (remainder >> 1) ^ (polynomial if remainder & 1 else 0)
            remainders[ahead, byte] = remainder
    powers = np.zeros((8, 16), np.uint32)
    step = 1 << 23  # x^8
    for digit in range(8):
        power = 1 << 31
        for count in range(16):
            powers[digit, count] = power
            power = _times(power, step, polynomial)
        step = power
    return remainders.reshape(-1), powers.reshape(-1)


def times(a: u32, b: u32, polynomial: u32) -> u32:
    """The product of two remainders."""
    product, rest, term = u32(0), a, b
    for _ in range(32):
        product ^= term & (0 - (rest >> 31))
        rest = rest << 1
        term = (term >> 1) ^ (polynomial & (0 - (term & 1)))
    return product


def step(data: In[packed_bytes], remainders: In[u32, Literal[2048]], word: u32, start: u32, crc: u32) -> u32:
    """The remainder after eight more bytes, the first in `word`, as far in as `start` is in its own."""
    shift = (start & 3) * 8
    middle = data[word + 1]
    x = crc ^ ((data[word] >> shift) | ((middle << 1) << (31 - shift)))
    return remainder(remainders, x, (middle >> shift) | ((data[word + 2] << 1) << (31 - shift)))


def remainder(remainders: In[u32, Literal[2048]], x: u32, y: u32) -> u32:
    """Of the eight bytes in `x` and `y`."""
    return (
        remainders[1792 + (x & 255)]
        ^ remainders[1536 + ((x >> 8) & 255)]
        ^ remainders[1280 + ((x >> 16) & 255)]
        ^ remainders[1024 + (x >> 24)]
        ^ remainders[768 + (y & 255)]
        ^ remainders[512 + ((y >> 8) & 255)]
        ^ remainders[256 + ((y >> 16) & 255)]
        ^ remainders[y >> 24]
    )


def moved(powers: In[u32, Literal[128]], polynomial: u32, crc: u32, left: u32) -> u32:
    """The remainder times x^(8 left), for as many bytes behind it."""
    found = crc
    for digit in range(8):
        count = (left >> (4 * digit)) & 15
        if count > 0:
            found = times(found, powers[16 * digit + count], polynomial)
    return found


def part(
    data: In[packed_bytes],
    remainders: In[u32, Literal[2048]],
    powers: In[u32, Literal[128]],
    polynomial: u32,
    start: u32,
    before: u32,
    after: u32,
) -> u32:
    """What the part at `start` adds to the checksum of its message.

    That has `before` bytes before it, and `after` from `start` on.
    """
    length = min(after, u32(_PART))
    word = start // 4
    crc = u32(0xFFFFFFFF) if before == 0 else u32(0)
    done = u32(0)
    if length == 2 * _STRAND:
        # Each step of a strand waits for the one before it; the steps of two do not wait for each other.
        second = u32(0)
        for _pair in range(_STRAND // 8):
            crc = step(data, remainders, word, start, crc)
            second = step(data, remainders, word + _STRAND // 4, start, second)
            word += 2
        crc = times(crc, powers[_PAST_STRAND], polynomial) ^ second
        done = length
    for _ in range((length - done) // 8):
        crc = step(data, remainders, word, start, crc)
        word += 2
    for k in range(start + max(done, length // 8 * 8), start + length):
        crc = (crc >> 8) ^ remainders[(crc ^ byte_at(data, u32(k))) & 255]
    crc = moved(powers, polynomial, crc, after - length)
    return ~crc if before == 0 else crc


@vyre.kernel
def _crc(
    data: In[packed_bytes],
    bounds: In[u32],
    parts: In[u32],
    remainders: In[u32, Literal[2048]],
    powers: In[u32, Literal[128]],
    out: Out[u32],
    polynomial: u32,
) -> None:
    """An invocation a part; part p is of the message whose parts begin at or before it."""
    p = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if p >= parts[len(parts) - 1]:
        return
    m = owner(parts, p)
    before = (p - parts[m]) * _PART
    start = bounds[m] + before
    found = part(data, remainders, powers, polynomial, start, before, bounds[m + 1] - start)
    vyre.atomic_xor(out, m, found)


@vyre.kernel
def _even_crc(
    data: In[packed_bytes],
    remainders: In[u32, Literal[2048]],
    powers: In[u32, Literal[128]],
    out: Out[u32],
    polynomial: u32,
    size: u32,
    parts: u32,
) -> None:
    """The same of messages of one size, each of so many parts."""
    p = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    m = p // parts
    if m >= len(out):
        return
    before = (p - m * parts) * _PART
    found = part(data, remainders, powers, polynomial, m * size + before, before, size - before)
    vyre.atomic_xor(out, m, found)


@vyre.kernel
def _quad_crc(
    data: In[vec4],
    remainders: In[u32, Literal[2048]],
    powers: In[u32, Literal[128]],
    out: Out[u32],
    polynomial: u32,
    quads: u32,
    parts: u32,
) -> None:
    """The same of messages of `quads` times 16 bytes."""
    p = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    m = p // parts
    if m >= len(out):
        return
    before = (p - m * parts) * (_PART // 16)
    after = quads - before
    length = min(after, u32(_PART // 16))
    crc = u32(0xFFFFFFFF) if before == 0 else u32(0)
    for k in range(length):
        four = data[m * quads + before + k]
        crc = remainder(remainders, crc ^ four[0], four[1])
        crc = remainder(remainders, crc ^ four[2], four[3])
    crc = moved(powers, polynomial, crc, 16 * (after - length))
    vyre.atomic_xor(out, m, ~crc if before == 0 else crc)


def _checksums(polynomial: int, messages: Any, offsets: Any, backend: str | Backend | None) -> Any:
    found = taken(messages, offsets, backend)
    tables = found.beside(_tables, polynomial)
    if found.size is None:
        parts = found.pieces(_PART)
        made = _crc(
            found.data, found.bounds, parts, *tables, found.count, polynomial,
            workgroups=grid(int(parts[-1])), backend=found.backend,
        )  # fmt: skip
        return found.rows(made, np.uint32)
    each = max(-(-found.size // _PART), 1)
    wide = found.quads
    kernel, (data, size) = (_even_crc, (found.data, found.size)) if wide is None else (_quad_crc, wide)
    made = kernel(
        data, *tables, found.count, polynomial, size, each,
        workgroups=grid(found.count * each), backend=found.backend,
    )  # fmt: skip
    return found.rows(made, np.uint32)


@boundary
@in_parts
def crc32(messages: Any, *, offsets: Any = None, backend: str | Backend | None = None) -> Any:
    """The checksum of zlib, gzip and PNG, a uint32 a message."""
    return _checksums(CRC32, messages, offsets, backend)


@boundary
@in_parts
def crc32c(messages: Any, *, offsets: Any = None, backend: str | Backend | None = None) -> Any:
    """The checksum of Castagnoli, as in iSCSI and ext4, a uint32 a message."""
    return _checksums(CRC32C, messages, offsets, backend)
