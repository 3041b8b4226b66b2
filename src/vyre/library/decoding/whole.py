"""Integers as decimal text: parsed within the range of their type, and printed as Python prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, Out, packed_bytes, u8, u32, u64
from vyre.backends.storage import dtype_of
from vyre.errors import DispatchError, boundary
from vyre.library.decoding.result import Parsed, host
from vyre.library.messages import grid, native, taken
from vyre.library.reading import byte_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

_KINDS = (np.int64, np.uint64, np.int32, np.uint32)
_WIDEST = 20
"""Bytes of the longest text, the least int64's and the largest uint64's."""


@vyre.kernel
def _parse(
    data: In[packed_bytes],
    bounds: In[u32],
    out: Out[u64],
    marks: Out[u32],
    largest_low: u32,
    largest_high: u32,
    negatives: u32,
) -> None:
    """The number of each text; in `marks` 1 and the place of the first byte that does not belong, or 0."""
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if m >= len(bounds) - 1:
        return
    start, end = bounds[m], bounds[m + 1]
    at, negative = start, u32(0)
    if start < end:
        sign = byte_at(data, start)
        if sign == 45 and negatives == 1:
            negative = 1
        if sign == 43 or negative == 1:
            at += 1
    low, high, mark = u32(0), u32(0), u32(0)
    # Below zero there is one number more.
    most = largest_low + negative
    top = largest_high + (1 if most < negative else 0)
    if at == end:
        mark = at - start + 1
    for place in range(at, end):
        digit = byte_at(data, u32(place)) - 48
        first = low * 10 + digit
        carried = vyre.mul_hi(low, u32(10)) + (1 if first < digit else 0)
        second = high * 10 + carried
        past = vyre.mul_hi(high, u32(10)) > 0 or second < carried
        if digit > 9 or past or second > top or (second == top and first > most):
            mark = place - start + 1
            break
        low, high = first, second
    if mark > 0:
        low, high = u32(0), u32(0)
    if negative == 1:
        high = ~high + (1 if low == 0 else 0)
        low = 0 - low
    out[m] = vyre.from_lanes(u64, low, high)
    marks[m] = mark


@vyre.kernel
def _print(values: In[u64], out: Out[u8], lengths: Out[u32], signed: u32) -> None:
    """Each text at the end of its 20 bytes."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(values):
        return
    low, high = values[i][0], values[i][1]
    negative = signed & (high >> 31)
    if negative == 1:
        high = ~high + (1 if low == 0 else 0)
        low = 0 - low
    length = u32(0)
    for k in range(20):
        # By ten, sixteen bits at a time, so that the rest and the next bits fit a word.
        upper = (high % 10) << 16 | low >> 16
        lower = (upper % 10) << 16 | (low & 0xFFFF)
        high = high // 10
        low = (upper // 10) << 16 | lower // 10
        out[i * 20 + 19 - k] = 48 + lower % 10
        length += 1
        if low | high == 0:
            break
    if negative == 1:
        out[i * 20 + 19 - length] = 45
    lengths[i] = length + negative


@boundary
def parse_integers(
    texts: Any, *, dtype: Any = np.int64, offsets: Any = None, backend: str | Backend | None = None
) -> Parsed:
    """The number of each text, of dtype int64, uint64, int32 or uint32: digits, at least one, and a sign
    before them (no minus where the type has none). A digit that leaves the range does not belong."""
    named = dtype_of(dtype)
    kind = named.type
    if kind not in _KINDS:
        raise DispatchError(
            f"integers of {named} are not parsed.",
            fix="pass np.int64, np.uint64, np.int32 or np.uint32.",
        )
    found = taken(texts, offsets, backend)
    largest = int(np.iinfo(kind).max)
    bits, marks = _parse(
        found.data, found.bounds, np.zeros(found.count, np.uint64), np.zeros(found.count, np.uint32),
        largest & 0xFFFFFFFF, largest >> 32, int(np.iinfo(kind).min < 0),
        workgroups=grid(found.count), backend=found.backend,
    )  # fmt: skip
    values = host(bits).view(np.int64).astype(kind)
    return Parsed(found.rows(values, kind), found.rows(host(marks).astype(np.int64) - 1, np.int64))


@boundary
def print_integers(
    values: Any, *, backend: str | Backend | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """The texts of a row of int64, uint64, int32 or uint32, one after another, and their offsets."""
    given = native("values", values)
    if given.ndim != 1 or given.dtype.type not in _KINDS:
        raise DispatchError(
            f"values are {given.dtype} of {given.ndim} dimensions.",
            fix="pass a row of int64, uint64, int32 or uint32.",
        )
    signed = given.dtype.kind == "i"
    bits = (given.astype(np.int64) if signed else given.astype(np.uint64)).view(np.uint64)
    out, lengths = _print(
        bits, np.zeros(len(given) * _WIDEST, np.uint8), np.zeros(len(given), np.uint32), int(signed),
        workgroups=grid(len(given)), backend=backend,
    )  # fmt: skip
    offsets = np.zeros(len(given) + 1, np.uint32)
    np.cumsum(lengths, out=offsets[1:], dtype=np.uint32)
    return out.reshape(-1, _WIDEST)[np.arange(_WIDEST) >= _WIDEST - lengths[:, None]], offsets
