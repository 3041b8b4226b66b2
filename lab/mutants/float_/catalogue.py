"""Every wrong float arithmetic, in a fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.float_ import (
    approximate,
    doubles,
    environment,
    integrals,
    nans,
    reductions,
    rewritten,
    rounding,
    subnormals,
    zeros,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.mutants.mutant import Mutant

FAMILIES = (
    subnormals,
    rounding,
    nans,
    zeros,
    integrals,
    approximate,
    doubles,
    environment,
    reductions,
    rewritten,
)


def mutants() -> Iterator[Mutant]:
    """All of them; names differ."""
    for family in FAMILIES:
        yield from family.mutants()
