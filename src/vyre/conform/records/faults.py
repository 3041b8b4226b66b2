"""Failures as they are recorded: the same words for one run, a resumed one and merged shards."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vyre.conform.records.results import Failure

if TYPE_CHECKING:
    from vyre.conform.records.results import FailingRange, RunPlan

OPS = "ops"
EXPLAINED = 3
"""Failing cases of a stage that are made small; each takes hundreds of runs."""


@dataclass(frozen=True, slots=True)
class Faults:
    """Makes the failures of one plan; `target` is what a replay command names."""

    plan: RunPlan
    target: str

    def failure(
        self, stage: str, op: str, case: str, smallest: str, kind: str, inputs: tuple[str, ...],
        expected: str, actual: str, found: tuple[str, ...], count: int, note: str, program: str, source: str,
        failing: tuple[FailingRange, ...] = (),
    ) -> Failure:  # fmt: skip
        who = f"--backend-class {self.target}" if ":" in self.target else self.target
        replay = f"vyre certify {who} --seed {self.plan.seed} --case {shlex.quote(smallest)}"
        return Failure(
            self.plan.backend, stage, op, case, smallest, kind, inputs, expected, actual, found, count,
            self.plan.seed, note, program, source, replay, failing,
        )  # fmt: skip

    def coverage(self, op: str, missing: str) -> Failure:
        """A declared class or boundary that no case of a whole run had."""
        return self.failure(
            OPS, op, f"{op}/coverage/{missing}", f"{op}/coverage/{missing}", "coverage", (missing,),
            "at least one case", "none", (), 0, "", "", "",
        )  # fmt: skip

    def of_stage(self, stage: str, outcome: dict[str, Any]) -> Failure:
        """A failed case of a stage."""
        inputs = tuple(outcome["inputs"])
        return self.failure(
            stage, "", outcome["case"], outcome["case"], outcome["kind"], inputs, outcome["expected"],
            outcome["actual"], inputs, 1, outcome["note"], outcome["program"], outcome["source"],
        )  # fmt: skip
