"""What a run with detection tells: findings that name the places, the invocations and the element."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.reference.atomics import History
    from vyre.reference.invocations import InvocationRef


class AccessKind(Enum):
    Read = "read"
    Write = "write"
    Atomic = "atomic"


@dataclass(frozen=True, slots=True)
class Access:
    """One access to memory; `place` is the path of its statement."""

    kind: AccessKind
    place: str
    invocation: InvocationRef

    def __str__(self) -> str:
        return f"{self.kind.value} at {self.place} by {self.invocation}"


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses to one element, at least one a write, not both atomic, unordered (decision 13)."""

    buffer: str
    element: int
    first: Access
    second: Access

    def __str__(self) -> str:
        return f"race on {self.buffer}[{self.element}]: {self.first}; {self.second}"


@dataclass(frozen=True, slots=True)
class OutOfBounds:
    """A defined access beyond the end: it read zero or changed nothing."""

    buffer: str
    index: int
    length: int
    access: Access

    def __str__(self) -> str:
        return f"{self.buffer}[{self.index}] is out of bounds of {self.length} elements: {self.access}"


@dataclass(frozen=True, slots=True)
class UninitialisedRead:
    """A read of workgroup memory that nothing had written; it gave zero."""

    buffer: str
    element: int
    access: Access

    def __str__(self) -> str:
        return f"{self.buffer}[{self.element}] was never written: {self.access}"


@dataclass(frozen=True, slots=True)
class DivergentBarrier:
    """Invocations that had returned while others of their workgroup met at a barrier.

    A returned invocation is not live, so the others go on; but they could not know.
    """

    barrier: str
    waiting: InvocationRef
    returned_at: str
    returned: InvocationRef

    def __str__(self) -> str:
        return (
            f"barrier at {self.barrier} met by {self.waiting}, "
            f"but {self.returned} had returned at {self.returned_at}"
        )


@dataclass(frozen=True, slots=True)
class SpentLoop:
    """A loop that its bound ended, after all its turns; the condition may still have held."""

    loop: str
    invocation: InvocationRef

    def __str__(self) -> str:
        return f"the loop at {self.loop} took all its turns in {self.invocation}"


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of one run. Each is told once for each pair of places, not for every element."""

    races: tuple[Race, ...] = ()
    uninitialised_reads: tuple[UninitialisedRead, ...] = ()
    out_of_bounds: tuple[OutOfBounds, ...] = ()
    divergent_barriers: tuple[DivergentBarrier, ...] = ()
    atomic_history: tuple[History, ...] = ()
    spent_loops: tuple[SpentLoop, ...] = ()

    @property
    def deterministic(self) -> bool:
        """True when no finding lets the result depend on the machine. Out of bounds is defined."""
        return not (self.races or self.uninitialised_reads or self.divergent_barriers)
