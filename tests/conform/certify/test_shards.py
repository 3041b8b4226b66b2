"""Shards on a Ray cluster: one certificate in the end, also when a worker is lost on the way."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from vyre.backends.cpu.backend import CpuBackend
from vyre.conform.certify.merge import merge
from vyre.conform.certify.shards import Job, on_ray, run_job, split
from vyre.conform.certify.statement import read, write
from vyre.conform.suite.plan import make_plan
from vyre.errors import VyreError

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.backends.protocol import Executable
    from vyre.conform.records.results import RunPlan
    from vyre.ir.program import Program

MARK = "VYRE_TEST_LOSE_A_WORKER"


class Mortal(CpuBackend):
    """The processor, in a process that dies the first time it has compiled a few programs."""

    def __init__(self) -> None:
        super().__init__(threads=1, canaries=False)
        self._left = 5

    def compile(self, program: Program) -> Executable:  # type: ignore[override]
        self._left -= 1
        mark = os.environ.get(MARK, "")
        if mark and self._left < 0:
            try:
                os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                os._exit(1)
        return super().compile(program)


def plan() -> RunPlan:
    ops = ("primitive.math.sub", "primitive.bitwise.not", "primitive.compare.lt")
    return make_plan("cpu", cases=1 << 12, ops=ops, stages=("ops", "barrier"), largest=1 << 16)


def whole(folder: Path) -> bytes:
    (only,) = split(plan(), "test_shards:Mortal", 1, in_process=True, state=str(folder))
    return run_job(only)


def test_shards_one_after_the_other_make_the_whole(tmp_path: Path) -> None:
    jobs = split(plan(), "test_shards:Mortal", 3, in_process=True, state=str(tmp_path))
    merged = merge([read(run_job(job)).certificate for job in jobs])
    assert write(merged) == whole(tmp_path)
    assert len({job.plan.digest for job in jobs}) == 3


def test_a_shard_cannot_be_split_again() -> None:
    job = split(plan(), "cpu", 2)[0]
    with pytest.raises(VyreError, match="split again"):
        split(job.plan, "cpu", 2)
    with pytest.raises(VyreError, match="none"):
        split(plan(), "cpu", 0)


def test_a_lost_worker_costs_nothing_but_time(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    mark = tmp_path / "died"
    jobs = split(plan(), "test_shards:Mortal", 3, in_process=True, state=str(tmp_path))
    finished: list[Job] = []
    path = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
    environment = {MARK: str(mark), "PYTHONPATH": path, "VYRE_CACHE": "off"}
    found = on_ray(jobs, done=finished.append, environment=environment)
    assert mark.exists()
    assert len(finished) == 3
    assert write(merge([read(data).certificate for data in found])) == whole(tmp_path)
