"""Shards, skips, resumption, regressions and names all mean the same cases; killed runs lose nothing."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("llvmlite")

from tests import wrong
from tests.conform.verify.runs import certify, failure_of
from vyre.conform.records import counts
from vyre.conform.records.blocks import FAILED, Outcome
from vyre.conform.records.journal import read
from vyre.conform.records.results import Results
from vyre.conform.registry import spec
from vyre.conform.suite.plan import make_plan, registry_digest
from vyre.conform.suite.units import ALL_STAGES, STAGES, blocks, graph_of, units
from vyre.conform.verify.bench import Bench
from vyre.conform.verify.cases import kind_of
from vyre.conform.verify.named import run_named
from vyre.errors import OpError, VyreError

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.backends.protocol import Backend
    from vyre.conform.records.results import RunPlan
    from vyre.conform.spec.op import OpSpec
    from vyre.conform.suite.run import CertifyProgress

ADD, DIV = "primitive.math.add", "primitive.math.div"


def test_the_plan_decides_the_cases_and_shards_share_them_out() -> None:
    whole = make_plan("cpu", ops=(ADD, "primitive.bitwise.not"), cases=1 << 24)
    made = units(whole, None)
    everything = [(b.unit, b.number) for b in blocks(whole, made)]
    parts = [[(b.unit, b.number) for b in blocks(replace(whole, shard=(i, 3)), made)] for i in (1, 2, 3)]
    assert sorted(block for part in parts for block in part) == everything
    assert len(everything) > 10
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_skip_leaves_out_exactly_so_many_cases() -> None:
    whole = make_plan("cpu", ops=(ADD,), cases=1 << 23)
    made = units(whole, None)
    total = sum(u.count for u in made)
    for skip in (0, 1, 1000, 1 << 22, total - 1, total, total + 5):
        left = sum(b.hi - b.lo for b in blocks(replace(whole, skip=skip), made))
        assert left == max(0, total - skip)


def test_a_plan_that_makes_no_sense_is_refused() -> None:
    for senseless in (
        {"shard": (0, 2)},
        {"shard": (3, 2)},
        {"cases": -1},
        {"stages": ("golden", "silver")},
        {"ops": ("x.*",)},
    ):
        with pytest.raises(VyreError):
            make_plan("cpu", **senseless)  # pyright: ignore[reportArgumentType]
    assert make_plan("cpu", ops=(ADD,)).stages == ("regressions", "ops")
    assert make_plan("cpu").stages == ALL_STAGES


def test_the_registry_digest_follows_the_definitions() -> None:
    assert registry_digest((ADD,)) != registry_digest(("primitive.math.sub",))
    assert registry_digest((ADD,)) == registry_digest((ADD,))


def test_shards_together_are_the_whole_run(tmp_path: Path) -> None:
    backend = wrong.WrongPair()
    whole = certify(backend, tmp_path / "all", ops=(ADD,))
    parts = [certify(backend, tmp_path / f"{i}", ops=(ADD,), shard=(i, 2)) for i in (1, 2)]
    assert sum(counts.cases(p).run for p in parts) == counts.cases(whole).run
    assert sum(len(p.failures) for p in parts) == len(whole.failures)
    assert all(
        c.planned == w.planned
        for p in parts
        for c, w in zip(p.ops[0].parity, whole.ops[0].parity, strict=True)
    )


def no_boundaries(graph: object, masks: object) -> tuple[int, int]:
    return 2, 0


def test_a_missing_class_is_a_failure_of_a_whole_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vyre.conform.verify.cases.PER_CLASS", 0)
    monkeypatch.setattr("vyre.conform.verify.cases._boundary", no_boundaries)
    results = certify(wrong.Right(), tmp_path, ops=("primitive.math.div",), cases=16, largest=0)
    kinds = {f.kind for f in results.failures}
    assert kinds == {"coverage"}
    assert not results.ok


def test_where_all_failing_inputs_are_is_kept(tmp_path: Path) -> None:
    results = certify(wrong.DivisionByZero(), tmp_path, ops=(DIV,), cases=4096)
    (op,) = results.ops
    parity = failure_of(results, DIV)
    assert sum(r.count for r in parity.failing) == parity.count == sum(c.failed for c in op.parity)
    kind = kind_of(graph_of(DIV), "u8", results.plan)
    ranges = [r for r in parity.failing if r.kind == "u8"]
    assert (ranges[0].first, ranges[-1].last) == (0, 65280)
    for k in range(0, 65536, 256):  # every dividend, by 0
        assert kind.case(k)[1] == 0
        assert any(r.first <= k <= r.last for r in ranges)


def coverage_run(folder: Path, stages: tuple[str, ...]) -> Results:
    return certify(wrong.Right(), folder, ops=(DIV,), stages=stages, cases=16, largest=0)


def test_a_stored_coverage_failure_is_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("vyre.conform.verify.cases.PER_CLASS", 0)
        patch.setattr("vyre.conform.verify.cases._boundary", no_boundaries)
        first = coverage_run(tmp_path, ("ops",))
        still = coverage_run(tmp_path, ("regressions",))
        assert still.stages[0].failed == len(first.failures)
        assert {f.kind for f in still.failures} == {"coverage"}
        assert not still.ok
    repaired = coverage_run(tmp_path, ("regressions",))
    assert (repaired.stages[0].cases, repaired.stages[0].failed) == (len(first.failures), 0)
    assert repaired.ok


def test_dropping_the_class_does_not_settle_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("vyre.conform.verify.cases.PER_CLASS", 0)
        patch.setattr("vyre.conform.verify.cases._boundary", no_boundaries)
        coverage_run(tmp_path, ("ops",))

    def bare(op: str) -> OpSpec:
        return replace(spec(op), classes=(), boundaries=())

    monkeypatch.setattr("vyre.conform.verify.named.spec", bare)
    dropped = coverage_run(tmp_path, ("regressions",))
    assert dropped.stages[0].failed == dropped.stages[0].cases
    assert all("no longer declares the" in f.actual for f in dropped.failures)


def test_failures_are_stored_and_replayed_first(tmp_path: Path) -> None:
    op = "primitive.math.sub"
    first = certify(
        wrong.WrongOnEqual(), tmp_path, ops=(op,), stages=("regressions", "ops"), cases=16, largest=0
    )
    assert first.stages == ()
    backend = wrong.Right()
    backend.name = "wrong-on-equal"  # repaired
    again = certify(backend, tmp_path, ops=(op,), stages=("regressions",))
    assert again.plan.regressions == tuple(sorted(f.digest for f in first.failures))
    assert (again.stages[0].stage, again.stages[0].cases, again.stages[0].failed) == (
        "regressions",
        len(first.failures),
        0,
    )
    still = certify(wrong.WrongOnEqual(), tmp_path, ops=(op,), stages=("regressions",))
    assert still.stages[0].failed == len(first.failures)
    assert {f.case for f in still.failures} == {f.smallest for f in first.failures}
    assert len(list((tmp_path / "failures").rglob("*.json"))) == len(first.failures)


def test_a_finished_run_resumes_to_the_same_bytes_without_work(tmp_path: Path) -> None:
    done = certify(wrong.WrongAbove(), tmp_path, ops=("primitive.math.mul",), cases=64, largest=0)

    class Dead(wrong.WrongAbove):
        def compile(self, program: Any) -> Any:
            raise AssertionError("nothing is left to be run")

    Dead.__name__ = "WrongAbove"  # the target by which a journal knows its backend
    again = certify(Dead(), tmp_path, ops=("primitive.math.mul",), cases=64, largest=0, resume=True)
    assert again.ops == done.ops
    assert again.to_json() == done.to_json()


def test_failures_that_only_the_journal_has_are_stored_when_a_run_goes_on(tmp_path: Path) -> None:
    def stored() -> set[str]:
        return {path.name for path in (tmp_path / "failures").rglob("*.json")}

    certify(wrong.WrongAbove(), tmp_path, ops=("primitive.math.mul",), cases=64, largest=0)
    before = stored()
    assert before
    shutil.rmtree(tmp_path / "failures")  # as a kill between the journal and the store leaves it
    certify(wrong.WrongAbove(), tmp_path, ops=("primitive.math.mul",), cases=64, largest=0, resume=True)
    assert stored() == before


def test_another_plan_does_not_go_on_with_a_journal(tmp_path: Path) -> None:
    certify(wrong.Right(), tmp_path, ops=(ADD,), cases=16, largest=0)
    with pytest.raises(VyreError, match="another cases"):
        certify(wrong.Right(), tmp_path, ops=(ADD,), cases=17, largest=0, resume=True)


@pytest.mark.parametrize(
    ("name", "status", "inputs"),
    [
        ("primitive.math.div/inputs/0x5,0x0", "failed", ("0x5", "0x0")),
        ("primitive.math.div/inputs/10,2", "passed", ("0xA", "0x2")),
        ("primitive.math.div/boundary/0", "failed", ("0x0", "0x0")),
        ("primitive.math.div/u8/513", "passed", ("0x2", "0x1")),
        ("primitive.math.div/RightAbsorbing(0)/random/3", "failed", None),
        ("primitive.math.div/a / b <= a/inputs/1,0", "failed", ("0x1", "0x0")),
        ("barrier/scope/31", "passed", None),
        ("golden/primitive.math.div/golden/2", "failed", None),
        ("golden/primitive.math.add/golden/1", "passed", None),
    ],
)
def test_one_case_by_its_name(name: str, status: str, inputs: tuple[str, ...] | None) -> None:
    plan = make_plan("division-by-zero", cases=16)
    report = run_named(Bench(wrong.DivisionByZero()), name, plan, STAGES)
    assert (report.name, report.status) == (name, status)
    assert inputs is None or report.inputs == inputs
    shown = report.render().splitlines()
    assert name in shown[0]
    assert not {"input", "expected", "actual"} & {line.strip() for line in shown}


@pytest.mark.parametrize(
    "name",
    [
        "", "nothing", "primitive.math.div", "primitive.math.div/5", "primitive.math.div/boundary/x",
        "primitive.math.div/boundary/99999999", "primitive.math.div/nokind/1",
        "primitive.math.div/Nolaw/random/1", "primitive.math.div/inputs/1",
        "primitive.math.div/inputs/1,2,3,4", "primitive.math.div/inputs/1,0x100000000",
        "barrier/scope/9999", "barrier/scope/0", "golden/no.such/row",
    ],
)  # fmt: skip
def test_a_name_that_no_case_has_is_refused(name: str) -> None:
    with pytest.raises((VyreError, OpError)):
        run_named(Bench(wrong.Right()), name, make_plan("right"), STAGES)


ARGUMENTS = (
    "certify", "--backend-class", "tests.wrong:WrongAbove", "--ops", "primitive.math.mul", "--ops", ADD,
    "--ops", "value.select", "--ops", "primitive.compare.lt", "--quick", "--cases", "300000", "--json",
)  # fmt: skip


def start(state: Path, *more: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    code = "from vyre.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *ARGUMENTS, "--state", str(state), *more],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
    )  # fmt: skip


def journal_lines(state: Path) -> int:
    return sum(len(read(path)[0]) for path in state.glob("runs/*/journal.jsonl"))


@pytest.mark.slow
def test_a_run_killed_at_any_moment_ends_in_the_same_bytes(tmp_path: Path) -> None:
    untouched, killed = tmp_path / "a", tmp_path / "b"
    assert start(untouched).wait() == 1
    (expected,) = untouched.glob("runs/*/results.json")
    total = journal_lines(untouched)
    rng = random.Random(7)
    midway = 0
    for fraction in (0.1, 0.3, 0.5, 0.8):
        run = start(killed, "--resume")
        wanted = int(total * fraction) + rng.randrange(3)
        while run.poll() is None and journal_lines(killed) < wanted:
            time.sleep(0.002)
        run.send_signal(signal.SIGKILL)
        midway += run.wait() == -signal.SIGKILL and journal_lines(killed) < total
    assert midway >= 2
    assert start(killed, "--resume").wait() == 1
    (found,) = killed.glob("runs/*/results.json")
    assert found.read_bytes() == expected.read_bytes()
    made, again = (path.with_name("certificate.json").read_bytes() for path in (expected, found))
    assert again == made
    results = Results.from_json(found.read_bytes())
    assert failure_of(results, "primitive.math.mul").inputs == ("0x80000000", "0x0")
    stored = {p.name for p in (killed / "failures").rglob("*.json")}
    assert stored == {p.name for p in (untouched / "failures").rglob("*.json")}


class FailingRows:
    """A stage in the place of the longest, each of whose cases fails at once."""

    name = "shapes"
    group = 1

    def count(self, plan: RunPlan) -> int:
        return 5

    def run(self, backend: Backend, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        return [Outcome(f"shapes/integers/{n}", "integers", FAILED, "value") for n in range(lo, hi)]


def test_rows_of_shapes_are_run_first_and_failures_are_counted_as_they_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STAGES, "shapes", FailingRows())  # pyright: ignore[reportArgumentType]
    monkeypatch.setattr("vyre.conform.suite.run._THREADS", 1)  # two of them end in any order
    seen: list[CertifyProgress] = []
    certify(wrong.Right(), tmp_path, ops=(ADD,), stages=("ops", "shapes"), progress=seen.append)
    assert [p.what for p in seen[:6]] == ["shapes"] * 6
    assert {p.what for p in seen[6:]} == {ADD}
    assert [p.failing for p in seen[:6]] == [0, 1, 2, 3, 4, 5]
    stages = [p.stage for p in seen if p.stage is not None]
    assert [(s.name, s.number, s.of, s.done) for s in stages[:5]] == [("shapes", 1, 2, k) for k in range(5)]
    assert {(s.name, s.number) for s in stages[5:]} == {("ops", 2)}
    assert stages[-1].done == stages[-1].total > 0
