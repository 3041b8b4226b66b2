"""A failing engine is reported on few plain elements; a fault that does not come back is said to be one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests import wrong
from tests.conform.verify.runs import certify
from vyre.conform.records.results import RunPlan
from vyre.conform.registry.engine import ENGINES, compact, histogram
from vyre.conform.spec.invariant import EngineInvariant as Inv
from vyre.conform.suite import units
from vyre.conform.verify.replayed import DEPENDS
from vyre.conform.verify.stage import FAILED, PASSED
from vyre.conform.verify.stages.engines import Engines
from vyre.conform.verify.stages.engines_small import QUESTIONS, smaller

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.conform.spec.engine import EngineCase, EngineSpec

PLAN = RunPlan("x", 7, 0, (1, 1), 0, (), "", ("engines",), 0, False, 1, 2)


def explained(fault: type[wrong.Right], spec: EngineSpec, subject: str) -> tuple[str, ...]:
    stage = Engines((spec,))
    backend = fault()
    found = stage.run(backend, PLAN, 0, stage.group)
    case = next(o.case for o in found if o.status == FAILED and o.subject.endswith(subject))
    again = stage.explain(backend, PLAN, case)
    assert (again.status, again.case) == (FAILED, case)
    return again.inputs


def test_a_fault_of_every_input_is_shown_on_one_element() -> None:
    assert explained(wrong.LosesTheLast, compact.SPEC, "NoOutputLost") == (
        "input: 1 element, 0",
        "flags: 1 element, 1",
    )


def test_an_exchange_is_shown_on_two_elements() -> None:
    assert explained(wrong.ExchangesTwo, compact.SPEC, "Ordered") == (
        "input: 2 elements, 0, 1",
        "flags: 2 elements, 1, 1",
    )


def test_a_fault_that_needs_a_length_keeps_the_shortest() -> None:
    inputs = explained(wrong.LosesTheLastFromLength, compact.SPEC, "NoOutputLost")
    assert inputs == (
        "input: 100 elements, 0, 1, 2, 3, 4, 5, 6, 7, …",
        "flags: 100 elements, 1, 1, 1, 1, 1, 1, 1, 1, …",
    )


def test_a_lost_atomic_is_shown_on_one_element() -> None:
    assert explained(wrong.LosesAnAtomic, histogram.SPEC, "AtomicLinearizable") == ("input: 1 element, 0",)


def test_making_a_case_small_comes_to_an_end() -> None:
    asked: list[int] = []

    def odd(case: EngineCase) -> bool:
        asked.append(len(case.inputs["input"]))
        return bool(len(case.inputs["input"]) % 2)

    case = compact.SPEC.case(5, 0, Inv.NoOutputLost)
    assert len(smaller(case, odd).inputs["input"]) == 1
    assert len(asked) <= QUESTIONS


@pytest.mark.parametrize("spec", [s for s in ENGINES if s.id != "program"], ids=lambda s: s.id)
def test_every_engine_asks_the_same_of_fewer_elements(spec: EngineSpec) -> None:
    """The oracle follows the inputs: a right backend passes on what a case is cut to."""
    stage = Engines((spec,))
    for number, invariant in enumerate(spec.invariants):
        case = spec.case(PLAN.seed + number, 0, invariant)
        small = smaller(case, lambda c: len(c.inputs[c.elements[0]]) > 4)
        assert {len(small.inputs[name]) for name in small.elements} == {5}
        assert small.on is not None
        asked = _one(spec, small)
        assert asked.run(wrong.Right(), PLAN, number, number + 1)[0].status == PASSED
    assert stage.group == len(spec.invariants)


def _one(spec: EngineSpec, case: EngineCase) -> Engines:
    def draw(seed: int, index: int, invariant: Inv) -> EngineCase:
        return case

    return Engines((replace(spec, case=draw),))


def test_a_run_reports_the_small_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(units.STAGES, "engines", Engines((compact.SPEC,)))  # pyright: ignore[reportArgumentType]
    results = certify(wrong.LosesTheLast(), tmp_path, stages=("engines",))
    first = results.failures[0]
    assert first.inputs == ("input: 1 element, 0", "flags: 1 element, 1")
    assert (first.expected, first.actual, first.kind) == ("once", "never", "value")


def test_a_fault_that_does_not_come_back_is_said_to_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(units.STAGES, "engines", Engines((compact.SPEC,)))  # pyright: ignore[reportArgumentType]
    results = certify(wrong.LosesTheLastOnce(), tmp_path, stages=("engines",))
    (failure,) = results.failures
    assert failure.kind == "unstable"
    assert f"did not come back in 3 replays: {DEPENDS}" in failure.note
