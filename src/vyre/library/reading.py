"""Functions that kernels of the library share: bytes and words at any place, and who owns a piece."""

from __future__ import annotations

from typing import Any

import vyre
from vyre import In, packed_bytes, u32


def byte_at(data: In[packed_bytes], place: u32) -> u32:
    """The byte at `place`; 0 past the end."""
    return (data[place // 4] >> (8 * (place & 3))) & 255


def word_at(data: In[packed_bytes], place: u32) -> u32:
    """The four bytes from `place` on, the first one lowest."""
    shift = 8 * (place & 3)
    return (data[place // 4] >> shift) | ((data[place // 4 + 1] << 1) << (31 - shift))


def owner(starts: In[u32], piece: u32) -> u32:
    """The last place in ascending `starts`, but for its end, that is not after `piece`."""
    low, high = u32(0), len(starts) - 1
    while vyre.bounded(high - low > 1, 32):
        middle = low + (high - low) // 2
        if starts[middle] <= piece:
            low = middle
        else:
            high = middle
    return low


def run_of(backend: Any) -> int:
    """How many results an invocation makes one by one, where each search can begin at the last owner."""
    from vyre.engines.collection import cut_for  # hashes need no engines

    return 1 if cut_for(backend, None, None) is None else 1 << 10


def rotl(x: u32, amount: u32) -> u32:
    return (x << amount) | (x >> (32 - amount))


def rotr(x: u32, amount: u32) -> u32:
    return (x >> amount) | (x << (32 - amount))


def swapped(x: u32) -> u32:
    """The four bytes in reverse order."""
    return (rotr(x, u32(8)) & 0xFF00FF00) | (rotr(x, u32(24)) & 0x00FF00FF)
