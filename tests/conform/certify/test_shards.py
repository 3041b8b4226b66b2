"""Shards on a Ray cluster: one certificate in the end, also when a worker is lost on the way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vyre.backends.cpu.backend import CpuBackend
from vyre.certification import Certificate, CertifyPlan, RayCluster
from vyre.certification.cluster import ShardJob, on_ray, run_job, split
from vyre.errors import VyreError

if TYPE_CHECKING:
    from vyre.backends.protocol import Executable
    from vyre.ir.program import Program

MARK = "VYRE_TEST_LOSE_A_WORKER"
MORTAL = f"{__name__}:Mortal"
ROOT = Path(__file__).parents[3]


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


def plan() -> CertifyPlan:
    ops = ("primitive.math.sub", "primitive.bitwise.not", "primitive.compare.lt")
    return CertifyPlan(quick=True, ops=ops, stages=("ops", "barrier"), isolate=False)


def merged(files: list[bytes]) -> bytes:
    return Certificate.merge(*map(Certificate.parse, files)).data


def whole(folder: Path) -> bytes:
    (only,) = split(plan(), MORTAL, 1, state=str(folder))
    return run_job(only)


def test_shards_one_after_the_other_make_the_whole(tmp_path: Path) -> None:
    jobs = split(plan(), MORTAL, 3, state=str(tmp_path))
    assert merged([run_job(job) for job in jobs]) == whole(tmp_path)
    assert [job.plan.shard for job in jobs] == [(1, 3), (2, 3), (3, 3)]


def test_a_shard_cannot_be_split_again() -> None:
    job = split(plan(), "cpu", 2)[0]
    with pytest.raises(VyreError, match="split again"):
        split(job.plan, "cpu", 2)
    with pytest.raises(VyreError, match="at least 1"):
        split(plan(), "cpu", 0)


def test_a_lost_worker_costs_nothing_but_time(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    mark = tmp_path / "died"
    jobs = split(plan(), MORTAL, 3, state=str(tmp_path))
    finished: list[ShardJob] = []
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {MARK: str(mark), "PYTHONPATH": path, "VYRE_CACHE": "off"}
    found = on_ray(jobs, RayCluster(environment=environment), done=finished.append)
    assert mark.exists()
    assert len(finished) == 3
    assert merged(found) == whole(tmp_path)
