"""Failures as they are recorded: the same words for one run, a resumed one and merged shards."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.records.results import Failure

if TYPE_CHECKING:
    from vyre.conform.records.blocks import Outcome
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
        self,
        *,
        stage: str,
        case: str,
        kind: str,
        expected: str,
        actual: str,
        op: str = "",
        smallest: str = "",
        inputs: tuple[str, ...] = (),
        found: tuple[str, ...] = (),
        count: int = 1,
        note: str = "",
        program: str = "",
        source: str = "",
        failing: tuple[FailingRange, ...] = (),
    ) -> Failure:
        """A failure of this plan, with the command that replays its `smallest` case, or `case` itself."""
        who = f"--backend-class {self.target}" if ":" in self.target else self.target
        smallest = smallest or case
        return Failure(
            backend=self.plan.backend,
            stage=stage,
            op=op,
            case=case,
            smallest=smallest,
            kind=kind,
            inputs=inputs,
            expected=expected,
            actual=actual,
            found=found,
            count=count,
            seed=self.plan.seed,
            note=note,
            program=program,
            source=source,
            replay=f"vyre certify {who} --seed {self.plan.seed} --case {shlex.quote(smallest)}",
            failing=failing,
        )

    def coverage(self, op: str, missing: str) -> Failure:
        """A declared class or boundary that no case of a whole run had."""
        return self.failure(
            stage=OPS,
            op=op,
            case=f"{op}/coverage/{missing}",
            kind="coverage",
            inputs=(missing,),
            expected="at least one case",
            actual="none",
            count=0,
        )

    def of_stage(self, stage: str, outcome: Outcome) -> Failure:
        """A failed case of a stage."""
        return self.failure(
            stage=stage,
            case=outcome.case,
            kind=outcome.kind,
            inputs=outcome.inputs,
            expected=outcome.expected,
            actual=outcome.actual,
            found=outcome.inputs,
            note=outcome.note,
            program=outcome.program,
            source=outcome.source,
        )
