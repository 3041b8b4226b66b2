"""Wrong backends from a table: a fault by name, and for each of its triggers the tests joined by ` and `.

MUTANTS = mutants({"last turn lost": ("loop turns >= 65536", "loops >= 2 and workgroup x odd")})
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.shaped import FAULTS, ShapedMutant, when
from lab.mutants.shaped.held_out import (
    faults_of_arithmetic,
    faults_of_compilers,
    faults_of_floats,
    faults_of_runtimes,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.mutants.shaped import Fault

    Table = Mapping[str, tuple[str, ...]]

KNOWN: Mapping[str, Fault] = {
    **FAULTS,
    **{
        fault.name: fault
        for family in (faults_of_compilers, faults_of_arithmetic, faults_of_floats, faults_of_runtimes)
        for fault in family.faults()
    },
}


def mutants(table: Table) -> list[ShapedMutant]:
    return [
        ShapedMutant(KNOWN[name], when(*trigger.split(" and ")))
        for name, triggers in table.items()
        for trigger in triggers
    ]
