"""What a run did otherwise than a full one: fewer cases, ops or stages, another seed, another way to hold it.

Nothing of this is wrong, and a level that needs more is denied for it. A certificate lists it so that a
reader need not know the defaults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.process.provenance import APART, IN_PROCESS
from vyre.conform.suite.plan import (
    DEFAULT_CASES,
    DEFAULT_FLOAT_CASES,
    DEFAULT_PROGRAMS,
    DEFAULT_SEED,
    LARGEST,
)
from vyre.conform.suite.units import ALL_STAGES

if TYPE_CHECKING:
    from vyre.conform.certify.promises import Promises
    from vyre.conform.records.results import Conditions, RunPlan

DEFAULT_REPEATS = 3
DEFAULT_TIMEOUT_MS = 60_000


def settings(plan: RunPlan, conditions: Conditions, promised: Promises) -> tuple[str, ...]:
    """Each setting that is not that of a full run, as words."""
    return (*_left_out(plan, promised), *_fewer(plan), *_held(conditions))


def _left_out(plan: RunPlan, promised: Promises) -> list[str]:
    found: list[str] = []
    if plan.shard != (1, 1):
        found.append(f"shard {plan.shard[0]} of {plan.shard[1]} only")
    if plan.skip:
        found.append(f"the first {plan.skip:,} cases skipped")
    absent = len(promised.ops) - len(plan.ops)
    if absent:
        found.append(f"{absent:,} of {len(promised.ops):,} ops left out")
    stages = [name for name in ALL_STAGES if name not in plan.stages]
    if stages:
        found.append(f"stages left out: {', '.join(stages)}")
    return found


def _fewer(plan: RunPlan) -> list[str]:
    numbers = (
        ("random cases of an op or law", plan.cases, DEFAULT_CASES),
        ("random cases of a float operation", plan.float_cases, DEFAULT_FLOAT_CASES),
        ("cases of the longest exhaustive kind", plan.largest, LARGEST),
        ("generated programs", plan.programs, DEFAULT_PROGRAMS),
        ("repeats of a case", plan.repeats, DEFAULT_REPEATS),
    )
    found = [f"{mine:,} {what}, not {usual:,}" for what, mine, usual in numbers if mine < usual]
    return [*found, f"seed {plan.seed}, not {DEFAULT_SEED}"] if plan.seed != DEFAULT_SEED else found


def _held(conditions: Conditions) -> list[str]:
    if conditions.isolation == IN_PROCESS:
        return ["the backend ran inside the process that judged it (--in-process)"]
    if conditions.isolation != APART:
        return [f"isolation of the backend: {conditions.isolation}"]
    if conditions.timeout_ms != DEFAULT_TIMEOUT_MS:
        return [f"{conditions.timeout_ms / 1000:g} s to wait for an answer, not {DEFAULT_TIMEOUT_MS // 1000}"]
    return []
