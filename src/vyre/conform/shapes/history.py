"""The runs of a case: how many there are, and which of its memories each of them takes.

    order(row)                  (0, 1, 0, 2, ALONE, 0): the memory of each run, in turn
    memories(row)               how many memories that needs
    others(words, 1)            other bytes in the place of these

A backend that keeps something of the run before is right as long as every run is like the one before. So the
second memory has the sizes of the first and other bytes in every buffer; the third, which only small cases
have, has another length too. A run of one workgroup comes between, so that a grid that is kept shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.process.entrances import ALONE
from vyre.conform.shapes.constraints import cost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.conform.shapes.features import Level

    Row = Mapping[str, Level]
    Words = NDArray[np.uint32]

_SMALL = 1 << 16
"""Turns of a run up to which it is repeated more often than the table says."""

_PATTERNS = (0, 0xA5C3_8101, 0x3C5A_1881)
"""What is different about the bits of a memory; the lowest always is, which is all that a Bool has."""

_READ = 61
"""Elements that classes read, besides the last one."""


def order(row: Row) -> tuple[int, ...]:
    small = cost(row) <= _SMALL
    match row["dispatch"]:
        case "again":
            longer = 1 if row["loop bounds"] == "length" else 2
            return (0, 1, 0, longer, ALONE, 0) if small else (0, 1, 0)
        case "interleaved":
            return (0, 1, 0) if small else (0, 1)
        case "threads":
            return (0, 1, 0, 1) if small else (0, 1)
        case _:
            return (0,)


def memories(row: Row) -> int:
    return max(2 if row["entrance"] == "bind again" else 1, *(n + 1 for n in order(row)))


def others(words: Words, memory: int, *, few: bool = False) -> Words:
    """The words of another memory.

    Of words that the classes of invocations read, as `few` says, those are other that no class reads, or one
    where there are none: what the reference has said of a class holds as long as its words are the same.
    """
    if not memory:
        return words
    changed = words ^ np.uint32(_PATTERNS[memory])
    if not few or len(words) < 2:
        return changed
    place = np.arange(len(words))
    unread = (place >= _READ) & (place < len(words) - 1)
    return np.where(unread if unread.any() else place == (len(words) - 1) // 2, changed, words)
