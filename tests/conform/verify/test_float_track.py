"""Float operations in a run: planned, compared with the oracle and by their laws, seen to fail, certified."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

from vyre.backends import get
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.cpu.llvm import LEVELS, runs_here
from vyre.cli import main
from vyre.conform.certify import ahead
from vyre.conform.certify.certificate import certificates
from vyre.conform.certify.promises import registry_now
from vyre.conform.certify.proofs import law_proofs
from vyre.conform.certify.summary import summary
from vyre.conform.records.journal import Journal
from vyre.conform.registry import floats, spec
from vyre.conform.spec.track import FLOAT, INTEGER
from vyre.conform.suite.plan import (
    DEFAULT_FLOAT_CASES,
    TRACK_STAGES,
    chosen_ops,
    definition_program,
    make_plan,
    ops_of,
)
from vyre.conform.suite.run import Suite
from vyre.conform.suite.units import ALL_STAGES, graph_of
from vyre.conform.verify import control
from vyre.conform.verify.bench import Bench
from vyre.conform.verify.cases import kind_of, kinds
from vyre.conform.verify.stages import determinism, dispatches
from vyre.errors import UnsupportedByBackend, VyreError
from vyre.ir.types import DataType
from vyre.semantics.proof_cache import ProofCache, default_folder

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.conform.certify.certificate import CertificateContents
    from vyre.conform.records.results import RunPlan
    from vyre.ir.program import Program


def counts(op: str, plan: RunPlan) -> dict[str, int]:
    return {kind.name: kind.count for kind in kinds(graph_of(op), plan)}


def test_floats_have_fewer_random_cases_unless_a_number_is_asked_for() -> None:
    plan = make_plan("cpu")
    assert counts("float.add", plan)["random"] == DEFAULT_FLOAT_CASES == 1 << 20
    assert counts("primitive.math.add", plan)["random"] == plan.cases > 1 << 20
    assert counts("float.add", make_plan("cpu", cases=77))["random"] == 77
    asked = make_plan("cpu", cases=1 << 30, float_cases=1 << 30)
    assert counts("float.add", asked)["random"] == 1 << 30
    with pytest.raises(VyreError, match="out of range"):
        make_plan("cpu", float_cases=-1)


def test_sixteen_bits_are_exhausted_and_need_no_samples() -> None:
    plan = make_plan("cpu")
    assert set(counts("float.f16.exp", plan)) == {"u16", "equivalence", "boundary"}
    assert counts("float.bf16.floor", plan)["random"] == 1 << 20, "its laws have two variables"
    assert set(counts("float.exp", plan)) == {
        *("equivalence", "boundary", "adversarial", "correlated", "random")
    }


def test_all_inputs_of_functions_are_left_to_the_digests() -> None:
    plan = make_plan("cpu", exhaustive=True)
    assert counts("float.sqrt", plan)["all"] == 1 << 32
    assert "all" not in counts("float.exp", plan)
    assert "all" not in counts("float.f16.sqrt", plan)


def test_a_case_by_name_is_the_case_of_the_run() -> None:
    found = graph_of("float.f64.fma")
    plan = make_plan("cpu", cases=4)
    run = next(k for k in kinds(found, plan) if k.name == "random")
    assert kind_of(found, "random", plan).case(3) == run.case(3)


def test_the_tracks_have_every_op_once() -> None:
    assert sorted((*ops_of(INTEGER), *ops_of(FLOAT))) == sorted(chosen_ops(()))
    assert {s.id for s in floats()} < set(ops_of(FLOAT))
    assert "cast.f32.f16" in ops_of(FLOAT)
    assert set(TRACK_STAGES[FLOAT]) < set(TRACK_STAGES[INTEGER]) == set(ALL_STAGES)


def test_float_cases_of_stages_came_after_the_others() -> None:
    """Cases are known by their numbers, which must not move."""
    plan = make_plan("cpu")
    assert determinism.STAGE.case("primitive.math.add") == "determinism/primitive.math.add/0"
    first = int(determinism.STAGE.case(floats()[0].id).rpartition("/")[2])
    assert first == determinism.STAGE.count(plan) - len(floats())
    only = replace(plan, ops=("float.add",))
    assert determinism.STAGE.count(only) == determinism.PROGRAMS + 1
    assert dispatches.STAGE.case("float.add").startswith("dispatches/float lengths/")
    assert dispatches.STAGE.case("primitive.math.add") == "dispatches/lengths/0"


def test_f64_is_defined_on_its_own_buffers() -> None:
    program = definition_program(spec("float.f64.add"))
    assert {b.element for b in program.buffers} == {DataType.F64}
    assert {b.element for b in definition_program(spec("float.f16.add")).buffers} == {DataType.U32}


class Right:
    """`cpu`, with `spoil` on what every kernel of one float operation wrote."""

    name = "cpu"
    spoiled = ""

    def __init__(self) -> None:
        self.inner = get("cpu")

    def describe(self) -> Any:
        return self.inner.describe()

    def compile(self, program: Program) -> Any:
        inner, text, spoil = self.inner.compile(program), program.to_text(), self.spoil
        if not self.spoiled or self.spoiled not in text:
            return inner

        class Executable:
            lowering = "spoiled"

            def run(self, buffers: Any, workgroups: Any) -> None:
                inner.run(buffers, workgroups)
                spoil(buffers)

        return Executable()

    def spoil(self, buffers: Any) -> None: ...


class OneUlp(Right):
    """Every 1,000th product of halves is off by one unit in the last place."""

    spoiled = "fmul"

    def spoil(self, buffers: Any) -> None:
        out = np.frombuffer(buffers["out"], np.uint16)
        out[999::1000] ^= np.uint16(1)


class OrderMatters(Right):
    """A sum of halves that is rounded the other way when the first operand has more bits set above."""

    spoiled = "fadd"

    def spoil(self, buffers: Any) -> None:
        a, b, out = (np.frombuffer(buffers[name], np.uint16) for name in ("x0", "x1", "out"))
        if a.size == b.size == out.size:
            out[(a > b) & (a & 15 == 0)] ^= np.uint16(1)


class WithoutDoubles(Right):
    """Refuses F64."""

    def compile(self, program: Program) -> Any:
        if any(b.element is DataType.F64 for b in program.buffers):
            raise UnsupportedByBackend("F64", self.name, why="there are no doubles here")
        return super().compile(program)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vyre.conform.verify.cases.SHAPED", 1 << 11)
    monkeypatch.setattr("vyre.conform.verify.stages.determinism.CASES", 256)
    monkeypatch.setattr("vyre.conform.verify.stages.determinism.PROGRAMS", 1)


def certified(backend: Any, folder: Path, *ops: str) -> CertificateContents:
    stages = ("regressions", "ops", "determinism")
    plan = make_plan("cpu", ops=ops, stages=stages, cases=1 << 11, repeats=1, programs=1)
    journal = Journal(folder / "journal.jsonl", {"plan": asdict(plan)}, resume=False)
    run = Suite(plan, backend, journal, target="cpu").run()
    (made,) = certificates(run.results, promised=registry_now())
    return made


OPS = ("float.f16.mul", "float.f16.add", "float.f64.add", "float.f64.mul")


def test_a_right_backend_passes_and_the_certificate_says_how(tmp_path: Path) -> None:
    made = certified(Right(), tmp_path, *OPS)
    assert made.failures == ()
    by_id = {o.id: o for o in made.ops}
    assert [by_id[i].track for i in OPS] == [FLOAT] * 4
    assert by_id["float.f64.add"].lowering == "native"
    assert by_id["float.f16.mul"].lowering in ("native", "soft")
    laws = {law.law: law for law in by_id["float.f16.mul"].laws}
    assert laws["Commutative"].witnessed == 1 << 11
    assert {k.kind: k.cases for k in by_id["float.f16.mul"].parity}["random"] == 1 << 11
    reasons = [r for level in made.track(FLOAT).levels for r in level.reasons]
    assert "2,048 random cases were planned; 1,000,000 are needed" in reasons
    text = "\n".join("".join(part for part, _ in line) for line in summary(made.results, [made]))
    assert "float.f16" in text
    assert "2,048 random" in text


def test_a_wrong_last_bit_is_found_and_made_small(tmp_path: Path) -> None:
    made = certified(OneUlp(), tmp_path, "float.f16.mul")
    parity = next(f for f in made.failures if f.kind != "coverage" and f.case.startswith("float.f16.mul/"))
    assert parity.op == "float.f16.mul"
    assert {o.id: o.lowering for o in made.ops}["float.f16.mul"] == "spoiled"
    assert any("float.f16.mul differs" in r for r in made.track(FLOAT).levels[0].reasons)


def test_a_sum_that_depends_on_the_order_breaks_its_law(tmp_path: Path) -> None:
    made = certified(OrderMatters(), tmp_path, "float.f16.add")
    (added,) = made.ops
    assert next(law for law in added.laws if law.law == "Commutative").counts
    failed = {law.law: sum(c.failed for c in law.counts) for law in added.laws}
    assert failed["Commutative"]
    assert any(f.kind == "law" for f in made.failures)


def test_without_doubles_nothing_is_blocked(tmp_path: Path) -> None:
    made = certified(WithoutDoubles(), tmp_path, *OPS)
    assert [(u.op, u.blocking) for u in made.unsupported] == [
        ("float.f64.add", False),
        ("float.f64.mul", False),
    ]
    assert not any("is refused" in r for r in made.track(FLOAT).levels[0].reasons)
    assert made.derived() == made


def test_proofs_are_made_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(ahead, "WORTHWHILE", 1)
    monkeypatch.setattr("vyre.conform.verify.composition.proofs.provable_ops", tuple)
    monkeypatch.setattr(os, "nice", abs)
    ahead.main(["float.f16.neg"])
    kept = list(tmp_path.rglob("*.json"))
    assert len(kept) == 1
    (proof,) = law_proofs(["float.f16.neg"], ProofCache(default_folder()))
    assert proof.evidence == "proved"
    assert list(tmp_path.rglob("*.json")) == kept


def test_a_run_that_is_cut_short_ends_the_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    begin = ahead.subprocess.Popen

    def endless(_: Any, **options: Any) -> Any:
        started.append(begin([sys.executable, "-c", "import time; time.sleep(600)"], **options))
        return started[-1]

    monkeypatch.setattr(ahead.subprocess, "Popen", endless)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    asked: list[bool] = []

    def cut_short() -> None:
        with ahead.proofs_ahead(["float.add"] * ahead.WORTHWHILE) as proving:
            asked.append(proving())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut_short()
    (process,) = started
    assert process.returncode
    assert asked == [True]
    with ahead.proofs_ahead(["float.add"]) as proving:
        assert len(started) == 1, "a few ops are not worth a process"
        assert not proving()


class Folded(Right):
    """Shows the machine code of a kernel that only copies."""

    def compile(self, program: Program) -> Any:
        inner = self.inner.compile(program)
        copy: Any = self.inner.compile(control.copying(program))

        class Executable:
            lowering = "native"

            def assembly(self) -> str:
                return copy.assembly()

            def run(self, buffers: Any, workgroups: Any) -> None:
                inner.run(buffers, workgroups)

        return Executable()


@pytest.mark.parametrize("cpu", LEVELS)
@pytest.mark.parametrize("name", ["add", "fma", "f64.sqrt"])
def test_the_instruction_of_native_arithmetic_is_looked_for(name: str, cpu: str) -> None:
    if not runs_here(cpu):
        pytest.skip(f"this processor does not run {cpu}")
    right, folded = CpuBackend(threads=1, cpu=cpu), Folded()
    folded.inner = right
    found = spec(f"float.{name}")
    assert control.instruction(Bench(right), found) == control.SEEN
    assert control.instruction(Bench(folded), found) == control.NOT_SEEN
    assert control.instruction(Bench(right), spec("float.f16.add")) == control.NOT_EXPOSED


def test_a_track_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[RunPlan] = []

    def stop(plan: RunPlan, _: Any, journal: Journal, **__: Any) -> Any:
        asked.append(plan)
        journal.close()
        raise VyreError("stopped.", fix="nothing.")

    monkeypatch.setattr("vyre.conform.suite.run.Suite", stop)
    options = ["--in-process", "--state", str(tmp_path)]
    for more in ([], ["--cases", "5"], ["--stage", "ops", "--ops", "float.add"]):
        CliRunner().invoke(main, ["certify", "cpu", "--track", "float", *options, *more])
    first, second, third = asked
    assert first.ops == second.ops == ops_of(FLOAT)
    assert first.stages == TRACK_STAGES[FLOAT]
    assert (first.float_cases, second.float_cases, second.cases) == (1 << 20, 5, 5)
    assert (third.ops, third.stages) == (("float.add",), ("ops",))
