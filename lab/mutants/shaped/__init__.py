"""Shaped mutants: backends that are right until a dispatch has a certain shape.

A mutant is data: a fault, and a trigger that says when it strikes.

    from lab.mutants.shaped import FAULTS, ShapedMutant, when, wrong

    MUTANTS = [
        ShapedMutant(FAULTS["last turn lost"], when("loop turns >= 1000")),
        ShapedMutant(FAULTS["last byte kept"], when("workgroup x odd", "buffer elements mod 4 = 3")),
        ShapedMutant(FAULTS["wrong stores"], when("access = Uniform")),
    ]
    backend = wrong(CpuBackend(), MUTANTS[0])       a backend like any other, with all ways in

- Faults: `FAULTS` by name (the modules `faults_in_…`). One more is made of a function,
  `program_fault(name, change, *needs)` with `change(program) -> Program`, or
  `run_fault(name, around, *needs)` with `around(run, program, buffers, workgroups)`. `rewrites.py` has short
  ways to change programs. `needs` are tests, written as in a trigger, for what a program must have for the
  fault to show at all.
- Triggers: `when(*tests)`, each `NAME >= N`, `NAME = X`, `NAME odd` or `NAME mod N = R`. `QUANTITIES` has the
  names and what each is. All tests must hold; a quantity with several values (a program has several buffers)
  fulfils a test where one of them does.

The mutants of a module in `held_out/` and `held_out/unseen/` are its `MUTANTS`; those of this house are in
`catalogue.py` and `later/`. `roster.py` has all of them, by set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.mutants.shaped import faults_in_parts, faults_in_runs, faults_in_statements, faults_in_values
from lab.mutants.shaped.backend import Shaped
from lab.mutants.shaped.fault import Fault, ShapedMutant, program_fault, run_fault
from lab.mutants.shaped.quantities import QUANTITIES
from lab.mutants.shaped.trigger import Trigger, when

if TYPE_CHECKING:
    from collections.abc import Mapping

FAULTS: Mapping[str, Fault] = {
    fault.name: fault
    for family in (faults_in_statements, faults_in_values, faults_in_runs, faults_in_parts)
    for fault in family.faults()
}


def wrong(inner: Any, mutant: ShapedMutant) -> Shaped:
    """The backend `inner` with this fault; `inner` keeps its memory on the host, as `cpu` does."""
    return Shaped(inner, mutant)


__all__ = [
    "FAULTS",
    "QUANTITIES",
    "Fault",
    "Shaped",
    "ShapedMutant",
    "Trigger",
    "program_fault",
    "run_fault",
    "when",
    "wrong",
]
