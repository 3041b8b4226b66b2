"""Engines hold their invariants on a right backend, and each planted fault is named by its own checker."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests import wrong
from tests.wrong.base import processor
from vyre.conform.process.isolate import Isolated
from vyre.conform.records.results import RunPlan
from vyre.conform.registry.engine import ENGINES, bucket, compact, histogram, reduce, scan
from vyre.conform.spec.invariant import EngineInvariant as Inv
from vyre.conform.verify.stage import FAILED, PASSED
from vyre.conform.verify.stages.engines import STAGE, Engines
from vyre.engines.kernels import PARAMS, U32
from vyre.engines.plan import Engine, Plan, Space, Step
from vyre.errors import UnsupportedByBackend
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import LitU32
from vyre.ir.node import Loop, Store
from vyre.ir.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.conform.spec.engine import EngineCase, EngineSpec
    from vyre.conform.verify.stage import Outcome
    from vyre.engines.plan import Shape

PLAN = RunPlan("x", 7, 0, (1, 1), 0, (), "", ("engines",), 0, False, 1, 2)


def outcomes(backend: Any, specs: Sequence[EngineSpec]) -> list[Outcome]:
    stage = Engines(specs)
    return stage.run(backend, PLAN, 0, stage.count(PLAN))


def failing(backend: Any, *specs: EngineSpec) -> set[str]:
    return {o.subject for o in outcomes(backend, specs) if o.status == FAILED}


@pytest.mark.slow
def test_engines_hold_their_invariants_on_cpu() -> None:
    found = STAGE.run(processor(), PLAN, 0, STAGE.group)
    assert [(o.case, o.actual) for o in found if o.status != PASSED] == []
    assert len({o.subject for o in found}) == STAGE.group


def test_every_invariant_is_promised_by_an_engine() -> None:
    assert {i for s in ENGINES for i in s.invariants} == set(Inv)


FAULTS = [
    (wrong.LosesTheLast, compact.SPEC, Inv.NoOutputLost),
    (wrong.RepeatsTheLast, compact.SPEC, Inv.NoDuplicate),
    (wrong.ExchangesTwo, compact.SPEC, Inv.Ordered),
    (wrong.WritesPastTheCount, compact.SPEC, Inv.Bounded),
    (wrong.WritesPastTheBuffer, compact.SPEC, Inv.Bounded),
    (wrong.ChangesAnInput, compact.SPEC, Inv.Bounded),
    (wrong.CountsTooMany, compact.SPEC, Inv.Bounded),
    (wrong.ForgetsHowItDidIt, compact.SPEC, Inv.Deterministic),
    (wrong.DependsOnTheGroup, compact.SPEC, Inv.WorkgroupInvariant),
    (wrong.LosesAnAtomic, histogram.SPEC, Inv.AtomicLinearizable),
]


@pytest.mark.parametrize(("fault", "spec", "invariant"), FAULTS, ids=lambda v: getattr(v, "__name__", None))
def test_a_planted_fault_is_caught_by_its_own_checker(
    fault: type[wrong.Right], spec: EngineSpec, invariant: Inv
) -> None:
    assert failing(fault(), spec) == {f"{spec.id}/{invariant.name}"}


def test_the_backend_without_a_fault_passes() -> None:
    assert failing(wrong.Right(), compact.SPEC, histogram.SPEC, bucket.SPEC) == set()


def test_a_ticket_that_is_given_twice_is_named() -> None:
    found = [o for o in outcomes(wrong.GivesATicketTwice(), (bucket.SPEC,)) if o.status == FAILED]
    linear = [o for o in found if o.subject == "bucket/AtomicLinearizable"]
    assert linear
    assert "returned" in linear[0].actual
    assert "key" in linear[0].note


def test_a_failure_tells_where_and_shows_the_programs() -> None:
    found = next(o for o in outcomes(wrong.ExchangesTwo(), (compact.SPEC,)) if o.status == FAILED)
    assert found.case.startswith("engines/compact.Ordered/")
    assert found.note.startswith("at item 0")
    assert "output" in found.program
    assert found.inputs[0].startswith("input: ")


def test_a_hang_is_a_failure_of_termination(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the dispatches of that one case hang; the others find a new process."""
    spec = replace(reduce.SPEC, invariants=(Inv.NoOutputLost, Inv.Termination, Inv.Bounded))
    stage = Engines((spec,))
    drawn = {n: _first_word(spec.case(PLAN.seed + n, 0, spec.invariants[n])) for n in range(3)}
    assert len(set(drawn.values())) == 3
    monkeypatch.setenv("VYRE_TEST_HANG", str(drawn[1]))
    with Isolated("tests.wrong:Hangs", timeout=6) as backend:
        found = stage.run(backend, PLAN, 0, 3)
        assert backend.restarts >= 1
    assert [(o.subject, o.status, o.kind) for o in found] == [
        ("reduce/NoOutputLost", PASSED, ""),
        ("reduce/Termination", FAILED, "hang"),
        ("reduce/Bounded", PASSED, ""),
    ]


