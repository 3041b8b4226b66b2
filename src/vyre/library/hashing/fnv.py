"""FNV-1a of many messages, 32 and 64 bits: an invocation a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, Out, packed_bytes, u32, u64
from vyre.errors import boundary
from vyre.library.messages import grid, taken
from vyre.library.reading import byte_at

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend


@vyre.kernel
def _fnv32(data: In[packed_bytes], bounds: In[u32], out: Out[u32]) -> None:
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if m >= len(bounds) - 1:
        return
    found = u32(0x811C9DC5)
    for place in range(bounds[m], bounds[m + 1]):
        found = (found ^ byte_at(data, u32(place))) * 0x01000193
    out[m] = found


@vyre.kernel
def _fnv64(data: In[packed_bytes], bounds: In[u32], out: Out[u64]) -> None:
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if m >= len(bounds) - 1:
        return
    found = u64(0xCBF29CE484222325)
    for place in range(bounds[m], bounds[m + 1]):
        found = (found ^ u64(byte_at(data, u32(place)))) * 0x00000100000001B3
    out[m] = found


@boundary
def fnv1a_32(messages: Any, *, offsets: Any = None, backend: str | Backend | None = None) -> Any:
    """A uint32 a message."""
    found = taken(messages, offsets, backend)
    made = _fnv32(found.data, found.bounds, found.count, workgroups=grid(found.count), backend=found.backend)
    return found.rows(made, np.uint32)


@boundary
def fnv1a_64(messages: Any, *, offsets: Any = None, backend: str | Backend | None = None) -> Any:
    """A uint64 a message."""
    found = taken(messages, offsets, backend)
    made = _fnv64(found.data, found.bounds, found.count, workgroups=grid(found.count), backend=found.backend)
    return found.rows(made, np.uint64)
