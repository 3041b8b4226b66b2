"""Where values lie between kernels: slots that are used again as soon as nothing reads what is in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ALIGNMENT = 8


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
    """The better of two ways: the largest values first, or in the order of time, with slots that grow."""
    largest = sorted(lives, key=lambda life: (-life.nbytes, life.first))
    earliest = sorted(lives, key=lambda life: (life.first, -life.nbytes))
    found = [_placed(order) for order in (largest, earliest)]
    place, sizes = min(found, key=lambda made: sum(made[1]))
    return MemorySlots(place, tuple(sizes), _bound(lives))


def _placed(lives: Sequence[Life]) -> tuple[dict[str, int], list[int]]:
    """Each value in the free slot that grows least for it, and of those in the one it fills best."""
    place: dict[str, int] = {}
    sizes: list[int] = []
    taken: list[list[Life]] = []
    for life in lives:
        wanted = -(-life.nbytes // ALIGNMENT) * ALIGNMENT
        free = [slot for slot, held in enumerate(taken) if not any(_meet(life, other) for other in held)]
        if free:
            slot = min(free, key=lambda slot: (max(0, wanted - sizes[slot]), sizes[slot], slot))
            sizes[slot] = max(sizes[slot], wanted)
            taken[slot].append(life)
        else:
            slot = len(sizes)
            sizes.append(wanted)
            taken.append([life])
        place[life.name] = slot
    return place, sizes


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
