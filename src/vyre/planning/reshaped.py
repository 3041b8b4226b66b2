"""How a reshape pairs axes, and whether what it does to a strided layout is a view."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.graph.sizes import Size

if TYPE_CHECKING:
    from collections.abc import Sequence

Shape = tuple[Size, ...]
Pair = tuple[range, range]


def reshape_groups(have: Shape, want: Shape) -> list[Pair]:
    """The smallest runs of axes on both sides that hold as many elements, for every length."""
    try:
        return _groups(have, want)
    except VyreError:  # a product of too many terms: nothing is known of the parts
        return [(range(len(have)), range(len(want)))]


def _groups(have: Shape, want: Shape) -> list[Pair]:
    if any(size.static == 0 for size in have):
        return [(range(len(have)), range(len(want)))]
    found: list[Pair] = []
    i = j = 0
    while i < len(have) or j < len(want):
        first, second = i, j
        left, right = Size(1), Size(1)
        if i < len(have):
            left, i = have[i], i + 1
        if j < len(want):
            right, j = want[j], j + 1
        while left != right:
            # Of unequal sizes one is taken further; which one shows when neither divides the other.
            if j < len(want) and (_divides(right, left) or i == len(have)):
                right, j = right * want[j], j + 1
            elif i < len(have):
                left, i = left * have[i], i + 1
            else:
                right, j = right * want[j], j + 1
        found.append((range(first, i), range(second, j)))
    return found


def _divides(part: Size, whole: Size) -> bool:
    if part.static == 1:
        return True
    return whole.divided(part) is not None if len(part.terms) == 1 else False


def viewable(strides: Sequence[Size], have: Shape, want: Shape) -> tuple[Size, ...] | None:
    """The strides after a reshape, None where elements of one axis would have no one distance."""
    found: list[Size] = []
    for left, right in reshape_groups(have, want):
        axes = [axis for axis in left if have[axis].static != 1]
        for outer, inner in pairwise(axes):
            if strides[outer] != strides[inner] * have[inner]:
                return None
        step = strides[axes[-1]] if axes else Size(0)
        made: list[Size] = []
        for axis in reversed(right):
            made.append(step)
            step = step * want[axis]
        found += reversed(made)
    return tuple(found)
