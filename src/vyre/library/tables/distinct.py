"""Which rows have the same code: the groups of rows, numbered in the order of their codes.

A processor walks through the rows with a few walkers, each with a table of its own: of all codes between
the least and the greatest where these are few, else of those it has met. Elsewhere all rows are looked up
in one hash table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, InOut, Out, engines, u32, u64
from vyre.library.messages import grid
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

    Where = str | Backend | None
    Codes = NDArray[np.uint64]
    Numbers = NDArray[np.uint32]

SIGN = np.uint64(1 << 63)
_NONE = 0xFFFFFFFF
_FIRST_SLOTS = 1 << 12
_SAMPLE = 1 << 14
"""Rows by which the number of codes is guessed; no result depends on them."""


@dataclass(frozen=True, slots=True)
class Groups:
    """For each row the number of its group, and for each group its first row."""

    ids: Numbers
    firsts: Numbers

    @property
    def count(self) -> int:
        return len(self.firsts)


@vyre.kernel(workgroup_size=1)
def _spans(codes: In[u64], out: Out[u64], turned: u32, each: u32) -> None:
    t = vyre.workgroup_id(0)
    sign = u64(turned) << 32
    low, high = u64(0xFFFFFFFFFFFFFFFF), u64(0)
    for i in range(t * each, vyre.min(t * each + each, len(codes))):
        low = vyre.min(low, codes[i] ^ sign)
        high = vyre.max(high, codes[i] ^ sign)
    out[2 * t] = low
    out[2 * t + 1] = high


@vyre.kernel(workgroup_size=1)
def _met(codes: In[u64], low: In[u64], firsts: InOut[u32], size: u32, each: u32) -> None:
    """The first row of each code from `low` on, from 1; each walker has `size` places."""
    t = vyre.workgroup_id(0)
    for i in range(t * each, vyre.min(t * each + each, len(codes))):
        place = t * size + u32(codes[i] - low[0])
        if firsts[place] == 0:
            firsts[place] = u32(i) + 1


@vyre.kernel
def _numbered(codes: In[u64], low: In[u64], numbers: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i < len(out):
        out[i] = numbers[u32(codes[i] - low[0])]


@vyre.kernel(workgroup_size=1)
def _hashed(
    codes: In[u64],
    slots: InOut[u64],
    found: Out[u32],
    firsts: InOut[u32],
    counts: Out[u32],
    size: u32,
    each: u32,
) -> None:
    """The number of each row's code among those that its walker has met, which has `size` slots for them.

    A slot is a number from 1 on, and the code: together, since a slot is rarely near. A walker that has met
    more than half as many leaves `size`.
    """
    t = vyre.workgroup_id(0)
    base, room, met = t * size, t * (size // 2), u32(0)
    for i in range(t * each, vyre.min(t * each + each, len(codes))):
        code = codes[i]
        mixed = (code[0] ^ (code[1] * 0x85EBCA77)) * 0x9E3779B1
        mixed = (mixed ^ (mixed >> 15) ^ code[1]) * 0x85EBCA77
        slot = (mixed ^ (mixed >> 13)) & (size - 1)
        held = slots[2 * (base + slot)][0]
        while vyre.bounded(held != 0 and slots[2 * (base + slot) + 1] != code, 0xFFFFFFFF):
            slot = (slot + 1) & (size - 1)
            held = slots[2 * (base + slot)][0]
        if held == 0:
            if met == size // 2:
                met = size
                break
            firsts[room + met] = u32(i)
            met += 1
            held = met
            slots[2 * (base + slot)] = u64(held)
            slots[2 * (base + slot) + 1] = code
        found[i] = held - 1
    counts[t] = met


@vyre.kernel(workgroup_size=1)
def _renamed(names: In[u32], found: InOut[u32], each: u32, size: u32) -> None:
    """Each walker's numbers by their names, of which it has `size`."""
    t = vyre.workgroup_id(0)
    for i in range(t * each, vyre.min(t * each + each, len(found))):
        found[i] = names[t * size + found[i]]


def walkers_of(backend: Where) -> int:
    """How many walkers a processor has; 0 for what is none."""
    from vyre.engines.collection import cut_for, walkers

    return walkers(backend) if cut_for(backend, None, None) is not None else 0


