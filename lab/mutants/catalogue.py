"""Every wrong backend there is, in a fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants import atomics, emitted, lowering, memory, runtime, shapes, structure, values
from lab.mutants.float_ import catalogue as floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.mutants.mutant import Mutant

FAMILIES = (values, lowering, shapes, memory, atomics, structure, runtime, floats)
"""Those that need nothing but to be named; the emitted ones have to be compiled first."""


def mutants(*, with_emitted: bool = True) -> Iterator[Mutant]:
    """All of them; names differ."""
    for family in FAMILIES:
        yield from family.mutants()
    if with_emitted:
        yield from emitted.mutants()


def one_of_each_kind() -> list[Mutant]:
    """The first of every kind."""
    found: dict[str, Mutant] = {}
    for mutant in (*mutants(with_emitted=False), next(emitted.mutants())):
        found.setdefault(mutant.kind, mutant)
    return list(found.values())
