"""Kernels compiled ahead: the right ones, none of them run, and nothing left behind."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from vyre.conform.certify import kernels
from vyre.conform.plan import make_plan

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.ir.program import Program


class Recorder:
    """A backend that notes what it compiles and cannot run anything."""

    name = "cpu"

    def __init__(self) -> None:
        self.programs: list[Program] = []

    def compile(self, program: Program) -> None:
        self.programs.append(program)


def test_golden_rows_ops_and_stages_are_compiled() -> None:
    plan = make_plan("cpu", ops=("primitive.math.add", "float.add"), stages=("ops", "bounds", "folding"))
    backend = Recorder()
    count = kernels.compile_all(plan, backend)
    assert count == len(backend.programs)
    from vyre.conform.registry import spec
    from vyre.conform.verify.bench import program_of

    assert backend.programs[:2] == [program_of(spec("float.add")), program_of(spec("primitive.math.add"))]
    assert count > 90


def test_a_kernel_that_cannot_be_compiled_is_passed_over() -> None:
    class Broken(Recorder):
        def compile(self, program: Program) -> None:
            raise RuntimeError("no compiler")

    plan = make_plan("cpu", ops=("primitive.math.add",), stages=("folding",))
    assert kernels.compile_all(plan, Broken()) == 0


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
