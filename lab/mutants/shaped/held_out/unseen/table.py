"""What the tables here name: the faults of this set, and those that were there before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.shaped import ShapedMutant, when
from lab.mutants.shaped.held_out.table import KNOWN
from lab.mutants.shaped.held_out.unseen import (
    faults_in_arithmetic,
    faults_in_drivers,
    faults_in_floats,
    faults_in_flow,
    faults_in_memory,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.mutants.shaped import Fault
    from lab.mutants.shaped.held_out.table import Table

OWN: Mapping[str, Fault] = {
    fault.name: fault
    for family in (
        faults_in_flow,
        faults_in_memory,
        faults_in_arithmetic,
        faults_in_floats,
        faults_in_drivers,
    )
    for fault in family.faults()
}


def mutants(table: Table) -> list[ShapedMutant]:
    return [
        ShapedMutant(OWN.get(name) or KNOWN[name], when(*trigger.split(" and ")))
        for name, triggers in table.items()
        for trigger in triggers
    ]
