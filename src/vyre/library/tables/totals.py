"""One number for each group of rows: counts, sums, least and greatest ones.

A sum of floats is exact and rounded once. Every value is a whole number of a power of two; digits of 32
bits are added up in words of 64, so nothing carries while rows are added, and no order of rows shows. The
exponents that a column has say how many digits there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, InOut, Out, engines, u32, u64
from vyre.library.messages import grid
from vyre.library.tables.distinct import walkers_of
from vyre.library.tables.rounding import rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

    Where = str | Backend | None
    Words = NDArray[np.uint64]
    Numbers = NDArray[np.uint32]

_MOST_WORDS = 1 << 26
"""Of the sums that are made in one walk through the rows."""
_ONES = 0xFFFFFFFFFFFFFFFF
_SPECIAL = 0x7FF


@vyre.kernel(workgroup_size=1)
def _added(ids: In[u32], values: In[u64], sums: InOut[u64], groups: u32, first: u32, each: u32) -> None:
    """Whole numbers; each walker has `groups` sums, of the groups from `first` on."""
    t = vyre.workgroup_id(0)
    for i in range(t * each, vyre.min(t * each + each, len(ids))):
        group = ids[i] - first
        if group < groups:
            sums[t * groups + group] += values[i]


@vyre.kernel(workgroup_size=1)
def _least(ids: In[u32], values: In[u64], found: InOut[u64], groups: u32, first: u32, each: u32) -> None:
    t = vyre.workgroup_id(0)
    for i in range(t * each, vyre.min(t * each + each, len(ids))):
        group = ids[i] - first
        if group < groups:
            found[t * groups + group] = vyre.min(found[t * groups + group], values[i])


@vyre.kernel(workgroup_size=1)
def _exponents(bits: In[u64], out: Out[u32], each: u32) -> None:
    """The least and the greatest exponent of each walker's part."""
    t = vyre.workgroup_id(0)
    low, high = u32(0xFFFFFFFF), u32(0)
    for i in range(t * each, vyre.min(t * each + each, len(bits))):
        exponent = (bits[i][1] >> 20) & 0x7FF
        if exponent < 0x7FF:
            low = vyre.min(low, vyre.max(exponent, u32(1)))
        high = vyre.max(high, exponent)
    out[2 * t] = low
    out[2 * t + 1] = high


def digit_place(bits: u64, low: u32) -> u32:
    """How far the lowest bit of a float is above the exponent `low`."""
    return vyre.max((bits[1] >> 20) & 0x7FF, u32(1)) - low


def mantissa(bits: u64) -> u64:
    """The whole number that a float is a multiple of; of Inf and NaN, 0."""
    exponent = (bits[1] >> 20) & 0x7FF
    plain = (bits & 0x000FFFFFFFFFFFFF) | (u64(vyre.min(exponent, u32(1))) << 52)
    return vyre.select(exponent == 0x7FF, u64(0), plain)


@vyre.kernel(workgroup_size=1)
def _added_floats(
    ids: In[u32], bits: In[u64], sums: InOut[u64], groups: u32, first: u32, each: u32, width: u32, low: u32
) -> None:
    """Three digits of each float, of `width` that a group has."""
    t = vyre.workgroup_id(0)
    for i in range(t * each, vyre.min(t * each + each, len(ids))):
        group = ids[i] - first
        if group < groups:
            x = bits[i]
            place = vyre.select((x[1] >> 20) & 0x7FF == 0x7FF, u32(0), digit_place(x, low))
            at = (t * groups + group) * width + (place >> 5)
            whole, shift = mantissa(x), place & 31
            two, top = whole << shift, (whole >> 1) >> (63 - shift)
            if x[1] >> 31 == 1:
                sums[at] -= two & 0xFFFFFFFF
                sums[at + 1] -= two >> 32
                sums[at + 2] -= top
            else:
                sums[at] += two & 0xFFFFFFFF
                sums[at + 1] += two >> 32
                sums[at + 2] += top


