"""Every shaped mutant in the order of the exam, and the sets they come in."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lab.mutants.shaped.catalogue import mutants
from lab.mutants.shaped.held_out import held_out
from lab.mutants.shaped.held_out.unseen import unseen
from lab.mutants.shaped.later import later

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.mutants.shaped.fault import ShapedMutant

SETS: Mapping[str, str] = {
    "house": "this house",
    "held-out": "a fresh reader",
    "unseen": "a second fresh reader",
    "later": "this house, after that",
}
"""Names of the sets, and who wrote each."""


@cache
def roster() -> tuple[ShapedMutant, ...]:
    return tuple(mutant for name in SETS for mutant in members(name))


@cache
def members(name: str) -> tuple[ShapedMutant, ...]:
    """Of one set."""
    match name:
        case "held-out":
            return tuple(held_out())
        case "unseen":
            return tuple(unseen())
        case "later":
            return tuple(later())
        case _:
            return _house()


def _house() -> tuple[ShapedMutant, ...]:
    """The first of every fault first: a run that is ended early has met them all."""
    own = mutants()
    seen: dict[str, int] = {}
    turns: list[tuple[int, int]] = []
    for number, mutant in enumerate(own):
        turns.append((seen.get(mutant.fault.name, 0), number))
        seen[mutant.fault.name] = turns[-1][0] + 1
    return tuple(own[number] for _, number in sorted(turns))
