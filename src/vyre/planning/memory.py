"""Where values lie between kernels: slots that are used again as soon as nothing reads what is in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ALIGNMENT = 16


@dataclass(frozen=True, slots=True)
class Life:
    """A value in memory from the kernel that writes it to the last one that reads it."""

    name: str
    nbytes: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class MemorySlots:
    """`place` says in which slot a value lies, `sizes` how many bytes each slot has.

    `bound` is the most that is alive at one time: no way to share memory can need less.
    """

    place: Mapping[str, int]
    sizes: tuple[int, ...]
    bound: int

    @property
    def peak(self) -> int:
        return sum(self.sizes)


def shared(lives: Sequence[Life]) -> MemorySlots:
    """The largest first, each in the smallest slot that is free for as long as the value is needed."""
    place: dict[str, int] = {}
    sizes: list[int] = []
    taken: list[list[Life]] = []
    for life in sorted(lives, key=lambda life: (-life.nbytes, life.first)):
        free = [slot for slot, held in enumerate(taken) if not any(_meet(life, other) for other in held)]
        if free:
            slot = min(free, key=lambda slot: (sizes[slot], slot))
            taken[slot].append(life)
        else:
            slot = len(sizes)
            sizes.append(-(-life.nbytes // ALIGNMENT) * ALIGNMENT)
            taken.append([life])
        place[life.name] = slot
    return MemorySlots(place, tuple(sizes), _bound(lives))


def _meet(a: Life, b: Life) -> bool:
    return a.first <= b.last and b.first <= a.last


def _bound(lives: Sequence[Life]) -> int:
    change: dict[int, int] = {}
    for life in lives:
        change[life.first] = change.get(life.first, 0) + life.nbytes
        change[life.last + 1] = change.get(life.last + 1, 0) - life.nbytes
    most = held = 0
    for moment in sorted(change):
        held += change[moment]
        most = max(most, held)
    return most
