"""The program of a failing case made small: statements, expressions, buffers and grid, to what still fails.

    first_wrong(backend, executable, case)       the first byte that is not as it must be
    made_small(backend, case, wrong)             the least case that still fails

What a smaller program must leave is said by the reference, so a case that is too large for it stays as it
is. A candidate is asked about by the entrance and in the pattern of the case.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from vyre.conform.diff.shrink import is_sound, shrink_program
from vyre.conform.generate.programs import GeneratedProgram
from vyre.conform.process.entrances import ALONE
from vyre.conform.shapes.build import PLACES, CaseMemory
from vyre.conform.shapes.entrances import performed
from vyre.conform.verify.stage import exactly
from vyre.errors import UnsupportedByBackend
from vyre.reference import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.backends.protocol import Backend, Executable
    from vyre.conform.shapes.build import Case

    Wrong = tuple[tuple[str, ...], str, str]

QUESTIONS = 120
CANDIDATES = 300
STEPS = 50_000
"""How often the backend is asked, how many programs are looked at, and the steps that the reference takes for
one: half a minute in all."""

SHOWN = 64
"""Bytes of an input up to which it is written out."""


@dataclass(frozen=True, slots=True)
class Small:
    """A case, what is wrong about it, and how it came about."""

    case: Case
    wrong: Wrong
    note: str


def first_wrong(backend: Backend, executable: Executable, case: Case) -> Wrong | None:
    """Of all runs of a case, by its entrance and in its pattern."""
    for number, found in performed(backend, executable, case):
        wrong = (
            _outside(case, ALONE - number, found)
            if number <= ALONE
            else exactly(case.memories[number].expected)(found)
        )
        if wrong is not None:
            return wrong
    return None


def _outside(case: Case, memory: int, found: Mapping[str, bytes]) -> Wrong | None:
    """What a run of the first workgroup alone changed of the places of others."""
    first = 4 * prod(case.program.workgroup_size)
    return exactly({PLACES: case.memories[memory].inputs[PLACES][first:]})({PLACES: found[PLACES][first:]})


def made_small(backend: Backend, case: Case, wrong: Wrong) -> Small:
    """The least case that still fails, or this one where none that is smaller does."""
    first = GeneratedProgram(0, case.program, dict(case.inputs), case.workgroups)

    def still_fails(candidate: GeneratedProgram) -> bool:
        if candidate is first:
            return True
        try:
            return _wrong(backend, _case(case, candidate)) is not None
        except UnsupportedByBackend:
            return False

    found = shrink_program(first, still_fails, questions=QUESTIONS, candidates=CANDIDATES, steps=STEPS)
    if found is first:
        return Small(case, wrong, "no smaller program was found that fails")
    small = _case(case, found)
    again = _wrong(backend, small)
    if again is None:
        return Small(case, wrong, "a smaller program failed once, and then did not")
    inputs = (f"{name} = {data.hex()}" for name, data in small.inputs.items() if len(data) <= SHOWN)
    return Small(small, ((*again[0], *inputs), *again[1:]), f"in workgroups {small.workgroups}")


def _wrong(backend: Backend, case: Case) -> Wrong | None:
    return first_wrong(backend, backend.compile(case.program), case)


def _case(case: Case, found: GeneratedProgram) -> Case:
    """The case of a smaller program, which the reference has run to its end before; its other memories are
    those of the case, as far as the smaller program has them and ends."""

    def memory(inputs: Mapping[str, bytes]) -> CaseMemory:
        return CaseMemory(inputs, run(found.program, inputs, found.workgroups, check=False).buffers)

    first = memory(found.inputs)
    memories = [first]
    for given in case.memories[1:]:
        other = {n: given.inputs[n][: len(d)].ljust(len(d), b"\0") for n, d in found.inputs.items()}
        sound = is_sound(replace(found, inputs=other), steps=STEPS)
        memories.append(memory(other) if sound else first)
    order = tuple(number for number in case.order if number != ALONE)
    return replace(
        case, program=found.program, memories=tuple(memories), workgroups=found.workgroups, order=order
    )
