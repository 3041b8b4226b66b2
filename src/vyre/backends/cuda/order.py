"""Which launches of a row have to wait for which: those that share memory that one of them writes.

    waits([uses of the first, uses of the second, …])      for each the numbers of the earlier ones

Launches that share nothing, or only read what they share, may run at the same time; all else keeps its order.
Memory that overlaps is taken for one. A wait that follows from others is left out where that is plain to see.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class MemoryUse(NamedTuple):
    """Memory that a launch reads, or also writes."""

    address: int
    nbytes: int
    written: bool


def waits(row: Sequence[Sequence[MemoryUse]]) -> list[list[int]]:
    """For each launch in ascending order."""
    starts = _regions([use for uses in row for use in uses])
    writer: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    found: list[list[int]] = []
    for number, uses in enumerate(row):
        touched: dict[int, bool] = {}
        for use in uses:
            region = bisect_right(starts, use.address)
            touched[region] = touched.get(region, False) or use.written
        before: set[int] = set()
        for region, written in touched.items():
            reading = readers.get(region)
            if written and reading:
                before.update(reading)  # who wait for the writer themselves
            elif region in writer:
                before.add(writer[region])
            if written:
                writer[region] = number
                readers[region] = []
            else:
                readers.setdefault(region, []).append(number)
        found.append(sorted(before))
    return found


def _regions(uses: Sequence[MemoryUse]) -> list[int]:
    """Where memory begins that overlaps nothing before it."""
    starts: list[int] = []
    end = -1
    for use in sorted(uses):
        if use.address >= end:
            starts.append(use.address)
        end = max(end, use.address + use.nbytes)
    return starts
