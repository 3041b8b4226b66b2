"""What is wrong where a trigger holds: the program that is compiled, what happens around a run, or both.

    program_fault("lost store", change)         change(program) is compiled in its place
    run_fault("tail kept", around)              around(run, program, buffers, workgroups) runs it
    mutant("lost store", when("loop turns >= 100"))

A fault does not know its trigger, and a trigger does not know its fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.mutants.backend import as_it_is, plainly
from lab.mutants.shaped.trigger import Test, Trigger, test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.mutants.backend import Around, Change


@dataclass(frozen=True, slots=True)
class Fault:
    """`needs` says what a program must have for the fault to show at all: a lost atomic needs an atomic."""

    name: str
    change: Change = as_it_is
    around: Around = plainly
    needs: tuple[Test, ...] = ()


def program_fault(name: str, change: Change, *needs: str) -> Fault:
    return Fault(name, change=change, needs=tuple(map(test, needs)))


def run_fault(name: str, around: Around, *needs: str) -> Fault:
    return Fault(name, around=around, needs=tuple(map(test, needs)))


@dataclass(frozen=True, slots=True)
class ShapedMutant:
    """One wrong backend: a fault that strikes only where the trigger holds. Its name is both."""

    fault: Fault
    trigger: Trigger

    @property
    def name(self) -> str:
        return f"{self.fault.name} when {self.trigger}"


def each(fault: Fault, triggers: Sequence[Trigger]) -> list[ShapedMutant]:
    return [ShapedMutant(fault, trigger) for trigger in triggers]
