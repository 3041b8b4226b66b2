"""Varints, seven bits a byte and the lowest first, as in LEB128 and Protocol Buffers; uint32 and uint64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vyre
from vyre import In, Out, engines, packed_bytes, u8, u32, u64
from vyre.errors import DispatchError, boundary
from vyre.library.decoding.result import Decoded, place_of
from vyre.library.messages import grid, native, words_of
from vyre.library.reading import byte_at

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend

_MOST = {32: (5, 15), 64: (10, 1)}
"""Bytes of the longest number, and the largest last byte of it."""


@vyre.kernel
def _ends(
    data: In[packed_bytes], ends: Out[u32], error: Out[u32, Literal[1]], size: u32, longest: u32, largest: u32
) -> None:
    """1 where a number ends. The last byte that a number may have is marked if it is too large or goes on."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= size:
        return
    byte = byte_at(data, i)
    before = u32(0)
    for k in range(1, min(i + 1, longest)):
        earlier = byte_at(data, i - k)
        if earlier < 128:
            break
        before += 1
    if byte < 128:
        ends[i] = 1
    if before == longest - 1 and byte > largest:
        vyre.atomic_max(error, 0, ~i)
    elif byte > 127 and i + 1 == size:
        vyre.atomic_max(error, 0, ~(i - before))


@vyre.kernel
def _numbers(data: In[packed_bytes], ends: In[u32], places: In[u32], out: Out[u64], size: u32) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= size or ends[i] == 0:
        return
    number = u64(byte_at(data, i))
    for k in range(1, min(i + 1, u32(10))):
        earlier = byte_at(data, i - k)
        if earlier < 128:
            break
        number = number << 7 | u64(earlier & 127)
    out[places[i] - 1] = number


@vyre.kernel
def _sizes(numbers: In[u64], out: Out[u32]) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(numbers):
        return
    low, high = numbers[i][0], numbers[i][1]
    bits = 64 - vyre.clz(high) if high > 0 else 32 - vyre.clz(low | 1)
    out[i] = (bits + 6) // 7


@vyre.kernel
def _bytes(numbers: In[u64], ends: In[u32], sizes: In[u32], out: Out[u8]) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(numbers):
        return
    number, size = numbers[i], sizes[i]
    for k in range(size):
        out[ends[i] - size + k] = (number[0] & 127) | (128 if k + 1 < size else 0)
        number = number >> 7


@boundary
def decode_varint(data: Any, *, bits: int = 64, backend: str | Backend | None = None) -> Decoded:
    """The numbers, as uint64, or uint32 where `bits` is 32. Zeros that a number ends with are not an error; a
    number of more bits is, at the byte that has them."""
    if bits not in (32, 64):
        raise DispatchError(f"there are no varints of {bits} bits.", fix="pass bits=32 or bits=64.")
    given, backend = words_of(data, "data", backend)
    size = given.size
    ends, mark = _ends(
        given, np.zeros(size, np.uint32), size=size, longest=_MOST[bits][0], largest=_MOST[bits][1],
        workgroups=grid(size), backend=backend,
    )  # fmt: skip
    error = place_of(mark)
    valid = size if error is None else error
    dtype = np.uint32 if bits == 32 else np.uint64
    if not valid:
        return Decoded(np.zeros(0, dtype), error)
    places = engines.scan(ends, backend=backend)
    numbers = np.zeros(int(places[valid - 1]), np.uint64)
    _numbers(given, ends, places, numbers, valid, workgroups=grid(valid), backend=backend)
    return Decoded(numbers.astype(dtype), error)


@boundary
def encode_varint(numbers: Any, *, backend: str | Backend | None = None) -> Any:
    """The shortest bytes of each of an array of uint32 or uint64, one after another, as uint8."""
    given = native("numbers", numbers)
    if given.dtype.type not in (np.uint32, np.uint64) or given.ndim != 1:
        raise DispatchError(
            f"numbers have the type {given.dtype} and the shape {given.shape}.",
            fix="pass vyre.array(numbers, vyre.u64); zigzag makes signed ones unsigned.",
        )
    if not len(given):
        return np.zeros(0, np.uint8)
    wide = given.astype(np.uint64)
    turns = grid(len(wide))
    sizes = _sizes(wide, np.zeros(len(wide), np.uint32), workgroups=turns, backend=backend)
    ends = engines.scan(sizes, backend=backend)
    return _bytes(wide, ends, sizes, np.zeros(int(ends[-1]), np.uint8), workgroups=turns, backend=backend)
