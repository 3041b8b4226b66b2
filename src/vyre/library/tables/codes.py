"""Elements as unsigned numbers of 64 bits that are equal, and in order, as the elements are.

Floats are ordered by value: -0 is 0, and every NaN is the same and greatest. Texts get their ranks among
all, in the order of their bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, Out, engines, packed_bytes, u32, u64
from vyre.library import hashing
from vyre.library.messages import grid
from vyre.library.reading import byte_at
from vyre.library.tables.distinct import SIGN, Groups, groups_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.library.tables.columns import Column

    Where = str | Backend | None
    Codes = NDArray[np.uint64]


@vyre.kernel
def _float_codes(bits: In[u64], out: Out[u64], zeros: u32) -> None:
    """By value where `zeros` is set; else -0 comes before 0."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(out):
        return
    x = bits[i]
    size = x & 0x7FFFFFFFFFFFFFFF
    if size > 0x7FF0000000000000:
        x = u64(0x7FF8000000000000)
    if size == 0 and zeros == 1:
        x = u64(0)
    out[i] = x ^ vyre.select(x >> 63 == 1, u64(0xFFFFFFFFFFFFFFFF), u64(0x8000000000000000))


@vyre.kernel
def _words(data: In[packed_bytes], bounds: In[u32], rows: In[u32], out: Out[u64], word: u32) -> None:
    """Eight bytes of each text, the first one highest; zeros behind its end."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(out):
        return
    start, stop = bounds[rows[i]], bounds[rows[i] + 1]
    found = u64(0)
    for k in range(8):
        place = start + 8 * word + u32(k)
        found = found << 8
        if place < stop:
            found |= u64(byte_at(data, place))
    out[i] = found


@vyre.kernel
def _differ(data: In[packed_bytes], bounds: In[u32], others: In[u32], out: Out[u32]) -> None:
    """1 where a text is not the one at `others`."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(out):
        return
    start, other = bounds[i], bounds[others[i]]
    size = bounds[i + 1] - start
    differs = vyre.select(bounds[others[i] + 1] - other != size, u32(1), u32(0))
    if differs == 0 and start != other:
        for k in range(size):
            if byte_at(data, start + u32(k)) != byte_at(data, other + u32(k)):
                differs = u32(1)
                break
    out[i] = differs


def codes_of(column: Column, backend: Where, *, zeros: bool = True) -> Codes:
    """The code of each element; `zeros` says whether -0 is 0. What a missing one gets means nothing."""
    match column.kind:
        case "utf8":
            return _ranks(column, backend).astype(np.uint64)
        case "bool":
            return column.to_numpy().astype(np.uint64)
        case "float32" | "float64":
            bits = column.data.astype(np.float64, copy=False).view(np.uint64)
            if not len(bits):
                return bits
            out = np.zeros(len(bits), np.uint64)
            return _float_codes(bits, out, int(zeros), workgroups=grid(len(bits)), backend=backend)
        case "uint8" | "uint16" | "uint32" | "uint64":
            return column.data.astype(np.uint64, copy=False)
        case _:
            return column.data.astype(np.int64, copy=False).view(np.uint64) ^ SIGN


def values_of(codes: Codes, kind: str) -> NDArray[Any]:
    """The numbers or truths of codes."""
    match kind:
        case "bool":
            return codes.astype(np.bool_)
        case "float32" | "float64":
            turned = np.where(codes & SIGN, codes ^ SIGN, ~codes)
            with np.errstate(invalid="ignore"):
                return turned.view(np.float64).astype(kind)
        case "uint8" | "uint16" | "uint32" | "uint64":
            return codes.astype(kind)
        case _:
            return (codes ^ SIGN).view(np.int64).astype(kind)


def _ranks(column: Column, backend: Where) -> NDArray[np.uint32]:
    """The rank of each text: equal hashes are shown to be of equal texts, and one of each is put in order."""
    rows = np.arange(column.length, dtype=np.uint32)
    if not column.length:
        return rows
    data, bounds = column.text()
    hashes = np.asarray(hashing.xxh64(data, offsets=bounds, backend=backend))
    found = groups_of(hashes, backend)
    others = engines.gather(found.firsts, found.ids, backend=backend)
    out = np.zeros(column.length, np.uint32)
    differ = _differ(data, bounds, others, out, workgroups=grid(len(out)), backend=backend)
    if differ.any():  # two texts of one hash
        return _in_order(data, bounds, rows, backend).ids
    ranks = _in_order(data, bounds, found.firsts, backend).ids
    return engines.gather(ranks, found.ids, backend=backend)


def _in_order(
    data: NDArray[np.uint8], bounds: NDArray[np.uint32], rows: NDArray[np.uint32], backend: Where
) -> Groups:
    """The groups of the texts of these rows, eight bytes after eight while some are still together."""
    sizes = np.diff(bounds)[rows].astype(np.uint64)
    most = int(sizes.max())
    found = groups_of(sizes * 0, backend)
    for word in range(-(-most // 8)):
        out = np.zeros(len(rows), np.uint64)
        words = _words(data, bounds, rows, out, word, workgroups=grid(len(rows)), backend=backend)
        found = refined(found, words, backend)
        together = np.bincount(found.ids, minlength=found.count)[found.ids] > 1
        if not (together & (sizes > 8 * (word + 1))).any():
            break
    return refined(found, sizes, backend)


def refined(found: Groups, codes: Codes, backend: Where) -> Groups:
    """Groups whose members also agree in another code, which orders them within the group they were in."""
    if found.count == len(codes):
        return found
    inner = groups_of(codes, backend)
    if inner.count == 1:
        return found
    both = found.ids.astype(np.uint64) * np.uint64(inner.count) + inner.ids
    return groups_of(both, backend)
