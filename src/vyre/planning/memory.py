"""Where values lie between kernels: slots that are used again as soon as nothing reads what is in them."""

from __future__ import annotations

from bisect import bisect, insort
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ALIGNMENT = 8
_NEVER = 1 << 62


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


_ORDERS: tuple[Callable[[Life], tuple[int, int]], ...] = (
    lambda life: (-life.nbytes, life.first),
    lambda life: (-life.nbytes, life.first - life.last),
    lambda life: (life.first, -life.nbytes),
    lambda life: (-life.last, -life.nbytes),
)


def shared(lives: Sequence[Life]) -> MemorySlots:
    """The best of a few ways: values in several orders, each in a tight or in a roomy slot that is free."""
    orders = [sorted(lives, key=key) for key in _ORDERS]
    found = [_placed(order, tight=tight) for order in orders for tight in (True, False)]
    place, sizes = min(found, key=lambda made: sum(made[1]))
    return MemorySlots(place, tuple(sizes), _bound(lives))


def _placed(lives: Sequence[Life], *, tight: bool) -> tuple[dict[str, int], list[int]]:
    """Each value in the free slot that grows least for it; of those in the smallest or the largest."""
    place: dict[str, int] = {}
    sizes: list[int] = []
    taken: list[list[tuple[int, int]]] = []
    for life in lives:
        wanted = -(-life.nbytes // ALIGNMENT) * ALIGNMENT
        best: tuple[int, int, int] | None = None
        for slot, size in enumerate(sizes):
            if _is_free(taken[slot], life):
                rank = (max(0, wanted - size), size if tight else -size, slot)
                best = rank if best is None or rank < best else best
        if best is None:
            slot = len(sizes)
            sizes.append(wanted)
            taken.append([])
        else:
            slot = best[2]
            sizes[slot] = max(sizes[slot], wanted)
        insort(taken[slot], (life.first, life.last))
        place[life.name] = slot
    return place, sizes


def _is_free(held: list[tuple[int, int]], life: Life) -> bool:
    """Whether nothing in a slot, in the order of time, meets a value; what is there does not overlap."""
    behind = bisect(held, (life.last, _NEVER))
    return behind == 0 or held[behind - 1][1] < life.first


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
