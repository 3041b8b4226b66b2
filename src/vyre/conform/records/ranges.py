"""Failing cases as ranges of their numbers: every one of them is inside one, however many there are.

    of_mask(mask, start)          [[first, last, count], …]
    joined(ranges)                ranges in order, side by side ones made one, `MOST` at most

Where a range holds as many failing cases as it is long, all its cases failed. Past `MOST` ranges those
nearest to each other become one, which then says how many of its cases failed. A case's number is its input:
with the seed and the kind it makes the same words everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST = 64

Ranges = list[list[int]]


def of_mask(mask: NDArray[np.bool_], start: int) -> Ranges:
    """The cases where the mask is set; its first is case `start`."""
    edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0))
    first, last = edges[0::2].astype(np.int64), edges[1::2].astype(np.int64) - 1
    return _fewer(first + start, last + start, last - first + 1)


def joined(ranges: Sequence[Sequence[int]]) -> Ranges:
    """These ranges, in the order of their numbers, as few as they have to be."""
    if not ranges:
        return []
    table = np.array(sorted(map(tuple, ranges)), np.int64)
    return _fewer(table[:, 0], table[:, 1], table[:, 2])


def _fewer(first: NDArray[np.int64], last: NDArray[np.int64], count: NDArray[np.int64]) -> Ranges:
    """Cut at the widest gaps, the earlier of equal ones; ranges without a gap are never apart."""
    if not len(first):
        return []
    gaps = first[1:] - last[:-1]
    widest = np.argsort(-gaps, kind="stable")[: MOST - 1]
    cuts = np.sort(widest[gaps[widest] > 1]) + 1
    starts = np.concatenate([[0], cuts]).astype(np.intp)
    ends = np.concatenate([cuts, [len(first)]]).astype(np.intp) - 1
    sums = np.add.reduceat(count, starts)
    return [[int(a), int(b), int(n)] for a, b, n in zip(first[starts], last[ends], sums, strict=True)]
