"""Every wrong backend is caught where it should be, by its smallest input; the right one is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("llvmlite")

from tests import wrong
from tests.conform.verify.runs import certify, failure_of
from vyre.conform.oracle.golden import load_rows
from vyre.conform.records import counts
from vyre.conform.suite.run import make_plan
from vyre.conform.suite.units import STAGES
from vyre.conform.verify.bench import Bench
from vyre.conform.verify.golden import stage as golden
from vyre.conform.verify.named import run_named

if TYPE_CHECKING:
    from pathlib import Path

ARITHMETIC = ("primitive.math", "primitive.bitwise.xor", "primitive.compare.lt")


def test_a_right_backend_passes_everything(tmp_path: Path) -> None:
    results = certify(
        wrong.Right(), tmp_path, ops=("primitive.math.div", "primitive.bitwise.shl", "memory.load.u32")
    )
    assert results.failures == ()
    assert results.ok
    assert {op.status for op in results.ops} == {"passed"}
    div = next(op for op in results.ops if op.id == "primitive.math.div")
    assert div.evidence.startswith("exhaustive u8 + witnessed ")
    assert div.coverage.missing == ()
    assert all(c.cases for c in div.coverage.classes)
    assert all(law.failed == 0 and law.evidence != "unverified" for law in div.laws)


@pytest.mark.parametrize(
    ("make", "op", "inputs", "expected", "actual"),
    [
        (wrong.ShiftBy32, "primitive.bitwise.shl", ("0x1", "0x20"), "0x1", "0x0"),
        (wrong.SignedCompare, "primitive.compare.lt", ("0x0", "0x80000000"), "0x1", "0x0"),
        (wrong.DivisionByZero, "primitive.math.div", ("0x0", "0x0"), "0x0", "0xFFFFFFFF"),
        (wrong.WrongAbove, "primitive.math.mul", ("0x80000000", "0x0"), "0x0", "0x1"),
        (wrong.WrongOnEqual, "primitive.math.sub", ("0x0", "0x0"), "0x0", "0x1"),
        (wrong.WrongPair, "primitive.math.add", ("0x39", "0xC8"), "0x101", "0x0"),
        (wrong.WrongUnary, "primitive.bitwise.popcount", ("0x9C49",), "0x7", "0x9"),
        (wrong.SwappedLanes, "value.lane.u64.0", ("0x100000000",), "0x0", "0x1"),
    ],
)
def test_a_wrong_value_is_shrunk_to_one_input(
    make: Any, op: str, inputs: tuple[str, ...], expected: str, actual: str, tmp_path: Path
) -> None:
    results = certify(make(), tmp_path, ops=(op,))
    failure = failure_of(results, op)
    assert (failure.kind, failure.inputs) == ("value", inputs)
    assert (failure.expected, failure.actual) == (expected, actual)
    assert failure.smallest == f"{op}/inputs/{','.join(_words(failure.smallest))}"
    assert "entry {" in failure.program
    assert failure.source == "the source of a broken backend"
    assert failure.replay.startswith(f"vyre certify --backend-class tests.wrong:{make.__name__} --seed 24301")
    assert not results.ok


def _words(name: str) -> list[str]:
    return name.rpartition("/")[2].split(",")


def test_operands_that_depend_on_each_other_are_tried(tmp_path: Path) -> None:
    results = certify(wrong.WrongOnComplement(), tmp_path, ops=("primitive.bitwise.xor",))
    failure = failure_of(results, "primitive.bitwise.xor")
    a, b = (int(x, 16) for x in failure.inputs)
    assert a + b == 0xFFFF_FFFF
    assert failure.actual == "0x0"


def test_a_law_fails_on_the_backends_own_results(tmp_path: Path) -> None:
    results = certify(wrong.WrongAbove(), tmp_path, ops=("primitive.math.mul",))
    failure = failure_of(results, "primitive.math.mul", law="Commutative")
    assert failure.kind == "law"
    assert sorted(failure.inputs) == ["0x0", "0x80000000"]
    assert failure.note.startswith("math.mul(a, b) = math.mul(b, a)")
    again = run_named(Bench(wrong.WrongAbove()), failure.smallest, results.plan, STAGES).render().splitlines()
    assert f"  left side   {failure.actual}" in again
    assert f"  right side  {failure.expected}" in again
    assert "  law         math.mul(a, b) = math.mul(b, a)" in again
    assert failure.count > 0


def test_a_backend_that_varies_is_told_apart(tmp_path: Path) -> None:
    results = certify(wrong.Unstable(), tmp_path, ops=("primitive.math.sub",), cases=1 << 20)
    assert failure_of(results, "primitive.math.sub").kind == "unstable"


def test_determinism_finds_one_result_in_100000(tmp_path: Path) -> None:
    plan = make_plan("unstable", repeats=8)
    outcomes = STAGES["determinism"].run(wrong.Unstable(), plan, 0, 2)
    assert {(o.status, o.kind, o.subject) for o in outcomes} >= {("failed", "unstable", "primitive.math.add")}
    assert all(o.status == "passed" for o in STAGES["determinism"].run(wrong.Right(), plan, 0, 2))


def test_results_of_an_earlier_run_are_not_believed(tmp_path: Path) -> None:
    results = certify(wrong.StaleResults(), tmp_path, ops=("primitive.math.add",), cases=1 << 19)
    assert results.ops[0].status == "failed"


@pytest.mark.parametrize(
    ("make", "stage", "subject"),
    [
        (wrong.NoBoundsCheck, "bounds", "load U32"),
        (wrong.LostAtomic, "atomics", "storage Add"),
        (wrong.NoBarrier, "barrier", "visibility"),
        (wrong.NoBarrier, "barrier", "storage visibility"),
        (wrong.NoBarrier, "barrier", "isolation"),
        (wrong.NoBarrier, "barrier", "uniform control flow"),
        (wrong.TornHalf, "races", "adjacent halves"),
        (wrong.NoBarrier, "races", "prefix sum"),
    ],
)
def test_a_stage_catches_its_fault(make: Any, stage: str, subject: str, tmp_path: Path) -> None:
    found = certify(make(), tmp_path, stages=(stage,), repeats=1, only=subject)
    assert [(s.subject, s.failed > 0) for s in found.stages[0].subjects] == [(subject, True)]
    failure = found.failures[0]
    assert failure.case.startswith(f"{stage}/{subject}/")
    assert failure.expected != failure.actual
    fine = certify(wrong.Right(), tmp_path / "fine", stages=(stage,), repeats=1, only=subject)
    assert fine.ok
    assert counts.cases(fine).run > 0


def test_golden_rows_are_replayed() -> None:
    rows = tuple(row for row in load_rows() if row.stem in ("primitive.math.div", "primitive.math.add"))
    found = golden.run_rows(wrong.DivisionByZero(), rows)
    assert {o.case.partition("/")[2].partition("/")[0] for o in found if o.status == "failed"} == {
        "primitive.math.div"
    }
    assert {o.subject for o in found} == {"strict primitive.math"}


def test_out_of_bounds_is_also_caught_at_the_op(tmp_path: Path) -> None:
    results = certify(wrong.NoBoundsCheck(), tmp_path, ops=("memory.load.u32",))
    failure = failure_of(results, "memory.load.u32")
    index, length, _ = (int(x, 16) for x in failure.inputs)
    assert index >= length > 0
    assert failure.expected == "0x0"


def test_a_lost_atomic_passes_alone_and_fails_in_a_crowd(tmp_path: Path) -> None:
    assert certify(wrong.LostAtomic(), tmp_path, ops=("atomic.add",)).ok


def test_a_refusal_is_no_failure_and_no_evidence(tmp_path: Path) -> None:
    results = certify(wrong.Refusing(), tmp_path, ops=("primitive.math.div", "primitive.math.mod"))
    div, mod = results.ops
    assert (div.status, div.cases, div.evidence) == ("refused", 0, "unverified")
    assert all(part in div.refusal for part in ("Div", "refusing", "it has none"))
    assert mod.status == "passed"
    needing = [law for law in mod.laws if any("math.div" in e for e in law.equations)]
    assert all(law.evidence == "unverified" for law in needing)
    assert results.ok


def test_an_exception_of_the_backend_is_a_result(tmp_path: Path) -> None:
    results = certify(wrong.Raising(), tmp_path, ops=("primitive.math.div", "primitive.math.add"))
    failure = next(f for f in results.failures if f.op == "primitive.math.div")
    assert (failure.kind, failure.actual) == ("error", "RuntimeError: the compiler gave up")
    assert [op.status for op in results.ops] == ["passed", "failed"]


def test_generated_programs_are_shrunk(tmp_path: Path) -> None:
    results = certify(wrong.OffByOne(), tmp_path, stages=("programs",), programs=8)
    failure = next(f for f in results.failures if f.kind == "value")
    assert failure.stage == "programs"
    assert " * " in failure.program
    assert len(failure.program.splitlines()) < 25
