"""Several processes that run the blocks of one plan, each with a backend of its own.

    with Workers(2, plan, place, timeout=60) as workers:
        workers.record(unit, block, stopped)         from as many threads as there are workers

A block is run by whichever worker is free, and its record does not depend on which. A worker has the backend
in a process of its own, as a run without workers has it: what crashes or hangs is blamed on a case there.
One that is lost itself raises `WorkerLost`, and the block is for the caller to run.
"""

from __future__ import annotations

import os
import queue
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from vyre.backends.float_state import default_state
from vyre.conform.process.isolate import Isolated
from vyre.conform.process.provenance import device_changed, differences, moved, provenance
from vyre.conform.process.spawned import connected, spawn
from vyre.conform.suite.block_runner import BlockRunner
from vyre.conform.suite.units import units
from vyre.conform.verify.bench import Bench
from vyre.errors import VyreError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from vyre.conform.process.provenance import Provenance
    from vyre.conform.records.blocks import OpBlock, StageBlock
    from vyre.conform.records.results import RunPlan
    from vyre.conform.suite.block_runner import Place
    from vyre.conform.suite.units import Block, Unit

BLOCKS = 8
"""Blocks for each worker from which it is worth the second that it takes to start."""

MOST = 8
"""Workers of a run for which no number is asked."""


class WorkerLost(Exception):
    """A worker ended, or failed in a way that is not the backend's; its block has no record."""


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Workers:
    """The workers of a run; `place` is where its blocks belong."""

    def __init__(self, count: int, plan: RunPlan, place: Provenance, *, timeout: float) -> None:
        self._every = [_Worker(plan, place, timeout) for _ in range(count)]
        self._free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for worker in self._every:
            self._free.put(worker)

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._every:
            worker.end()

    @property
    def restarts(self) -> int:
        """How often their backends were started again."""
        return sum(worker.restarts for worker in self._every)

    def record(self, unit: Unit, block: Block, stopped: Place | None) -> StageBlock | OpBlock:
        """Waits for a free worker. Raises `VyreError` where its backend is not the one of the run."""
        worker = self._free.get()
        try:
            return worker.record(unit.name, block, stopped)
        finally:
            self._free.put(worker)


class _Worker:
    """One of them, seen from the run. Used by one thread at a time."""

    def __init__(self, plan: RunPlan, place: Provenance, timeout: float) -> None:
        self._place = place
        self._process = spawn("from vyre.conform.suite.workers import main; main()")
        self._usable = self._greeted = False
        self.restarts = 0
        with suppress(OSError):  # one that is dying already, which the first block tells
            self._process.connection.send((plan, place.backend.target, timeout))
            self._usable = True

    def record(self, unit: str, block: Block, stopped: Place | None) -> StageBlock | OpBlock:
        if not self._usable:
            raise WorkerLost
        try:
            if not self._greeted:
                self._require_same(self._received())
            self._process.connection.send((unit, block, stopped))
            record, self.restarts = self._received()
        except (EOFError, OSError):
            self._usable = False
            raise WorkerLost from None
        return record

    def _received(self) -> Any:
        match self._process.connection.recv():
            case ("error", message, fix):
                raise VyreError(message, fix=fix)
            case ("ok", found):
                return found
            case _:
                raise EOFError

    def _require_same(self, found: Provenance) -> None:
        self._greeted = True
        told = differences(self._place.backend, found.backend)
        if told:
            raise device_changed("; ".join(told))

    def end(self) -> None:
        self._usable = False
        self._process.end()


def main() -> None:
    """What a worker does until the run ends."""
    connection, _ = connected()
    plan, target, timeout = connection.recv()
    with ExitStack() as stack:
        stack.enter_context(default_state())
        try:
            backend = stack.enter_context(Isolated(target, timeout=timeout))
            place = provenance(backend, target)
        except VyreError as error:
            connection.send(("error", error.message, error.fix))
            return
        connection.send(("ok", place))
        runner = BlockRunner(Bench(backend), plan)
        named = {unit.name: unit for unit in units(plan, None)}
        while True:
            try:
                name, block, stopped = connection.recv()
            except (EOFError, OSError):
                return
            try:
                connection.send(
                    ("ok", (_recorded(runner, named[name], block, stopped, place), backend.restarts))
                )
            except VyreError as error:
                connection.send(("error", error.message, error.fix))


def _recorded(
    runner: BlockRunner, unit: Unit, block: Block, stopped: Place | None, place: Provenance
) -> StageBlock | OpBlock:
    if stopped is not None:
        runner.stop(unit.group, stopped)
    if runner.bench.held.overgrown():
        runner.bench.held.renew()
    record = runner.record(unit, block)
    what = moved(runner.bench.backend, place)
    if what:
        raise device_changed(what)
    return record
