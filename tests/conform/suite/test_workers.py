"""Several processes share the blocks of a run: the results are those of one, whatever happens to them."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("llvmlite")

from tests import wrong
from vyre.certification import CertifyPlan, certify
from vyre.conform.process.isolate import Isolated
from vyre.conform.records.journal import Journal
from vyre.conform.suite import run as suite_run
from vyre.conform.suite.regressions import Store
from vyre.conform.suite.run import CertifyProgress, Run, Suite, make_plan
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vyre.backends.protocol import BackendInfo

OPS = ("primitive.math.sub", "primitive.math.mul")
WRONG = "tests.wrong:WrongOnEqual"


@pytest.fixture(autouse=True)
def _few_blocks_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite_run, "BLOCKS", 2)


class Wandering(wrong.Right):
    """Another device in each process."""

    def describe(self) -> BackendInfo:
        return replace(super().describe(), device=f"device of process {os.getpid()}")


def run(
    target: str,
    folder: Path,
    processes: int,
    *,
    stages: tuple[str, ...] = ("ops",),
    resume: bool = False,
    meanwhile: Callable[[Suite, CertifyProgress], None] = lambda suite, said: None,
    store: Store | None = None,
) -> Run:
    with Isolated(target, timeout=30) as backend:
        plan = make_plan(backend.name, ops=OPS, stages=stages, cases=256, largest=0, programs=16, store=store)
        journal = Journal(folder / "journal.jsonl", {"plan": asdict(plan)}, resume=resume)
        suite: Any = Suite(
            plan, backend, journal, target=target, processes=processes, store=store,
            progress=lambda said: meanwhile(suite, said),
        )  # fmt: skip
        assert len(suite.blocks) >= 4
        return suite.run()


def ended(restarts: list[int]) -> Callable[[Suite, CertifyProgress], None]:
    """Kills a worker when the first block is done."""

    def kill(suite: Any, said: CertifyProgress) -> None:
        if not restarts:
            restarts.append(suite._workers._every[0]._process.process.pid)
            os.kill(restarts[0], 9)

    return kill


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """A run of one process, and its folder."""
    folder = tmp_path_factory.mktemp("alone")
    found = run(WRONG, folder, 1)
    assert found.results.failures
    return folder, found


def test_the_results_are_the_same_for_two_processes(alone: tuple[Path, Run], tmp_path: Path) -> None:
    shared = run(WRONG, tmp_path, 2)
    assert shared.results.to_json() == alone[1].results.to_json()
    assert shared.blocks == alone[1].blocks


def test_a_crash_is_blamed_on_the_same_case_by_two_processes(tmp_path: Path) -> None:
    one, two = (run("tests.wrong:Exiting", tmp_path / str(n), n) for n in (1, 2))
    assert one.results.failures
    assert two.results.to_json() == one.results.to_json()
    assert two.timing.restarts


def test_a_worker_that_is_lost_costs_nothing_but_time(alone: tuple[Path, Run], tmp_path: Path) -> None:
    killed: list[int] = []
    shared = run(WRONG, tmp_path, 2, meanwhile=ended(killed))
    assert killed
    assert shared.results.to_json() == alone[1].results.to_json()


def test_a_run_goes_on_with_another_number_of_processes(alone: tuple[Path, Run], tmp_path: Path) -> None:
    half = (alone[0] / "journal.jsonl").read_bytes().splitlines(keepends=True)[:4]
    (tmp_path / "journal.jsonl").write_bytes(b"".join(half))
    resumed = run(WRONG, tmp_path, 2, resume=True)
    assert resumed.timing.resumed_cases
    assert resumed.results.to_json() == alone[1].results.to_json()


def test_stored_failures_are_replayed_where_they_are_known(alone: tuple[Path, Run], tmp_path: Path) -> None:
    store = Store(tmp_path / "failures")
    for failure in alone[1].results.failures:
        store.add(failure)
    shared = run(WRONG, tmp_path, 2, stages=("regressions", "ops"), store=store)
    again = [f for f in shared.results.failures if f.stage == "regressions"]
    assert len(again) == len(alone[1].results.failures)
    assert {f.smallest for f in again} == {f.smallest for f in alone[1].results.failures}


def test_a_worker_on_another_device_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(VyreError, match="not the one that the run began with: device is"):
        run(f"{__name__}:Wandering", tmp_path, 2)


def test_a_backend_in_this_process_has_no_workers() -> None:
    with pytest.raises(VyreError, match="process of its own"):
        certify(wrong.Right(), plan=CertifyPlan(ops=OPS, cases=16, processes=2))
    with pytest.raises(VyreError, match="at least 1, got 0"):
        CertifyPlan(processes=0)
