"""CRC-32 and CRC-32C of many messages; long ones in parts that are computed apart and joined exactly.

The CRC of a whole is the sum, without carries, of those of its parts, each times x^(8 n) for the n
bytes after it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vyre
from vyre import In, Out, packed_bytes, u32
from vyre.errors import boundary
from vyre.library.messages import grid, taken
from vyre.library.reading import byte_at, owner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

CRC32, CRC32C = 0xEDB88320, 0x82F63B78
"""The polynomials with their bits reversed: bit 31 is the constant term, and x^32 is left out."""

_PART = 4096


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


@vyre.kernel
def _crc(
    data: In[packed_bytes],
    bounds: In[u32],
    parts: In[u32],
    remainders: In[u32, Literal[2048]],
    powers: In[u32, Literal[128]],
    out: Out[u32],
    polynomial: u32,
    size: u32,
) -> None:
    """An invocation a part; part p is of the message whose parts begin at or before it."""
    p = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if p >= parts[len(parts) - 1]:
        return
    m = owner(parts, p)
    start = bounds[m] + (p - parts[m]) * size
    after = bounds[m + 1] - start
    length = min(after, size)
    shift = (start & 3) * 8
    word = start // 4
    low = data[word]
    crc = u32(0xFFFFFFFF) if p == parts[m] else u32(0)
    for _ in range(length // 8):
        middle = data[word + 1]
        high = data[word + 2]
        x = crc ^ ((low >> shift) | ((middle << 1) << (31 - shift)))
        y = (middle >> shift) | ((high << 1) << (31 - shift))
        crc = (
            remainders[1792 + (x & 255)]
            ^ remainders[1536 + ((x >> 8) & 255)]
            ^ remainders[1280 + ((x >> 16) & 255)]
            ^ remainders[1024 + (x >> 24)]
            ^ remainders[768 + (y & 255)]
            ^ remainders[512 + ((y >> 8) & 255)]
            ^ remainders[256 + ((y >> 16) & 255)]
            ^ remainders[y >> 24]
        )
        word += 2
        low = high
    for k in range(start + length // 8 * 8, start + length):
        crc = (crc >> 8) ^ remainders[(crc ^ byte_at(data, u32(k))) & 255]
    left = after - length
    for digit in range(8):
        count = (left >> (4 * digit)) & 15
        if count > 0:
            crc = times(crc, powers[16 * digit + count], polynomial)
    if p == parts[m]:
        crc = ~crc
    vyre.atomic_xor(out, m, crc)


def _checksums(polynomial: int, messages: Any, offsets: Any, backend: str | Backend | None) -> Any:
    found = taken(messages, offsets, backend)
    parts = found.pieces(_PART)
    made = _crc(
        found.data, found.bounds, parts, *_tables(polynomial), found.count, polynomial, _PART,
        workgroups=grid(int(parts[-1])), backend=found.backend,
    )  # fmt: skip
    return found.rows(made, np.uint32)


@boundary
def crc32(messages: Any, *, offsets: Any = None, backend: str | Backend | None = None) -> Any:
    """The checksum of zlib, gzip and PNG, a uint32 a message."""
    return _checksums(CRC32, messages, offsets, backend)


@boundary
def crc32c(messages: Any, *, offsets: Any = None, backend: str | Backend | None = None) -> Any:
    """The checksum of Castagnoli, as in iSCSI and ext4, a uint32 a message."""
    return _checksums(CRC32C, messages, offsets, backend)
