"""Kernels compiled ahead: the right ones, each once, none of them run, and nothing left behind."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from vyre.backends.protocol import BackendInfo
from vyre.compose.inline import inline
from vyre.conform.certify import kernels
from vyre.conform.oracle.golden.rows import load_rows
from vyre.conform.registry import spec
from vyre.conform.suite.plan import make_plan
from vyre.conform.suite.units import ALL_STAGES
from vyre.conform.verify.bench import program_of
from vyre.conform.verify.golden.replay import jobs_of
from vyre.wire import meaning_digest

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path

    from vyre.ir.program import Program


class Recorder:
    """A backend that notes what it is to compile and cannot run anything; some kernels are `there`."""

    name = "cpu"

    def __init__(self, there: Container[str] = ()) -> None:
        self.programs: list[Program] = []
        self.there = there

    def compile_ahead(self, program: Program) -> bool:
        self.programs.append(program)
        return meaning_digest(program) not in self.there

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "none")


class Everything:
    """What a cache holds after a run of all there is."""

    def __contains__(self, digest: object) -> bool:
        return True


def test_ops_and_stages_are_compiled() -> None:
    plan = make_plan("cpu", ops=("primitive.math.add", "float.add"), stages=("ops", "bounds", "folding"))
    backend = Recorder()
    count = kernels.compile_all(plan, backend)
    assert count == len(backend.programs)
    assert backend.programs[:2] == [program_of(spec("float.add")), program_of(spec("primitive.math.add"))]
    assert count > 130


def test_of_golden_rows_every_kernel_is_compiled_once() -> None:
    backend = Recorder()
    kernels.compile_all(make_plan("cpu", ops=("primitive.math.add",), stages=("golden",)), backend)
    found = [meaning_digest(program) for program in backend.programs]
    assert len(set(found)) == len(found)
    assert set(found) == {meaning_digest(inline(j.program, j.registry)) for j in jobs_of(load_rows())}


@pytest.mark.parametrize(
    "stage", [s for s in ALL_STAGES if s not in ("ops", "regressions", kernels.EVIDENCE)]
)
def test_every_stage_asks_for_kernels(stage: str) -> None:
    backend = Recorder()
    plan = make_plan("cpu", ops=("primitive.math.add", "float.add"), stages=(stage,), programs=16)
    assert kernels.compile_all(plan, backend) > 1


def test_nothing_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object, **__: object) -> None:
        proved.append(True)

    proved: list[bool] = []
    monkeypatch.setattr("vyre.semantics.proof_cache.ProofCache.solve", asked)
    plan = make_plan("cpu", ops=("primitive.math.add",), stages=ALL_STAGES, programs=2)
    assert kernels.compile_all(plan, Recorder()) > 100
    assert not proved


def test_a_program_of_two_stages_is_compiled_once() -> None:
    op = "primitive.math.add"
    backend = Recorder()
    kernels.compile_all(make_plan("cpu", ops=(op,), stages=("ops", "determinism")), backend)
    assert backend.programs.count(program_of(spec(op))) == 1


def test_where_the_run_was_before_the_stage_is_left() -> None:
    stages = ("golden", "folding")
    plan = make_plan("cpu", ops=("primitive.math.add",), stages=stages)
    backend = Recorder(Everything())
    assert kernels.compile_all(plan, backend) == 0
    assert len(backend.programs) == len(stages) * kernels.MET


def test_a_few_known_kernels_are_passed_over() -> None:
    plan = make_plan("cpu", ops=("primitive.math.add",), stages=("folding",))
    all_of_them = Recorder()
    kernels.compile_all(plan, all_of_them)
    known = {meaning_digest(p) for p in all_of_them.programs[: kernels.MET - 1]}
    backend = Recorder(known)
    assert kernels.compile_all(plan, backend) == len(all_of_them.programs) - len(known)


def test_a_kernel_that_cannot_be_compiled_is_passed_over() -> None:
    class Broken(Recorder):
        def compile_ahead(self, program: Program) -> bool:
            super().compile_ahead(program)
            raise RuntimeError("no compiler")

    plan = make_plan("cpu", ops=("primitive.math.add",), stages=("folding",))
    backend = Broken()
    assert kernels.compile_all(plan, backend) == 0
    assert len(backend.programs) > kernels.MET


def test_the_process_is_given_the_plan_and_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VYRE_CACHE", str(tmp_path))
    monkeypatch.setattr(kernels, "WORTHWHILE", 1)
    started: list[Any] = []
    begin = kernels.subprocess.Popen

    def noted(command: list[str], **options: Any) -> Any:
        started.append((begin(["sleep", "600"], **options), command))
        return started[-1][0]

    monkeypatch.setattr(kernels.subprocess, "Popen", noted)
    plan = make_plan("cpu", ops=("primitive.math.add",), stages=("ops",))
    with kernels.kernels_ahead(plan):
        process, command = started[0]
        assert process.poll() is None
        assert json.loads(command[-1]) == json.loads(json.dumps(asdict(plan)))
    assert process.poll() is not None
    with kernels.kernels_ahead(make_plan("reference", ops=("primitive.math.add",), stages=("ops",))):
        assert len(started) == 1


def test_the_plan_survives_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    seen: list[Any] = []

    def noted(plan: Any, backend: Any) -> None:
        seen.append((plan, backend.name))

    def idle(step: int) -> None:
        assert step > 0

    monkeypatch.setattr(kernels, "compile_all", noted)
    monkeypatch.setattr(kernels.os, "nice", idle)
    plan = make_plan("cpu", ops=("primitive.math.add",), stages=("ops", "golden"))
    kernels.main(json.dumps(asdict(plan)))
    assert seen == [(plan, "cpu")]
