"""In which order invocations run. A race-free program gives the same bytes under every schedule."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vyre.reference.invocations import Invocation


class Order(Enum):
    Forward = "forward"
    Reversed = "reversed"
    Random = "random"


@dataclass(frozen=True, slots=True)
class Schedule:
    """An order of turns. A turn lasts to the next barrier or the end; with `interleave`, only to the
    next access to memory. Interleaving mixes `workgroups_in_flight` workgroups as well."""

    order: Order = Order.Forward
    interleave: bool = False
    seed: int = 0
    workgroups_in_flight: int = 4

    @classmethod
    def forward(cls) -> Schedule:
        return cls()

    @classmethod
    def reversed(cls) -> Schedule:
        return cls(Order.Reversed)

    @classmethod
    def random(cls, seed: int) -> Schedule:
        return cls(Order.Random, seed=seed)

    @classmethod
    def interleaved(cls) -> Schedule:
        """Round robin: every invocation makes one access, then the next one does."""
        return cls(interleave=True)

    @classmethod
    def random_interleaving(cls, seed: int) -> Schedule:
        """A random invocation makes the next access, every time."""
        return cls(Order.Random, interleave=True, seed=seed)

    def generator(self) -> random.Random:
        return random.Random(self.seed)

    def workgroups(self, count: int, rng: random.Random) -> Sequence[int]:
        """The order of the workgroups, by linear number."""
        match self.order:
            case Order.Forward:
                return range(count)
            case Order.Reversed:
                return range(count - 1, -1, -1)
            case Order.Random:
                return rng.sample(range(count), count)

    def turns(self, running: list[Invocation], rng: random.Random) -> Iterator[Invocation]:
        """One round of turns among these. A random interleaving may leave one out, or repeat one."""
        match self.order:
            case Order.Forward:
                return iter(running)
            case Order.Reversed:
                return reversed(running)
            case Order.Random if self.interleave:
                return iter(rng.choices(running, k=len(running)))
            case Order.Random:
                return iter(rng.sample(running, len(running)))


def all_schedules(seed: int = 0) -> tuple[Schedule, ...]:
    """One schedule of each kind, for checks that every order gives the same result."""
    return (
        Schedule.forward(),
        Schedule.reversed(),
        Schedule.random(seed),
        Schedule.interleaved(),
        Schedule.random_interleaving(seed),
    )
