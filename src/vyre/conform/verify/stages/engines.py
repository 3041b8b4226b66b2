"""Engines: each of their invariants on generated inputs, `engines/<engine>.<invariant>/<number>`.

Case `number` is about subject `number % subjects` whatever the size of the run, so its name is permanent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.registry.engine import ENGINES
from vyre.conform.verify.stage import FAILED, PASSED, Outcome, attempt
from vyre.conform.verify.stages.engines_called import Surveys
from vyre.conform.verify.stages.engines_checks import CHECKERS, SHAPES, EngineBench
from vyre.conform.verify.stages.engines_small import shown, smaller
from vyre.engines.run import Runner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.backends.protocol import Backend
    from vyre.conform.records.results import RunPlan
    from vyre.conform.spec.engine import EngineCase, EngineSpec
    from vyre.conform.spec.invariant import EngineInvariant
    from vyre.conform.verify.stages.engines_checks import WrongResult
    from vyre.engines.plan import Shape

FEW, MANY = 3, 4
_LONG_RUN = 1 << 16
"""Random cases of a plan from which on every invariant gets `MANY` cases."""


class Engines:
    """All invariants of all engines, in turn."""

    name = "engines"

    def __init__(self, specs: Sequence[EngineSpec] = ENGINES) -> None:
        self._subjects = [(spec, invariant) for spec in specs for invariant in spec.invariants]
        self.group = len(self._subjects)

    def count(self, plan: RunPlan) -> int:
        return len(self._subjects) * (MANY if plan.cases >= _LONG_RUN else FEW)

    def subject(self, number: int) -> str:
        """What case `number` is about."""
        spec, invariant = self._subjects[number % len(self._subjects)]
        return f"{spec.id}/{invariant.name}"

    def run(self, backend: Backend, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        runner, surveys = Runner(backend), Surveys(backend)
        return [self._one(runner, surveys, plan, number) for number in range(lo, hi)]

    def explain(self, backend: Backend, plan: RunPlan, case: str) -> Outcome:
        """The outcome of a failing case again, on the smallest inputs that still fail."""
        number = int(case.rpartition("/")[2])
        return self._one(Runner(backend), Surveys(backend), plan, number, small=True)

    def _one(
        self, runner: Runner, surveys: Surveys, plan: RunPlan, number: int, *, small: bool = False
    ) -> Outcome:
        spec, invariant = self._subjects[number % len(self._subjects)]
        name = f"{self.name}/{spec.id}.{invariant.name}/{number}"
        turn = number // len(self._subjects)
        subject = self.subject(number)

        def ask() -> Outcome:
            case = spec.case(plan.seed + number, turn, invariant)
            asked = _Question(runner, surveys, invariant, plan.repeats, SHAPES[turn % len(SHAPES)])
            return asked.outcome(smaller(case, asked.fails) if small else case, name, subject)

        return attempt(name, subject, None, ask)


@dataclass(frozen=True, slots=True)
class _Question:
    """An invariant, and how it is asked of a case."""

    runner: Runner
    surveys: Surveys
    invariant: EngineInvariant
    repeats: int
    other: Shape

    def wrong(self, case: EngineCase) -> WrongResult | None:
        return CHECKERS[self.invariant](self._bench(case))

    def fails(self, case: EngineCase) -> bool:
        """Whether a result is wrong; what a backend refuses or dies of is another failure."""
        try:
            return self.wrong(case) is not None
        except Exception:  # a backend that fails in other ways on a smaller case
            return False

    def outcome(self, case: EngineCase, name: str, subject: str) -> Outcome:
        wrong = self.wrong(case)
        if wrong is None:
            return Outcome(name, subject, PASSED)
        programs = "\n\n".join(program.to_text() for program in self._bench(case).programs())
        note = "; ".join(text for text in (f"at {wrong.where}", case.note) if text)
        return Outcome(
            name, subject, FAILED, wrong.kind, shown(case), wrong.expected, wrong.actual, note, programs
        )

    def _bench(self, case: EngineCase) -> EngineBench:
        return EngineBench(case, self.runner, self.repeats, self.other, self.surveys)


STAGE = Engines()
