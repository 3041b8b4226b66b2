"""The set of later mutants: new kinds, each used; and rows catch what they once let pass."""

from __future__ import annotations

import pytest

pytest.importorskip("llvmlite")

from lab.mutants.shaped import FAULTS
from lab.mutants.shaped.held_out.table import KNOWN
from lab.mutants.shaped.held_out.unseen.table import OWN
from lab.mutants.shaped.judge import Examiner
from lab.mutants.shaped.later import LATER, later
from lab.mutants.shaped.page import is_inside
from lab.mutants.shaped.roster import members, roster

ONCE_MISSED = (
    "inputs of the run before when run >= 2",
    "results of the run before when run >= 2",
    "loop 4 deep runs once when loop nesting >= 4",
    "last input is the one before when buffers >= 9",
    "grid of the run before when run >= 2",
    "length of the run before when run >= 2",
    "first input of the run before when launch >= 2",
    "results of the other of two threads when threads >= 2",
    "bound read again in every turn when loop nesting >= 2",
)


def test_every_fault_is_new_and_used() -> None:
    assert list(members("later")) == later()
    assert LATER.keys() == {m.fault.name for m in later()}
    assert not LATER.keys() & {*FAULTS, *KNOWN, *OWN}


def test_nearly_all_are_inside_the_envelope() -> None:
    assert sum(map(is_inside, later())) > 0.9 * len(later())


@pytest.fixture(scope="module")
def examiner() -> Examiner:
    return Examiner()


@pytest.mark.parametrize("name", ONCE_MISSED)
def test_what_rows_once_missed_is_caught(examiner: Examiner, name: str) -> None:
    (mutant,) = [m for m in roster() if m.name == name]
    assert examiner.examine(mutant, whole=not is_inside(mutant)).found
