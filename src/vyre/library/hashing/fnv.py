"""FNV-1a of many messages, 32 and 64 bits: an invocation a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, Out, packed_bytes, u32, u64
from vyre.errors import boundary
from vyre.library.hashing.parts import in_parts
from vyre.library.messages import taken
from vyre.library.reading import byte_at

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend


def fnv32(data: In[packed_bytes], start: u32, end: u32) -> u32:
    found = u32(0x811C9DC5)
    for place in range(start, end):
        found = (found ^ byte_at(data, u32(place))) * 0x01000193
    return found


@vyre.kernel
def _fnv32(data: In[packed_bytes], bounds: In[u32], out: Out[u32]) -> None:
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if m < len(out):
        out[m] = fnv32(data, bounds[m], bounds[m + 1])


@vyre.kernel
def _even_fnv32(data: In[packed_bytes], out: Out[u32], size: u32) -> None:
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if m < len(out):
        out[m] = fnv32(data, m * size, m * size + size)


def fnv64(data: In[packed_bytes], start: u32, end: u32) -> u64:
    found = u64(0xCBF29CE484222325)
    for place in range(start, end):
        found = (found ^ u64(byte_at(data, u32(place)))) * 0x00000100000001B3
    return found


@vyre.kernel
def _fnv64(data: In[packed_bytes], bounds: In[u32], out: Out[u64]) -> None:
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if m < len(out):
        out[m] = fnv64(data, bounds[m], bounds[m + 1])


@vyre.kernel
def _even_fnv64(data: In[packed_bytes], out: Out[u64], size: u32) -> None:
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if m < len(out):
        out[m] = fnv64(data, m * size, m * size + size)


@boundary
@in_parts
def fnv1a_32(messages: Any, *, offsets: Any = None, backend: str | Backend | None = None) -> Any:
    """A uint32 a message."""
    found = taken(messages, offsets, backend)
    return found.rows(found.each(_fnv32, _even_fnv32), np.uint32)


@boundary
@in_parts
def fnv1a_64(messages: Any, *, offsets: Any = None, backend: str | Backend | None = None) -> Any:
    """A uint64 a message."""
    found = taken(messages, offsets, backend)
    return found.rows(found.each(_fnv64, _even_fnv64), np.uint64)
