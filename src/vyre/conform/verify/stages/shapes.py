"""Shapes: a payload of every family through programs and dispatches of every size, depth, count and entrance.

One case for each row of `vyre.conform.shapes.rows`. What a device does not take is lowered to what it does,
and the note of the outcome says to what; the pairs of levels that such an outcome stands for are those of the
row that was run (`ran`). A failing row is made small along its features, and then as a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.process.inspection import inspect
from vyre.conform.records.blocks import FAILED, PASSED, REFUSED, Outcome
from vyre.conform.shapes.build import build
from vyre.conform.shapes.constraints import cost
from vyre.conform.shapes.entrances import offered
from vyre.conform.shapes.features import CHOSEN
from vyre.conform.shapes.lowering import lowered
from vyre.conform.shapes.rows import ELEMENT, ROWS, fitted, parted
from vyre.conform.verify.stage import attempt
from vyre.conform.verify.stages.shapes_small import first_wrong, made_small
from vyre.errors import UnsupportedByBackend

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.backends.protocol import Backend
    from vyre.conform.records.results import RunPlan
    from vyre.conform.shapes.build import Case
    from vyre.conform.shapes.features import Level
    from vyre.conform.verify.stages.shapes_small import Wrong

    Row = Mapping[str, Level]

INTERPRETED = 1 << 14
"""The most turns that a case costs on the interpreter, which takes minutes for more."""

_SEPARATOR = "; "
_OPTIONAL, _INSTEAD = "F64", "F32 arithmetic"
"""The one payload that a lawful backend may refuse, and what such a backend runs in its place."""


class Shapes:
    """Every row of the covering array, each a case of its payload's family."""

    name = "shapes"
    group = 8

    def count(self, plan: RunPlan) -> int:
        """All rows, or the first of them in a run of fewer programs."""
        return min(len(ROWS), plan.programs)

    def subject(self, number: int) -> str:
        """What case `number` is about."""
        return str(ROWS[number]["payload"])

    def case(self, number: int) -> str:
        return f"{self.name}/{self.subject(number)}/{number}"

    def run(self, backend: Backend, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        return [self._one(backend, plan.seed, number) for number in range(lo, hi)]

    def _one(self, backend: Backend, seed: int, number: int) -> Outcome:
        name, subject = self.case(number), self.subject(number)
        row = fitted(ROWS[number], backend.describe().limits)
        if backend.describe().device == "interpreter" and cost(row) > INTERPRETED:
            return Outcome(name, subject, REFUSED, actual="left out for its cost on an interpreter")
        first, *others = parted(row)
        found = self._part(backend, seed, number, first)
        for part in others:
            found = self._part(backend, seed, number, part) if found.status == PASSED else found
        return found

    def _part(self, backend: Backend, seed: int, number: int, row: Row) -> Outcome:
        name, subject = self.case(number), self.subject(number)
        made = build(row, seed + number)

        def ask() -> Outcome:
            try:
                used, wrong = _wrong(backend, row, made)
            except UnsupportedByBackend:
                if row["payload"] != _OPTIONAL:
                    raise
                other = {**row, "payload": _INSTEAD}
                used, wrong = _wrong(backend, other, build(other, seed + number))
            note = _note({**ROWS[number], ELEMENT: row[ELEMENT]}, used)
            if wrong is None:
                return Outcome(name, subject, PASSED, note=note)
            return Outcome(name, subject, FAILED, "value", *wrong, note, made.program.to_text())

        return attempt(name, subject, made.program, ask)

    def explain(self, backend: Backend, plan: RunPlan, case: str) -> Outcome:
        """The outcome of a failing case again, on the lowest row that still fails; passed where none does."""
        number = int(case.rpartition("/")[2])
        row = fitted(ROWS[number], backend.describe().limits)
        seed = plan.seed + number

        def fails(candidate: Row) -> bool:
            try:
                return _wrong(backend, candidate, build(candidate, seed))[1] is not None
            except UnsupportedByBackend:
                return False

        def ask() -> Outcome:
            subject = self.subject(number)
            failing = next(filter(fails, parted(row)), None)
            if failing is None:
                return Outcome(case, subject, PASSED)
            small = lowered(failing, fails)
            made = build(small.row, seed)
            _, wrong = _wrong(backend, small.row, made)
            if wrong is None:
                return Outcome(case, subject, PASSED)
            least = made_small(backend, made, wrong)
            source = inspect(backend.compile(least.case.program)).source
            note = f"{small.sentence}; {least.note}"
            return Outcome(
                case, subject, FAILED, "value", *least.wrong, note, least.case.program.to_text(), source
            )

        return attempt(case, self.subject(number), None, ask)


def _wrong(backend: Backend, row: Row, made: Case) -> tuple[Row, Wrong | None]:
    """The row as it was run, and the first thing that is wrong."""
    executable = backend.compile(made.program)
    used = dict(row)
    if made.entrance not in offered(backend, executable):
        used["entrance"] = "run"
        made = made.by("run")
    return used, first_wrong(backend, executable, made)


def _note(row: Row, used: Row) -> str:
    """What differs from the row as it is listed."""
    return _SEPARATOR.join(f"{n} = {used[n]}" for n in CHOSEN if used[n] != row[n])


def ran(outcome: Outcome) -> dict[str, Level]:
    """The levels that a case which gave a result was run with."""
    found = dict(ROWS[int(outcome.case.rpartition("/")[2])])
    for part in filter(None, outcome.note.split(_SEPARATOR)):
        name, _, level = part.partition(" = ")
        found[name] = int(level) if isinstance(CHOSEN[name].levels[0], int) else level
    return found


STAGE = Shapes()
