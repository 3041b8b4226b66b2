"""Engines: each of their invariants on generated inputs, `engines/<engine>.<invariant>/<number>`.

Case `number` is about subject `number % subjects` whatever the size of the run, so its name is permanent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.registry.engine import ENGINES
from vyre.conform.verify.stage import FAILED, PASSED, Outcome, attempt
from vyre.conform.verify.stages.engines_checks import CHECKERS, SHAPES, EngineBench
from vyre.engines.run import Runner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.backends.protocol import Backend
    from vyre.conform.records.results import RunPlan
    from vyre.conform.spec.engine import EngineSpec
    from vyre.conform.spec.invariant import EngineInvariant

FEW, MANY = 3, 4
_LONG_RUN = 1 << 16
"""Random cases of a plan from which on every invariant gets `MANY` cases."""
_SHOWN = 8


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
        runner = Runner(backend)
        return [self._one(runner, plan, number) for number in range(lo, hi)]

    def _one(self, runner: Runner, plan: RunPlan, number: int) -> Outcome:
        spec, invariant = self._subjects[number % len(self._subjects)]
        name = f"{self.name}/{spec.id}.{invariant.name}/{number}"
        turn = number // len(self._subjects)
        subject = self.subject(number)
        return attempt(
            name, subject, None, lambda: _asked(runner, plan, spec, invariant, name, subject, number, turn)
        )


def _asked(
    runner: Runner,
    plan: RunPlan,
    spec: EngineSpec,
    invariant: EngineInvariant,
    name: str,
    subject: str,
    number: int,
    turn: int,
) -> Outcome:
    case = spec.case(plan.seed + number, turn, invariant)
    bench = EngineBench(case, runner, plan.repeats, SHAPES[turn % len(SHAPES)])
    wrong = CHECKERS[invariant](bench)
    if wrong is None:
        return Outcome(name, subject, PASSED)
    inputs = tuple(f"{key}: {_contents(value)}" for key, value in case.inputs.items())
    programs = "\n\n".join(dict.fromkeys(s.program.to_text() for s in bench.plan(bench.shape).steps))
    note = "; ".join(text for text in (f"at {wrong.where}", case.note) if text)
    return Outcome(name, subject, FAILED, wrong.kind, inputs, wrong.expected, wrong.actual, note, programs)


def _contents(array: Any) -> str:
    first = ", ".join(str(value) for value in array[:_SHOWN].tolist())
    return f"{len(array)} elements, {first}{', …' if len(array) > _SHOWN else ''}"


STAGE = Engines()
