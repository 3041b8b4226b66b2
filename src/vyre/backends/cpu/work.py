"""How much a run is: about, which decides whether it is worth a second thread, and at most, which decides
whether the main thread may do it itself or must be free for an interrupt.

The bound is in nodes of the prepared program. A loop counts as often as its bounds allow: a literal, the
length of a buffer, or arithmetic on these; where nothing is known, 2^32 times. Both are data, so that they
are kept on disk with the kernel that they are about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    Step = tuple[str, int, int]
    """What is computed, and of what: a number, the place of a buffer, or the places of earlier steps. What a
    quotient is divided by is a number."""

NUMBER, LENGTH, SUM, PRODUCT, QUOTIENT = "number", "length", "sum", "product", "quotient"
_MOST = 0xFFFF_FFFF

GUESSED_TURNS = 64
"""A guess at how often the body of a loop runs, where the lengths of buffers do not say more."""


@dataclass(frozen=True, slots=True)
class Work:
    """An upper bound of the nodes that one invocation executes: `fixed`, and in loops `looped`, each a weight
    and the steps that say how often its loops turn."""

    fixed: int
    looped: tuple[tuple[int, tuple[int, ...]], ...]
    steps: tuple[Step, ...]

    def most(self, lengths: Sequence[int]) -> int:
        """For buffers of so many elements."""
        values: list[int] = []
        for kind, first, second in self.steps:
            if kind == NUMBER:
                value = first
            elif kind == LENGTH:
                value = lengths[first]
            elif kind == SUM:
                value = values[first] + values[second]
            elif kind == QUOTIENT:
                value = values[first] // second
            else:
                value = values[first] * values[second]
            values.append(min(_MOST, value))
        total = self.fixed
        for weight, loops in self.looped:
            for turns in loops:
                weight *= values[turns]
            total += weight
        return total


@dataclass(frozen=True, slots=True)
class Guess:
    """About what one invocation executes: `fixed` nodes, and `looped` in each turn of its outermost loops."""

    fixed: int
    looped: int

    def about(self, invocations: int, longest: int) -> int:
        """For all invocations. Where they are few, their loops share the elements of the longest buffer."""
        return invocations * self.fixed + self.looped * max(invocations * GUESSED_TURNS, longest)
