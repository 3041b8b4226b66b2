"""The second set of shaped mutants: sound as a set, and every fault of its own shows somewhere."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import pytest

from lab.mutants.shaped import ShapedMutant, when, wrong
from lab.mutants.shaped.held_out.table import KNOWN
from lab.mutants.shaped.held_out.unseen import unseen
from lab.mutants.shaped.held_out.unseen.table import OWN
from lab.mutants.shaped.roster import SETS, members, roster
from tests.lab.mutants.unseen_programs import PROGRAMS, Run
from vyre.backends.cpu.backend import CpuBackend

if TYPE_CHECKING:
    from lab.mutants.shaped import Fault

RIGHT = ShapedMutant(KNOWN["nothing runs"], when("workgroup x >= 1000000"))


@cache
def cpu() -> CpuBackend:
    return CpuBackend(threads=1, canaries=False)


def results(mutant: ShapedMutant, run: Run) -> list[bytes]:
    """Every buffer after two runs, of which the second has other inputs."""
    compiled = wrong(cpu(), mutant).compile(run.program)
    found = list[bytes]()
    for number in (1, 2):
        memory = {name: bytearray(data) for name, data in run.data(number).items()}
        compiled.run({name: memoryview(data) for name, data in memory.items()}, run.grid)
        found += map(bytes, memory.values())
    return found


@cache
def right(name: str) -> list[bytes]:
    return results(RIGHT, PROGRAMS[name])


def shows(fault: Fault, name: str) -> bool:
    run = PROGRAMS[name]
    if fault.change(run.program) == run.program and fault.around is RIGHT.fault.around:
        return False
    return results(ShapedMutant(fault, when()), run) != right(name)


def test_names_differ_in_the_whole_roster_and_one_or_two_conditions_are_asked() -> None:
    assert not [name for name, n in Counter(m.name for m in roster()).items() if n > 1]
    assert {len(m.trigger.tests) for m in unseen()} == {1, 2}
    assert len(unseen()) >= 400


def test_the_roster_is_its_sets_one_after_the_other() -> None:
    assert [m for name in SETS for m in members(name)] == list(roster())
    assert list(members("unseen")) == unseen()


def test_every_fault_of_its_own_is_used_and_new() -> None:
    assert OWN.keys() <= {m.fault.name for m in unseen()}
    assert not OWN.keys() & KNOWN.keys()


@pytest.mark.parametrize("name", OWN)
def test_a_fault_shows(name: str) -> None:
    assert any(shows(OWN[name], program) for program in PROGRAMS)