@vyre.kernel
def _digits(bits: In[u64], out: Out[u64], digit: u32, low: u32) -> None:
    """One digit of each float, with its sign."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(out):
        return
    x = bits[i]
    place = digit_place(x, low)
    part, shift, found = digit - (place >> 5), place & 31, u64(0)
    whole = mantissa(x)
    if part < 2:
        found = ((whole << shift) >> (32 * part)) & 0xFFFFFFFF
    if part == 2:
        found = (whole >> 1) >> (63 - shift)
    out[i] = vyre.select(x[1] >> 31 == 1, u64(0) - found, found)


class Totals:
    """Joins values by group. Rows of a group from `groups` on count for nothing."""

    def __init__(self, ids: Numbers, groups: int, backend: Where) -> None:
        self.ids, self.groups, self.backend = ids, groups, backend
        self._walkers = walkers_of(backend) if len(ids) >= 1 << 12 else min(walkers_of(backend), 1)
        self._order: tuple[Numbers, Numbers] | None = None

    def counts(self) -> NDArray[np.int64]:
        """How many rows each group has."""
        if not self.groups:
            return np.zeros(0, np.int64)
        return engines.histogram(self.ids, bins=self.groups, backend=self.backend).astype(np.int64)

    def sums(self, values: Words) -> Words:
        """Of whole numbers, modulo 2^64."""
        if self._walkers:
            return self._walked(_added, values, 1, 0, ()).sum(axis=0, dtype=np.uint64).reshape(-1)
        return self._by_key(values, "add", 0)

    def least(self, codes: Words) -> Words:
        """The least code; of no rows, all bits."""
        if self._walkers:
            return self._walked(_least, codes, 1, _ONES, ()).min(axis=0).reshape(-1)
        return self._by_key(codes, "min", _ONES)

    def float_sums(self, values: NDArray[np.float64], kind: str) -> NDArray[Any]:
        """The exact sums, rounded to the nearest number of `kind`; a sum of zero is +0."""
        rows, bits = len(values), values.view(np.uint64)
        if not rows or not self.groups:
            return np.zeros(self.groups, kind)
        parts = max(self._walkers, 1) if self._walkers else min(rows, 1 << 10)
        out = np.zeros(2 * parts, np.uint32)
        spans = _exponents(bits, out, -(-rows // parts), workgroups=parts, backend=self.backend)
        low, high = int(spans[::2].min()), int(spans[1::2].max())
        special = high == _SPECIAL
        high, low = min(high, _SPECIAL - 1), min(low, _SPECIAL - 1)
        width = max(high - low, 0) // 32 + 3  # the digits of the greatest one; words have room for all rows
        if self._walkers:
            digits = self._walked(_added_floats, bits, width, 0, (width, low))
        else:
            digits = np.zeros((1, self.groups, width), np.uint64)
            for k in range(width):
                made = np.zeros(rows, np.uint64)
                part = _digits(bits, made, k, low, workgroups=grid(rows), backend=self.backend)
                digits[0, :, k] = self._by_key(part, "add", 0)
        found = rounded(digits, low, kind, self.backend)
        return self._with_specials(found, bits) if special else found

    def _with_specials(self, found: NDArray[Any], bits: Words) -> NDArray[Any]:
        """NaN, or Inf of both signs, makes NaN; else Inf wins."""
        infinity, sign = 0x7FF0 << 48, 1 << 63
        size = bits & np.uint64(sign - 1)
        met = [size > infinity, bits == infinity, bits == infinity | sign]
        nan, above, below = (self.sums(one.astype(np.uint64)) > 0 for one in met)
        found[above], found[below] = np.inf, -np.inf
        found[nan | (above & below)] = np.nan
        return found

    def _walked(self, kernel: Any, values: Words, width: int, fill: int, more: tuple[int, ...]) -> Words:
        """What each walker has found of each group, `width` words each: walker, group, word."""
        walkers = self._walkers
        each, many = -(-len(self.ids) // walkers), max(_MOST_WORDS // (width * walkers), 1)
        parts: list[Words] = []
        for first in range(0, self.groups, many):
            groups = min(many, self.groups - first)
            start = np.full(walkers * groups * width, fill, np.uint64)
            made = kernel(
                self.ids, values, start, groups, first, each, *more,
                workgroups=walkers, backend=self.backend,
            )  # fmt: skip
            parts.append(made.reshape(walkers, groups, width))
        return (
            parts[0] if len(parts) == 1 else np.concatenate(parts or [np.zeros((1, 0, width), np.uint64)], 1)
        )

    def _by_key(self, values: Words, op: str, fill: int) -> Words:
        """The rows in the order of their groups, joined run by run."""
        if self._order is None:
            self._order = engines.sort_pairs(
                self.ids, np.arange(len(self.ids), dtype=np.uint32), backend=self.backend
            )
        ids, order = self._order
        chosen = engines.gather(values, order, backend=self.backend)
        keys, joined = engines.reduce_by_key(ids, chosen, op=op, backend=self.backend)
        found = np.full(self.groups, fill, np.uint64)
        inside = keys < self.groups
        found[keys[inside]] = joined[inside]
        return found
