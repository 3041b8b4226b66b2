"""Every shaped mutant in the order of the exam."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lab.mutants.shaped.catalogue import mutants
from lab.mutants.shaped.held_out import held_out

if TYPE_CHECKING:
    from lab.mutants.shaped.fault import ShapedMutant


@cache
def roster() -> tuple[ShapedMutant, ...]:
    """The first of every fault first: a run that is ended early has met them all."""
    own = mutants()
    seen: dict[str, int] = {}
    turns: list[tuple[int, int]] = []
    for number, mutant in enumerate(own):
        turns.append((seen.get(mutant.fault.name, 0), number))
        seen[mutant.fault.name] = turns[-1][0] + 1
    return (*(own[number] for _, number in sorted(turns)), *held_out())
