"""Ops and engines through the adapters, and the conventions they rely on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests import wrong
from tests.conform.verify.test_engines_called import bench
from tests.wrong.engines import words
from vyre.conform.records.results import RunPlan
from vyre.conform.registry import spec
from vyre.conform.registry.engine import ENGINES
from vyre.conform.spec.engine import CalledEngine
from vyre.conform.verify.dispatch import dispatch_engine, dispatch_op
from vyre.conform.verify.stage import FAILED, PASSED, REFUSED
from vyre.conform.verify.stages import convention
from vyre.conform.verify.stages.engines import Engines
from vyre.conform.verify.stages.engines_loops import data_dependent_loop
from vyre.engines.bins import histogram_engine
from vyre.engines.dfa import ends_program
from vyre.engines.plan import Shape
from vyre.errors import OpError, UnsupportedByBackend
from vyre.ir.buffers import BufferDecl
from vyre.ir.convention import kept
from vyre.ir.expr import LitU32, Var
from vyre.ir.node import Assign, If, Let, Loop, Store
from vyre.ir.program import Program
from vyre.ir.signature import V1, V2
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.backends.protocol import BackendInfo
    from vyre.conform.spec.engine import EngineSpec

PLAN = RunPlan("x", 7, 0, (1, 1), 0, (), "", ("convention",), 0, False, 1, 2)
U32 = DataType.U32


class OnlyV1(wrong.Right):
    """A backend that does not keep Convention V2."""

    def describe(self) -> BackendInfo:
        return replace(super().describe(), conventions=("V1",))


def statuses(backend: Any) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for outcome in convention.STAGE.run(backend, PLAN, 0, convention.STAGE.count(PLAN)):
        found.setdefault(outcome.subject, set()).add(outcome.status)
    return found


def test_an_op_is_dispatched_case_by_case() -> None:
    left = np.array([7, 0, 0xFFFFFFFF], np.uint32)
    right = np.array([2, 0, 0], np.uint32)
    (found,) = dispatch_op(wrong.Right(), spec("primitive.math.div"), (left, right))
    assert found.tolist() == [3, 0, 0]


def test_an_atomic_shows_what_it_left_and_what_it_returned() -> None:
    old, value = np.array([1, 2], np.uint32), np.array([10, 20], np.uint32)
    cells, returned = dispatch_op(wrong.Right(), spec("atomic.add"), (old, value))
    assert (cells.tolist(), returned.tolist()) == ([11, 22], [1, 2])


def test_operands_that_do_not_fit_are_refused() -> None:
    with pytest.raises(OpError, match="takes 2 arrays"):
        dispatch_op(wrong.Right(), spec("primitive.math.add"), (np.zeros(2, np.uint32),))


def test_an_engine_is_dispatched_step_by_step() -> None:
    found = dispatch_engine(wrong.Right(), histogram_engine(shape=Shape(64)), {"input": b"aab"})
    assert found["output"].sum() == 3
    assert found["output"][97] == 2


def test_conventions_are_kept_on_a_right_backend() -> None:
    assert statuses(wrong.Right()) == {subject: {PASSED} for subject in convention.SUBJECTS}


def test_a_backend_without_v2_refuses_it_and_keeps_v1() -> None:
    found = statuses(OnlyV1())
    assert {subject: status for subject, status in found.items() if subject.startswith("V1")} == {
        subject: {PASSED} for subject in convention.SUBJECTS if subject.startswith("V1")
    }
    assert found["V2"] == found["V2 unasked"] == {REFUSED}


def test_a_layout_that_is_let_through_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_wrong(buffers: Any, asked: Any) -> None:
        return None

    monkeypatch.setattr("vyre.backends.conventions.breach", nothing_wrong)
    found = statuses(wrong.Right())
    for subject in ("V2 without its table", "V1 without its input", "V1 out of order", "V1 with a table"):
        assert found[subject] == {FAILED}, subject
    assert found["V2 with its table writable"] == {FAILED}


def test_a_convention_that_is_not_found_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_kept(buffers: Any) -> tuple[()]:
        return ()

    monkeypatch.setattr("vyre.backends.conventions.kept", none_kept)
    found = statuses(wrong.Right())
    assert found["V1 unasked"] == found["V2 unasked"] == {FAILED}
    assert found["V1"] == found["V2"] == {PASSED}


@pytest.mark.parametrize("engine", ENGINES, ids=[engine.id for engine in ENGINES])
def test_the_programs_of_an_engine_keep_what_it_declares(engine: EngineSpec) -> None:
    case = engine.case(3, 0, engine.invariants[0])
    made = case.build(Shape(64))
    if isinstance(made, CalledEngine):
        ran = [kept(program.buffers) for program in bench(case).programs()]
        assert ran
        assert all(conventions and conventions[0] == engine.convention for conventions in ran)
        return
    lengths = {name: len(value) for name, value in case.inputs.items()}
    found = [kept(step.program.buffers) for step, _ in made.plan(lengths).dispatches]
    if engine.convention is None:
        assert all(step.convention is None for step in made.plan(lengths).steps)
        return
    assert found
    assert all(conventions and conventions[0] in (V1(), engine.convention) for conventions in found)
    assert any(conventions[0] == engine.convention for conventions in found)


def test_an_engine_with_a_lookup_table_needs_v2() -> None:
    from vyre.conform.registry.engine import match

    outcomes = Engines((match.SPEC,)).run(OnlyV1(), PLAN, 0, 7)
    assert {o.status for o in outcomes} == {REFUSED}
    assert "V2" in outcomes[0].actual
    assert isinstance(match.SPEC.convention, V2)


def test_a_table_that_is_read_wrongly_is_caught() -> None:
    class TableShifted(wrong.Right):
        def before(self, program: Program, buffers: Any) -> None:
            self.table = program.buffer("table") is not None

        def after(self, program: Program, buffers: Any) -> None:
            if program.buffer("table") is not None:
                out = words(buffers["output"])
                out[:] = np.roll(out, 1) ^ np.uint32(1)

    assert statuses(TableShifted())["V2"] == {FAILED}
    assert statuses(TableShifted())["V1"] == {PASSED}


def test_a_backend_may_refuse_an_engine() -> None:
    class NoAtomics(wrong.Right):
        def compile(self, program: Program) -> Any:
            if program.buffer("bins") is not None:
                raise UnsupportedByBackend("WorkgroupAtomic", self.name)
            return super().compile(program)

    from vyre.conform.registry.engine import histogram

    found = Engines((histogram.SPEC,)).run(NoAtomics(), PLAN, 0, 5)
    assert {o.status for o in found} == {REFUSED}


def loop_over(*before: Any, stop: Any) -> Program:
    source = BufferDecl.read("input", 0, U32)
    output = BufferDecl.read_write("output", 1, U32)
    params = BufferDecl.uniform("params", 2, U32, count=4)
    body = [Store("output", Var("k"), LitU32(1))]
    return Program((source, output, params), (1, 1, 1), [*before, Loop("k", LitU32(0), stop, body)])


def test_loops_over_lengths_and_parameters_are_bounded() -> None:
    source = BufferDecl.read("input", 0, U32)
    params = BufferDecl.uniform("params", 2, U32, count=4)
    assert data_dependent_loop(loop_over(stop=source.length)) is None
    assert data_dependent_loop(loop_over(Let("n", params[LitU32(1)] * LitU32(4)), stop=Var("n"))) is None
    assert data_dependent_loop(ends_program(Shape(64))) is None


def test_loops_over_data_are_seen_through_variables_and_branches() -> None:
    source = BufferDecl.read("input", 0, U32)
    direct = loop_over(Let("n", source[LitU32(0)]), Let("m", Var("n") + LitU32(1)), stop=Var("m"))
    assert data_dependent_loop(direct) == "k"
    branch = If(source[LitU32(0)].eq(1), [Assign("n", LitU32(1000))])
    assert data_dependent_loop(loop_over(Let("n", LitU32(1)), branch, stop=Var("n"))) == "k"