def groups_of(codes: Codes, backend: Where, *, signed: bool = False) -> Groups:
    """The groups of rows with the same code; the bits of signed numbers are taken as they are."""
    rows = len(codes)
    if not rows:
        return Groups(np.zeros(0, np.uint32), np.zeros(0, np.uint32))
    walkers = walkers_of(backend)
    if not walkers:
        return _looked_up(codes, signed, backend)
    walkers = 1 if rows < 1 << 12 else walkers
    each = -(-rows // walkers)
    out, turned = np.zeros(2 * walkers, np.uint64), (1 << 31) * signed
    spans = _spans(codes, out, turned, each, workgroups=walkers, backend=backend)
    low, high = int(spans[::2].min()), int(spans[1::2].max())
    if high - low < max(rows // 2, 1 << 10):
        return _of_span(codes, low ^ (turned << 32), high - low + 1, walkers, backend)
    found = _of_walkers(codes, _FIRST_SLOTS, walkers, signed, backend)
    size = _slots_for(min(_guessed_count(codes), each)) if found is None else 0
    while found is None:
        found = _of_walkers(codes, size, walkers, signed, backend)
        size *= 4
    return found


def _slots_for(count: int) -> int:
    """Slots for a quarter more than `count` codes, which take half of them at most."""
    return max(1 << (5 * count // 2).bit_length(), 4 * _FIRST_SLOTS)


def _guessed_count(codes: Codes) -> int:
    """About how many different codes there are; more where a few codes have most of the rows.

    Rows are drawn at random: two rows of `n` codes agree once in `n` times.
    """
    drawn = min(len(codes), _SAMPLE)
    rows = np.random.default_rng(drawn).integers(0, len(codes), drawn)
    different = len(np.unique(codes[rows]))
    if different < drawn // 2:
        return different
    return min(drawn * drawn // (2 * max(drawn - different, 1)), len(codes))


def _of_span(codes: Codes, low: int, size: int, walkers: int, backend: Where) -> Groups:
    first, each = np.array([low], np.uint64), -(-len(codes) // walkers)
    firsts = np.zeros(size * walkers, np.uint32)
    firsts = _met(codes, first, firsts, size, each, workgroups=walkers, backend=backend)
    met = (firsts.reshape(walkers, size) - np.uint32(1)).min(axis=0)
    there = met != _NONE
    numbers = np.cumsum(there, dtype=np.uint32) - np.uint32(1)
    out = np.zeros(len(codes), np.uint32)
    ids = _numbered(codes, first, numbers, out, workgroups=grid(len(codes)), backend=backend)
    return Groups(ids, met[there])


def _of_walkers(codes: Codes, size: int, walkers: int, signed: bool, backend: Where) -> Groups | None:
    """None where a walker has met more codes than half of `size`."""
    each, half = -(-len(codes) // walkers), size // 2
    made: Any = _hashed(
        codes, np.zeros(2 * size * walkers, np.uint64), np.zeros(len(codes), np.uint32),
        np.zeros(half * walkers, np.uint32), np.zeros(walkers, np.uint32),
        size, each, workgroups=walkers, backend=backend,
    )  # fmt: skip
    _, found, firsts, counts = made
    if (counts > half).any():
        return None
    rows = np.concatenate([firsts[t * half : t * half + counts[t]] for t in range(walkers)])
    met = _in_order(engines.gather(codes, rows, backend=backend), signed)
    in_order, order = engines.sort_pairs(met, np.arange(len(met), dtype=np.uint32), backend=backend)
    heads = np.ones(len(met), np.bool_)
    heads[1:] = in_order[1:] != in_order[:-1]
    names = np.zeros(len(met), np.uint32)
    names[order] = np.cumsum(heads, dtype=np.uint32) - np.uint32(1)
    padded = np.zeros(half * walkers, np.uint32)
    begin = 0
    for t in range(walkers):
        padded[t * half : t * half + counts[t]] = names[begin : begin + counts[t]]
        begin += int(counts[t])
    ids = _renamed(padded, found, each, half, workgroups=walkers, backend=backend)
    return Groups(ids, rows[order[heads]])


def _in_order(codes: Codes, signed: bool) -> Codes:
    """Codes that compare as unsigned numbers."""
    return codes ^ SIGN if signed else codes


def _looked_up(codes: Codes, signed: bool, backend: Where) -> Groups:
    """Every row is sent to the first one with its code, and those are put in order."""
    first = engines.HashTable(codes, backend=backend).find(codes)
    rows = np.arange(len(codes), dtype=np.uint32)
    firsts = engines.compact(rows, first == rows, backend=backend)
    met = _in_order(engines.gather(codes, firsts, backend=backend), signed)
    _, ordered = engines.sort_pairs(met, firsts, backend=backend)
    names = engines.scatter(rows[: len(ordered)], ordered, rows, backend=backend)
    return Groups(engines.gather(names, first, backend=backend), ordered)
