"""The stored failures of a backend as a stage, before all others: each must have gone away.

A class or boundary that met no case is looked for again among the cases that the generators make now; one
that is no longer declared has not gone away, it was taken out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.conform.registry import specs
from vyre.conform.verify.named import COVERAGE, run_named
from vyre.conform.verify.stage import FAILED, REFUSED, Outcome
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.backends.protocol import Backend
    from vyre.conform.records.results import Failure, RunPlan
    from vyre.conform.verify.bench import Bench
    from vyre.conform.verify.stage import Stage


class Regressions:
    """Each stored failure is a case."""

    name = "regressions"
    group = 1

    def __init__(self, stored: Sequence[Failure], bench: Bench, stages: Mapping[str, Stage]) -> None:
        self._stored = stored
        self._bench = bench
        self._stages = stages

    def count(self, plan: RunPlan) -> int:
        return len(self._stored)

    def run(self, backend: Backend, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        return [self._one(failure, plan) for failure in self._stored[lo:hi]]

    def _one(self, failure: Failure, plan: RunPlan) -> Outcome:
        subject, name = failure.op or failure.stage, failure.smallest
        covers = failure.kind == "coverage"
        if covers and failure.inputs:  # what is missing stands there, and once not in the name
            name = f"{failure.op}/{COVERAGE}/{failure.inputs[0]}"
        then = replace(plan, seed=failure.seed, programs=1 << 32, ops=tuple(s.id for s in specs()))
        try:
            report = run_named(self._bench, name, then, self._stages)
            for _ in range(plan.repeats - 1):
                if not report.failed and not covers:
                    report = run_named(self._bench, name, then, self._stages)
        except VyreError as error:
            if covers:
                return Outcome(
                    name, subject, FAILED, "coverage", failure.inputs, failure.expected, error.message,
                    "seen before",
                )  # fmt: skip
            return Outcome(name, subject, REFUSED, actual=error.message)
        return Outcome(
            name, subject, report.status, report.kind, report.inputs, report.expected,
            report.actual, "seen before", report.program, report.source,
        )  # fmt: skip
