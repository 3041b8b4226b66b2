"""A certification in parts: every shard certified on its own on a Ray cluster, then merged.

    certify_on(RayCluster(shards=8), "cpu", plan)

A shard needs nothing of the others, so a worker that is lost costs its shard's time: the shard is run again
elsewhere, and where its journal has survived it goes on from there, on the same device. Shards of different
devices are not merged. The merged certificate is, byte for byte, the one that a single run would have given.
"""

from __future__ import annotations

import importlib
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vyre.certification.certificate import Certificate
from vyre.certification.single import certify_opened, opened
from vyre.conform.process.provenance import provenance
from vyre.conform.suite.run import CertifyProgress, require_exact
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vyre.certification.plan import CertifyPlan
    from vyre.conform.certify.keys import SigningKey

RETRIES = 5
"""How often Ray starts a shard again whose worker was lost."""


@dataclass(frozen=True, slots=True)
class RayCluster:
    """Into how many shards a run is cut, and the cluster that runs them: at `address`, or one made of this
    machine."""

    shards: int = 8
    address: str | None = None
    environment: dict[str, str] | None = None
    """Environment variables of the workers."""


@dataclass(frozen=True, slots=True)
class ShardJob:
    """One shard, with all a worker needs to run it."""

    plan: CertifyPlan
    target: str
    state: str = ""
    """Where its journal lies; the temporary folder of the worker's machine where nothing is named."""

    @property
    def name(self) -> str:
        return f"shard {self.plan.shard[0]} of {self.plan.shard[1]}"


def certify_on(
    cluster: RayCluster,
    target: str,
    plan: CertifyPlan,
    *,
    key: SigningKey | None = None,
    progress: Callable[[CertifyProgress], None] | None = None,
) -> Certificate:
    """The certificate of the run; `progress` is told of each shard that is done."""
    if plan.baseline is not None:
        raise VyreError("--baseline needs a run on one machine.", fix="leave out --engine, or --baseline.")
    with opened(target, plan) as (backend, _):
        require_exact(backend.describe())
        stored = plan.run_plan(backend.name, plan.store).regressions
    if stored:
        raise VyreError(
            f"{len(stored)} stored failures are replayed by a run on one machine.",
            fix="run without an engine first, or name an empty folder with --failures.",
        )
    jobs = split(plan, target, cluster.shards)
    finished: list[ShardJob] = []

    def done(job: ShardJob) -> None:
        finished.append(job)
        if progress is not None:
            progress(CertifyProgress(len(finished), len(jobs), 0, job.name, 0))

    first, *others = [Certificate.parse(data) for data in on_ray(jobs, cluster, done=done)]
    if others:
        return first.merge(*others, key=key)
    return first if key is None else first.signed(key)


def split(plan: CertifyPlan, target: str, shards: int, *, state: str = "") -> list[ShardJob]:
    """The jobs of a run that is not a shard itself."""
    if plan.shard != (1, 1):
        raise VyreError("a shard cannot be split again.", fix="leave out --shard, or the engine.")
    if shards < 1:
        raise VyreError(f"a run has at least 1 shard, got {shards}.", fix="use --shards 1 or more.")
    alone = replace(plan, baselines=False, state=None, resume=False, keep_failures=False)
    return [ShardJob(replace(alone, shard=(k, shards)), target, state) for k in range(1, shards + 1)]


def run_job(job: ShardJob) -> bytes:
    """The certificate of one shard, as the bytes of its file."""
    with opened(job.target, job.plan) as (backend, target):
        # A worker on another device has a journal of its own, and begins anew.
        place = provenance(backend, target).digest[:16]
        state = Path(job.state or tempfile.gettempdir()) / "vyre-shards" / place
        return certify_opened(backend, target, replace(job.plan, state=state, resume=True)).data


def on_ray(
    jobs: Sequence[ShardJob], cluster: RayCluster, *, done: Callable[[ShardJob], None] = lambda _: None
) -> list[bytes]:
    """The certificates of all shards, in the order of the jobs."""
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise VyreError("Ray is not installed.", fix="pip install 'vyre[ray]'.") from None
    try:
        ray.init(
            address=cluster.address,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            runtime_env={"env_vars": cluster.environment} if cluster.environment else None,
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise VyreError(f"no Ray cluster answers: {error}.", fix="check --ray-address.") from None
    try:
        return list(_gathered(ray, jobs, done))
    finally:
        ray.shutdown()


def _gathered(ray: Any, jobs: Sequence[ShardJob], done: Callable[[ShardJob], None]) -> Iterator[bytes]:
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
