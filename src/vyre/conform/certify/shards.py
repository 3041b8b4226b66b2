"""A run in parts: every shard certified on its own, here or on a Ray cluster, then merged.

    jobs = split(plan, target, 8, timeout=60)
    certificate = merge([read(data).certificate for data in on_ray(jobs)])

A shard needs nothing of the others, so a worker that is lost costs its shard's time: the shard is run again
elsewhere, and where its journal has survived it goes on from there, on the same device. Shards of different
devices are not merged. The merged certificate is, byte for byte, the one that a single run would have given.
"""

from __future__ import annotations

import importlib
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vyre.conform.records.results import RunPlan

RETRIES = 5
"""How often Ray starts a shard again whose worker was lost."""


@dataclass(frozen=True, slots=True)
class Job:
    """One shard, with all a worker needs to run it."""

    plan: RunPlan
    target: str
    timeout: float
    in_process: bool = False
    state: str = ""
    """Where its journal lies; the temporary folder of the worker's machine where nothing is named."""
    expected: tuple[tuple[str, str], ...] = ()


def split(
    plan: RunPlan,
    target: str,
    shards: int,
    *,
    timeout: float = 60.0,
    in_process: bool = False,
    state: str = "",
    expected: Sequence[tuple[str, str]] = (),
) -> list[Job]:
    """The jobs of a run that is not a shard itself."""
    if plan.shard != (1, 1):
        raise VyreError("a shard cannot be split again.", fix="leave out --shard, or the engine.")
    if plan.regressions:
        raise VyreError(
            f"{len(plan.regressions)} stored failures are replayed by a run on one machine.",
            fix="run without an engine first, or name an empty folder with --failures.",
        )
    if shards < 1:
        raise VyreError(f"{shards} shards are none.", fix="use 1 or more.")
    return [
        Job(replace(plan, shard=(k, shards)), target, timeout, in_process, state, tuple(expected))
        for k in range(1, shards + 1)
    ]


def run_job(job: Job) -> bytes:
    """The certificate of one shard, as the bytes of its file."""
    from vyre.backends.protocol import ClosingBackend
    from vyre.conform.certify.earned import earned
    from vyre.conform.certify.statement import write
    from vyre.conform.process.isolate import Isolated
    from vyre.conform.process.load import load
    from vyre.conform.process.provenance import provenance
    from vyre.conform.records.journal import Journal
    from vyre.conform.suite.run import Suite

    backend = load(job.target) if job.in_process else Isolated(job.target, timeout=job.timeout)
    try:
        # A worker on another device has a journal of its own, and begins anew.
        place = provenance(backend, job.target).digest[:16]
        name = f"{job.plan.digest[:16]}-{place}"
        folder = Path(job.state or tempfile.gettempdir()) / "vyre-shards" / name
        journal = Journal(folder / "journal.jsonl", {"plan": asdict(job.plan)}, resume=True)
        run = Suite(job.plan, backend, journal, target=job.target, expected=job.expected).run()
    finally:
        if isinstance(backend, ClosingBackend):
            backend.close()
    return write(earned(run)[0])


def on_ray(
    jobs: Sequence[Job],
    *,
    address: str | None = None,
    done: Callable[[Job], None] = lambda _: None,
    environment: dict[str, str] | None = None,
) -> list[bytes]:
    """The certificates of all shards, from the cluster at `address`, or from one made of this machine."""
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise VyreError("Ray is not installed.", fix="pip install 'vyre[ray]'.") from None
    try:
        ray.init(
            address=address,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            runtime_env={"env_vars": environment} if environment else None,
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise VyreError(f"no Ray cluster answers: {error}.", fix="check --ray-address.") from None
    try:
        return list(_gathered(ray, jobs, done))
    finally:
        ray.shutdown()


def _gathered(ray: Any, jobs: Sequence[Job], done: Callable[[Job], None]) -> Iterator[bytes]:
    """Results in the order of the jobs, whichever finishes first."""
    task = ray.remote(max_retries=RETRIES)(run_job)
    waiting = {task.remote(job): k for k, job in enumerate(jobs)}
    found: dict[int, bytes] = {}
    while waiting:
        (ready, *_), _ = ray.wait(list(waiting), num_returns=1)
        k = waiting.pop(ready)
        try:
            found[k] = ray.get(ready)
        except ray.exceptions.RayTaskError as error:
            cause: Any = error.cause
            raise (
                cause
                if isinstance(cause, VyreError)
                else VyreError(
                    f"shard {jobs[k].plan.shard[0]} failed on its worker: {error}",
                    fix="run it alone, with --shard.",
                )
            ) from None
        except ray.exceptions.RayError as error:
            raise VyreError(
                f"shard {jobs[k].plan.shard[0]} was lost with its worker {RETRIES + 1} times: {error}",
                fix="run it alone, with --shard, and see what ends its process.",
            ) from None
        done(jobs[k])
    yield from (found[k] for k in range(len(jobs)))