def _first_word(case: EngineCase) -> int:
    return int(case.inputs["input"][0])


def _looping(shape: Shape) -> Engine:
    source = BufferDecl.read("input", 0, U32)
    output = BufferDecl.read_write("output", 1, U32, count=1)
    body = [Store("output", LitU32(0), LitU32(1))]
    entry = [Loop("k", LitU32(0), source[LitU32(0)], body)]
    program = Program((source, output, PARAMS), (1, 1, 1), entry)

    def plan(lengths: Mapping[str, int]) -> Plan:
        return Plan({"output": Space(U32, 1)}, (Step(program, 1, {"input": "input", "output": "output"}),))

    return Engine("looping", {"input": U32}, plan, shape)


def _of(case: EngineCase) -> EngineSpec:
    def draw(seed: int, index: int, invariant: Inv) -> EngineCase:
        return case

    return replace(scan.SPEC, id="wrong", invariants=(Inv.Termination,), case=draw)


def test_a_loop_that_asks_the_data_is_no_termination() -> None:
    base = scan.SPEC.case(1, 0, Inv.Termination)
    data = {"input": np.ones(4, np.uint32)}
    found = outcomes(wrong.Right(), (_of(replace(base, build=_looping, inputs=data, work=1 << 20)),))
    assert found[0].status == FAILED
    assert found[0].note.startswith("at loop k")


def test_more_work_than_the_bound_is_no_termination() -> None:
    base = scan.SPEC.case(1, 0, Inv.Termination)
    found = outcomes(wrong.Right(), (_of(replace(base, inputs={"input": np.ones(99, np.uint32)}, work=10)),))
    assert found[0].status == FAILED
    assert found[0].expected == "at most 10"


def test_cases_depend_on_seed_and_index_alone() -> None:
    for spec in ENGINES:
        for invariant in spec.invariants:
            one, two = (spec.case(11, 4, invariant) for _ in range(2))
            assert all(np.array_equal(one.inputs[k], two.inputs[k], equal_nan=False) or _bits(one, two, k)
                       for k in one.inputs)  # fmt: skip
            assert np.array_equal(one.expected, two.expected)


def _bits(one: EngineCase, two: EngineCase, name: str) -> bool:
    return one.inputs[name].tobytes() == two.inputs[name].tobytes()


def test_names_of_cases_are_the_same_in_short_and_long_runs() -> None:
    short, long = replace(PLAN, cases=1), replace(PLAN, cases=1 << 20)
    assert STAGE.count(short) < STAGE.count(long)
    number = STAGE.count(short) - 1
    names = {STAGE.run(processor(), p, number, number + 1)[0].case for p in (short, long)}
    assert len(names) == 1


def test_a_refusal_is_no_failure() -> None:
    class Refuses(wrong.Right):
        def compile(self, program: Program) -> Any:
            raise UnsupportedByBackend("everything", self.name)

    assert {o.status for o in outcomes(Refuses(), (scan.SPEC,))} <= {"refused", PASSED}
    assert "refused" in {o.status for o in outcomes(Refuses(), (scan.SPEC,))}


def test_a_crash_is_a_result() -> None:
    class Raises(wrong.Right):
        def compile(self, program: Program) -> Any:
            raise RuntimeError("the compiler fell over")

    found = [o for o in outcomes(Raises(), (scan.SPEC,)) if o.status == FAILED]
    assert found
    assert "fell over" in found[0].actual
