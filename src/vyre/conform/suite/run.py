"""Runs everything there is to run on a backend, and gives results.

    plan = make_plan("mine", cases=1 << 20, store=store)
    run = Suite(plan, backend, journal, store).run()
    run.results, run.timing

The run is cut into blocks (`conform/suite/units.py`). Each finished block is one line of the journal; a run
that is killed and resumed with the same plan ends in the same results, byte for byte. Failures are made
small, kept in the store, and replayed first the next time.
"""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vyre.backends.float_state import default_state
from vyre.conform.process.locked import Locked
from vyre.conform.process.provenance import bind, device_changed, moved, provenance
from vyre.conform.records.blocks import FAILED, BlockEntry, BlockRecord, OpBlock, StageBlock
from vyre.conform.records.faults import Faults
from vyre.conform.spec.levels import SHAPES
from vyre.conform.spec.track import APPROXIMATE_NAMES, not_approximate
from vyre.conform.suite import fold
from vyre.conform.suite.block_runner import BlockRunner
from vyre.conform.suite.closing import Closing
from vyre.conform.suite.pace import Pace, StageProgress, spread
from vyre.conform.suite.plan import make_plan, settle
from vyre.conform.suite.resumed import resumed
from vyre.conform.suite.soak import Soaking, soaked_stages
from vyre.conform.suite.units import OPS, REGRESSIONS, STAGES, blocks, units
from vyre.conform.suite.workers import BLOCKS, WorkerLost, Workers
from vyre.conform.verify.bench import Bench
from vyre.conform.verify.stored import Regressions
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from vyre.backends.protocol import Backend, BackendInfo
    from vyre.conform.records.blocks import GroupEntry, SoakEntry
    from vyre.conform.records.journal import Journal
    from vyre.conform.records.results import Failure, Results, RunPlan, Soak
    from vyre.conform.suite.regressions import Store
    from vyre.conform.suite.units import Block, Unit

_THREADS = 2
"""One thread makes inputs and compares while the other waits for the backend."""


_ORDER = {REGRESSIONS: 0, SHAPES: 1}
"""What is run first: what failed before, and the longest blocks, which would leave all processes but one
without work at the end."""


@dataclass(frozen=True, slots=True)
class CertifyProgress:
    """How far a run is: `what` is the op or stage of the block that was finished last, or is begun first, and
    `failing` counts checks and cases that have failed so far."""

    done: int
    total: int
    resumed: int
    what: str
    failing: int
    stage: StageProgress | None = None
    """Where the run is now; None in what follows the stages, and for the shards of a cluster."""


