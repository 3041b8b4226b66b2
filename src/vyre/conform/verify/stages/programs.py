"""Generated programs: on the backend against the reference, and again after a trip through the wire form."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.backends.execute import run_bytes
from vyre.compose.inline import inline
from vyre.conform.diff.differential import (
    DOUBLE_PROGRAMS,
    FLOAT_PROGRAMS,
    FUNCTION_PROGRAMS,
    INTEGER_PROGRAMS,
)
from vyre.conform.generate.programs import generate_program
from vyre.conform.process.inspection import inspect
from vyre.conform.verify.stage import FAILED, PASSED, Outcome, attempt, exactly
from vyre.errors import UnsupportedByBackend
from vyre.reference import run
from vyre.wire import decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.backends.protocol import Backend
    from vyre.conform.generate.programs import GeneratedProgram, ProgramOptions
    from vyre.conform.records.results import RunPlan

WIRE_PROGRAMS = 48
_QUESTIONS = 400
"""How often a failing program is run to make it smaller."""


class Programs:
    """Random valid programs; every byte of every ReadWrite buffer must be the reference's."""

    group = 16

    def __init__(
        self, name: str, kinds: Sequence[tuple[str, ProgramOptions]], count: Callable[[int], int]
    ) -> None:
        self.name = name
        self._kinds = tuple(kinds)
        self._count = count

    def count(self, plan: RunPlan) -> int:
        return self._count(plan.programs)

    def run(self, backend: Backend, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        return [self._one(backend, plan, number) for number in range(lo, hi)]

    def _made(self, plan: RunPlan, number: int) -> tuple[str, GeneratedProgram]:
        subject, options = self._kinds[number % len(self._kinds)]
        return subject, generate_program(plan.seed + number, options)

    def _one(self, backend: Backend, plan: RunPlan, number: int) -> Outcome:
        subject, made = self._made(plan, number)
        name = f"{self.name}/{subject}/{number}"

        def ask() -> Outcome:
            wrong = _wrong(backend, made)
            if wrong is None:
                return Outcome(name, subject, PASSED)
            return Outcome(name, subject, FAILED, "value", *wrong, program=str(made.program))

        return attempt(name, subject, made.program, ask)

    def explain(self, backend: Backend, plan: RunPlan, case: str) -> Outcome:
        """The outcome of a failing case again, on the smallest program that still fails."""
        subject, made = self._made(plan, int(case.rpartition("/")[2]))
        return attempt(case, subject, made.program, lambda: _explained(backend, case, subject, made))


def _wrong(backend: Backend, made: GeneratedProgram) -> tuple[tuple[str, ...], str, str] | None:
    program = inline(made.program)
    expected = run(program, made.inputs, made.workgroups, check=False).buffers
    found = run_bytes(backend.compile(program), program, made.inputs, made.workgroups)
    return exactly(expected)(found)


def _explained(backend: Backend, name: str, subject: str, made: GeneratedProgram) -> Outcome:
    """The failure of the smallest program that still fails."""
    from vyre.conform.diff.shrink import shrink_program

    def still_fails(candidate: GeneratedProgram) -> bool:
        try:
            return _wrong(backend, candidate) is not None
        except UnsupportedByBackend:
            return False

    note, small = "", made
    try:
        small = shrink_program(made, still_fails, questions=_QUESTIONS)
    except Exception as error:  # a backend that answers otherwise when asked again
        note = f"not made smaller: {error}"
    wrong = _wrong(backend, small)
    if wrong is None:
        return Outcome(name, subject, PASSED)
    source = inspect(backend.compile(inline(small.program))).source
    inputs = tuple(f"{k} = {v.hex()}" for k, v in small.inputs.items())
    return Outcome(
        name,
        subject,
        FAILED,
        "value",
        (*wrong[0], *inputs),
        wrong[1],
        wrong[2],
        note,
        str(small.program),
        source,
    )


class Wire:
    """Invariant I4: a decoded program is the same program, and does the same on the backend."""

    name = "wire"
    group = 16

    def count(self, plan: RunPlan) -> int:
        return min(WIRE_PROGRAMS, plan.programs)

    def run(self, backend: Backend, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        return [self._one(backend, plan, number) for number in range(lo, hi)]

    def _one(self, backend: Backend, plan: RunPlan, number: int) -> Outcome:
        name = f"wire/integer/{number}"
        made = generate_program(plan.seed + number, INTEGER_PROGRAMS)
        program = inline(made.program)

        def ask() -> Outcome:
            again = decode(encode(program))
            outcome = Outcome(name, "integer", FAILED, "value", (), program=program.to_text())
            if again != program or encode(again) != encode(program):
                return replace(outcome, expected="the same program", actual=again.to_text())
            first = run_bytes(backend.compile(program), program, made.inputs, made.workgroups)
            second = run_bytes(backend.compile(again), again, made.inputs, made.workgroups)
            wrong = exactly(first)(second)
            if wrong is not None:
                return replace(outcome, inputs=wrong[0], expected=wrong[1], actual=wrong[2])
            return Outcome(name, "integer", PASSED)

        return attempt(name, "integer", program, ask)


PROGRAMS = Programs("programs", (("integer", INTEGER_PROGRAMS),), lambda programs: programs)
FLOATS = Programs(
    "float_programs",
    (*(("F32", FLOAT_PROGRAMS),) * 6, ("F64", DOUBLE_PROGRAMS), ("functions F32", FUNCTION_PROGRAMS)),
    lambda programs: -(-programs // 8),
)
"""A stage of its own, so that a number names the same program in every plan. Fewer: they compile longer."""
WIRE = Wire()
