"""Lets the stage `shapes` loose on shaped mutants, one row at a time, until a row fails.

    examiner = Examiner()
    fate = examiner.examine(mutant)
    fate.found                          "shapes/integers/17", or "" for a survivor

The dispatches of a row are read once: on a row none of whose dispatches has what the trigger asks for the
mutant is the right backend, so the row is not run again. Rows that should meet the trigger by the table come
first; which row is the first to fail does not matter, whether one does decides.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.mutants.shaped.backend import Shaped
from lab.mutants.shaped.claims import alternatives
from lab.mutants.shaped.quantities import OF_THE_BACKEND, QUANTITIES
from vyre.backends.cpu.backend import CpuBackend
from vyre.conform.records.blocks import PASSED, REFUSED
from vyre.conform.shapes.constraints import cost
from vyre.conform.shapes.rows import ROWS
from vyre.conform.suite.plan import make_plan
from vyre.conform.verify.stages.shapes import STAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lab.mutants.shaped.fault import ShapedMutant
    from lab.mutants.shaped.quantities import Case
    from vyre.conform.records.envelope import Condition

    Reading = Mapping[str, frozenset[int | str]]

COUNTED = frozenset({"loop turns", "loop start", "reduction length"})
"""Quantities for which a program has to be run: read only for those who ask."""

_WEIGHT = ("variables", "expression depth", "float chain", "buffers")
_HEAVY = ("F64", "functions")
"""Payloads that take long to compile."""


@dataclass(frozen=True, slots=True)
class ShapedFate:
    """`struck` are the rows in which the fault struck, as many as were run; `whole` says whether every row
    was considered, and not only those that should meet the trigger by the table."""

    name: str
    found: str
    struck: int
    seconds: float
    whole: bool


class Examiner:
    def __init__(self) -> None:
        self.backend = CpuBackend(threads=1, keep=1 << 20, canaries=False)
        self.plan = make_plan("mutant", ops=("primitive.math.add",), stages=("ops",))
        self.readings: dict[int, list[dict[str, frozenset[int | str]]]] = {}
        self.sound: dict[int, bool] = {}

    def examine(
        self, mutant: ShapedMutant, *, whole: bool = True, begun: Callable[[int], None] = lambda _: None
    ) -> ShapedFate:
        """`begun` is told the number of every row that is run."""
        started, struck = time.perf_counter(), 0
        backend = Shaped(self.backend, mutant)
        for row in ordered(mutant, whole=whole):
            if not self._may_strike(mutant, row):
                continue
            begun(row)
            outcome, hit = self._run(backend, row)
            struck += hit
            if outcome not in (PASSED, REFUSED) and hit and self._passes(row):
                took = time.perf_counter() - started
                return ShapedFate(mutant.name, STAGE.case(row), struck, took, whole)
        return ShapedFate(mutant.name, "", struck, time.perf_counter() - started, whole)

    def _passes(self, row: int) -> bool:
        """Whether a row passes on the right backend, without which its failure says nothing."""
        if row not in self.sound:
            (outcome,) = STAGE.run(self.backend, self.plan, row, row + 1)
            self.sound[row] = outcome.status == PASSED
        return self.sound[row]

    def _may_strike(self, mutant: ShapedMutant, row: int) -> bool:
        asked = {test.quantity for test in mutant.trigger.tests}
        known = self.readings.get(row)
        if known is None or asked & OF_THE_BACKEND or not all(asked <= found.keys() for found in known):
            return True
        return any(mutant.trigger.holds_in(found) for found in known)

    def _run(self, backend: Shaped, row: int) -> tuple[str, bool]:
        asked = {test.quantity for test in backend.mutant.trigger.tests}
        read: list[dict[str, frozenset[int | str]]] = []
        hits: list[bool] = []

        def met(case: Case, hit: bool) -> None:
            hits.append(hit)
            read.append({q: case.values(q) for q in QUANTITIES if q not in COUNTED or q in asked})

        backend.met = met
        (outcome,) = STAGE.run(backend, self.plan, row, row + 1)
        if not any(hits):  # a row that struck may have ended early
            before = self.readings.get(row, [{} for _ in read])
            if len(before) == len(read):
                read = [{**old, **new} for old, new in zip(before, read, strict=True)]
            self.readings[row] = read
        return outcome.status, any(hits)


def ordered(mutant: ShapedMutant, *, whole: bool = True) -> list[int]:
    """The rows, those first that have what the fault asks for, of them the smallest programs.

    Only those, unless the `whole` is asked for.
    """
    wanted = alternatives(mutant)
    meeting = {
        number
        for number, row in enumerate(ROWS)
        if any(all(_has(row, condition) for condition in found) for found in wanted)
    }

    def key(number: int) -> tuple[bool, int]:
        row = ROWS[number]
        nodes = sum(n for n in (row[name] for name in _WEIGHT) if isinstance(n, int))
        return number not in meeting, nodes + cost(row) // 1000 + 500 * (row["payload"] in _HEAVY)

    return sorted(range(len(ROWS)) if whole else meeting, key=key)


def _has(row: Mapping[str, int | str], condition: Condition) -> bool:
    value, level = row[condition.feature], condition.level
    if condition.relation == "=":
        return value == level
    return isinstance(value, int) and isinstance(level, int) and value >= level