@dataclass(frozen=True, slots=True)
class Timing:
    """What took how long, which is not part of the results; `groups` are seconds by op and stage."""

    seconds: float
    resumed_cases: int
    restarts: int
    groups: dict[str, float]


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run.

    `blocks` are the records the results were added up from.
    """

    results: Results
    timing: Timing
    blocks: tuple[BlockRecord, ...] = ()


class Suite:
    """One run of a plan on a backend."""

    def __init__(
        self,
        plan: RunPlan,
        backend: Backend,
        journal: Journal,
        *,
        store: Store | None = None,
        target: str = "",
        expected: Sequence[tuple[str, str]] = (),
        progress: Callable[[CertifyProgress], None] = lambda _: None,
        soak: float = 0,
        processes: int = 1,
        earlier: Mapping[str, float] | None = None,
    ) -> None:
        """`soak` are the minutes for which the run goes on beyond its plan. A backend in a process of its own
        may run in several, `processes` of them, each of which takes blocks; the results are the same.
        `earlier` are the seconds by op and stage of an earlier run, from which time is told ahead."""
        require_exact(backend.describe())
        if soak:
            soaked_stages(plan)
        self.plan = settle(plan, journal)
        self.place = provenance(backend, target or plan.backend)
        bind(journal, self.place)
        self.backend = Locked(backend)
        self.bench = Bench(self.backend)
        self.journal = journal
        self.store = store
        self.target = target or plan.backend
        self.faults = Faults(self.plan, self.target)
        self.expected = tuple(expected)
        self.progress = progress
        self.minutes = soak
        self.processes = processes
        self.earlier = earlier or {}
        stored = dict(store.load(plan.backend)) if store is not None else {}
        missing = [d for d in self.plan.regressions if d not in stored]
        if missing:
            raise VyreError(
                f"the stored failure {missing[0]} of this run is gone.", fix="start anew, without --resume."
            )
        old = [stored[d] for d in self.plan.regressions]
        self.units = units(self.plan, Regressions(old, self.bench, STAGES))
        self.blocks = blocks(self.plan, self.units)
        self.records: dict[tuple[int, int], StageBlock | OpBlock] = {}
        self.groups: dict[str, GroupEntry] = {}
        self.seconds: dict[str, float] = {}
        self._wrong: dict[str, int] = {}
        """Of groups that are not finished: checks and cases of their blocks that have failed."""

        self._here = BlockRunner(self.bench, self.plan)
        self._workers: Workers | None = None
        self._restarts = 0

    @default_state()
    def run(self) -> Run:
        """Runs what the journal does not have yet, and gives the results of the whole."""
        try:
            return self._run()
        finally:
            self.journal.close()

    def _run(self) -> Run:
        started = time.perf_counter()
        held = resumed(self.journal, self.units, self.blocks)
        self.records, self.groups = held.records, held.groups
        self._here.resume(held.stopped)
        for entry in self.groups.values():  # the run may have been killed between the journal and the store
            self._store(entry)
        before = sum(b.hi - b.lo for b in self.blocks if (b.unit, b.number) in self.records)
        self._work(before)
        soaked = self._soaked(held.soaked)
        self.journal.sync()
        results = replace(self._results(), soak=soaked)
        timing = Timing(
            seconds=round(time.perf_counter() - started, 3),
            resumed_cases=before,
            restarts=self.backend.restarts + self._restarts,
            groups={k: round(v, 3) for k, v in self.seconds.items()},
        )
        return Run(results, timing, self.block_records())

    def _work(self, resumed: int) -> None:
        todo = [b for b in self.blocks if (b.unit, b.number) not in self.records]
        left: dict[str, int] = {}
        for block in todo:
            left[self.units[block.unit].group] = left.get(self.units[block.unit].group, 0) + 1
        for group in dict.fromkeys(self.units[b.unit].group for b in self.blocks):
            if not left.get(group) and group not in self.groups:
                self._finish(group)
        total = sum(b.hi - b.lo for b in self.blocks)
        done, running = resumed, dict[Future[tuple[StageBlock | OpBlock, float]], "Block"]()
        queue = deque(self._in_order(todo))
        with self._helped(len(todo)) as threads, ThreadPoolExecutor(threads) as pool:
            pace = self._pace(threads)
            if queue:
                first = self.units[queue[0].unit]
                at = pace.at(_stage(first))
                self.progress(CertifyProgress(done, total, resumed, first.group, self._failing(), at))
            while queue or running:
                if not running and self.backend.overgrown():
                    self.backend.renew()
                while queue and len(running) < 2 * threads and not (running and self.backend.overgrown()):
                    block = queue.popleft()
                    running[pool.submit(self._execute, block)] = block
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in [f for f in running if f in finished]:
                    block = running.pop(future)
                    record, seconds = future.result()
                    self._require_same_device(ask=False)
                    self._keep(block, record)
                    done += block.hi - block.lo
                    unit = self.units[block.unit]
                    self.seconds[unit.group] = self.seconds.get(unit.group, 0.0) + seconds
                    pace.finished(_stage(unit), block.hi - block.lo, seconds)
                    left[unit.group] -= 1
                    if not left[unit.group]:
                        self._finish(unit.group)
                    now = next(iter(running.values()), queue[0] if queue else block)
                    at = pace.at(_stage(self.units[now.unit]))
                    self.progress(CertifyProgress(done, total, resumed, unit.group, self._failing(), at))

    def _in_order(self, chosen: Sequence[Block]) -> list[Block]:
        """Stage by stage, and within a stage dear and cheap mixed; only the blocks of one op are run in
        their order, because one that crashes ends the op."""
        parts: dict[str, dict[str | int, int]] = {}
        for block in self.blocks:
            parts.setdefault(_stage(self.units[block.unit]), {})[self._part(block)] = 0
        for found in parts.values():
            found.update(zip(found, spread(len(found)), strict=True))
        places = {stage: place for place, stage in enumerate(parts)}

        def order(block: Block) -> tuple[int, int, int]:
            stage = _stage(self.units[block.unit])
            return _ORDER.get(stage, len(_ORDER)), places[stage], parts[stage][self._part(block)]

        return sorted(chosen, key=order)

    def _part(self, block: Block) -> str | int:
        unit = self.units[block.unit]
        return block.number if unit.stage is not None else unit.group

    def _pace(self, threads: int) -> Pace:
        stages = [
            (_stage(self.units[b.unit]), b.hi - b.lo, (b.unit, b.number) in self.records)
            for b in self._in_order(self.blocks)
        ]
        earlier: dict[str, float] = {}
        for group, seconds in self.earlier.items():
            stage = group if group in self.plan.stages else OPS
            earlier[stage] = earlier.get(stage, 0.0) + seconds
        return Pace(stages, threads=threads, earlier=earlier)

    def _soaked(self, before: Sequence[SoakEntry]) -> tuple[Soak, ...] | None:
        """What is run beyond the plan, with what an earlier run of it has kept."""
        soaking = Soaking(self.bench, self.plan, self.target, self.journal, self.minutes, before)
        total = sum(b.hi - b.lo for b in self.blocks)
        for entry in soaking.before:
            self._keep_failures(entry.failures)
        for entry in soaking.run():
            self._require_same_device(ask=False)
            self._keep_failures(entry.failures)
            left = f"soak, {soaking.left / 60:.0f} minutes left"
            failing = self._failing() + soaking.failing
            self.progress(CertifyProgress(total, total, 0, left, failing))
        return soaking.result()

    def _require_same_device(self, *, ask: bool = True) -> None:
        """Raises `VyreError` where the backend is no longer the one that the run began with."""
        with self.backend.lock:
            what = moved(self.backend, self.place, ask=ask)
        if what:
            raise device_changed(what)

    def _failing(self) -> int:
        return sum(len(g.failures) for g in self.groups.values()) + sum(self._wrong.values())

    def _keep(self, block: Block, record: StageBlock | OpBlock) -> None:
        entry = BlockEntry(block.unit, block.number, record)
        self.records[block.unit, block.number] = self.journal.keep(entry).record
        group = self.units[block.unit].group
        self._wrong[group] = self._wrong.get(group, 0) + _failed(record)

    @contextmanager
    def _helped(self, blocks: int) -> Generator[int]:
        """Starts the workers that so many blocks are worth, and gives the threads to ask them from."""
        timeout, count = self.backend.timeout, min(self.processes, blocks // BLOCKS)
        if timeout is None or count < 2:
            yield _THREADS
            return
        with Workers(count, self.plan, self.place, timeout=timeout) as self._workers:
            try:
                yield count
            finally:
                self._restarts, self._workers = self._workers.restarts, None

    def _execute(self, block: Block) -> tuple[StageBlock | OpBlock, float]:
        """The record of a block, and the seconds that it took."""
        started = time.perf_counter()
        return self._recorded(self.units[block.unit], block), time.perf_counter() - started

    def _recorded(self, unit: Unit, block: Block) -> StageBlock | OpBlock:
        """By a worker where there are any. Stored failures are known here alone, and a block whose worker was
        lost is run here."""
        if self._workers is None or unit.name == REGRESSIONS:
            return self._here.record(unit, block)
        try:
            record = self._workers.record(unit, block, self._here.stopped(unit.group))
        except WorkerLost:
            return self._here.record(unit, block)
        if isinstance(record, OpBlock) and record.stop is not None:
            self._here.stop(unit.group, (block.unit, block.number))
        return record

    def _finish(self, group: str) -> None:
        """When a group has all its blocks: facts about the op, and its failures made small, are kept."""
        closing = Closing(self.bench, self.plan, self.faults, self.units, self.blocks)
        entry = closing.entry(group, self.records)
        self._require_same_device()
        self.groups[group] = entry = self.journal.keep(entry)
        self._wrong.pop(group, None)
        self._store(entry)

    def _store(self, entry: GroupEntry) -> None:
        """Keeps the failures of a finished group for the runs to come; one that is kept already stays."""
        if entry.group != REGRESSIONS:
            self._keep_failures(entry.failures)

    def _keep_failures(self, failures: Sequence[Failure]) -> None:
        if self.store is not None:
            for failure in failures:
                self.store.add(failure)

    def _results(self) -> Results:
        self._require_same_device()
        return fold.results(
            self.plan, self.place.backend, self.units, self.blocks, self.records, self.groups, self.expected,
            self.place.conditions,
        )  # fmt: skip

    def block_records(self) -> tuple[BlockRecord, ...]:
        """Every finished block."""
        return tuple(
            BlockRecord(self.units[b.unit].name, b.number, self.records[b.unit, b.number])
            for b in self.blocks
        )


def _stage(unit: Unit) -> str:
    return unit.name if unit.stage is not None else OPS


def _failed(record: StageBlock | OpBlock) -> int:
    if isinstance(record, StageBlock):
        return sum(outcome.status == FAILED for outcome in record.outcomes)
    return len(record.fails) + (record.stop is not None) + (record.made is not None)


def require_exact(info: BackendInfo) -> None:
    """Raises `VyreError` for a backend that declares an operation approximate which is exact by name."""
    strange = not_approximate(info.approximate)
    if strange:
        raise VyreError(
            f"the backend {info.name} declares {strange} approximate, which is not approximate by name.",
            fix="take it out of `BackendInfo.approximate`, and raise `UnsupportedByBackend` for the operation"
            f" where it is not exact; only {', '.join(sorted(APPROXIMATE_NAMES))} can be approximate.",
        )


__all__ = ["CertifyProgress", "Run", "Suite", "Timing", "make_plan", "require_exact"]
