"""Runs everything there is to run on a backend, and gives results.

    plan = make_plan("mine", cases=1 << 20, store=store)
    run = Suite(plan, backend, journal, store).run()
    run.results, run.timing

The run is cut into blocks (`conform/suite/units.py`). Each finished block is one line of the journal; a run
that is
killed and resumed with the same plan ends in the same results, byte for byte. Failures are made small, kept
in the store, and replayed first the next time.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

from vyre.backends.float_state import default_state
from vyre.conform.process.isolate import Isolated
from vyre.conform.process.locked import Locked
from vyre.conform.process.provenance import ENTRY, bind, device_changed, moved, provenance
from vyre.conform.records.documents import Field, FieldError, decode
from vyre.conform.records.faults import EXPLAINED, Faults
from vyre.conform.records.results import Failure, Results
from vyre.conform.spec.track import APPROXIMATE_NAMES, not_approximate
from vyre.conform.suite import fold
from vyre.conform.suite.block_records import check_entry, misrecorded
from vyre.conform.suite.plan import make_plan, settle
from vyre.conform.suite.units import OPS, REGRESSIONS, STAGES, blocks, graph_of, units
from vyre.conform.verify import control
from vyre.conform.verify.bench import Bench, program_of
from vyre.conform.verify.cases import kind_of
from vyre.conform.verify.confirm import confirmed
from vyre.conform.verify.graph import PARITY
from vyre.conform.verify.named import INPUTS, MADE, bits_of, hexes, run_named
from vyre.conform.verify.operations import explain, run_block
from vyre.conform.verify.stage import FAILED
from vyre.conform.verify.stored import Regressions
from vyre.errors import VyreError
from vyre.semantics.domain import CONCRETE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.backends.protocol import BackendInfo
    from vyre.conform.records.journal import Journal
    from vyre.conform.records.results import RunPlan
    from vyre.conform.suite.regressions import Store
    from vyre.conform.suite.units import Block, Unit

_THREADS = 2
"""One thread makes inputs and compares while the other waits for the backend."""


@dataclass(frozen=True, slots=True)
class CertifyProgress:
    """How far a run is; `failing` counts checks and cases that have failed so far."""

    done: int
    total: int
    resumed: int
    what: str
    failing: int


@dataclass(frozen=True, slots=True)
class Timing:
    """What took how long, which is no part of the results; `groups` are seconds by op and stage."""

    seconds: float
    resumed_cases: int
    restarts: int
    groups: dict[str, float]


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run.

    `blocks` are the records the results were added up from, by unit and number.
    """

    results: Results
    timing: Timing
    blocks: tuple[tuple[str, int, dict[str, Any]], ...] = ()


class Suite:
    """One run of a plan on a backend."""

    def __init__(
        self,
        plan: RunPlan,
        backend: Any,
        journal: Journal,
        *,
        store: Store | None = None,
        target: str = "",
        expected: Sequence[tuple[str, str]] = (),
        progress: Callable[[CertifyProgress], None] = lambda _: None,
    ) -> None:
        require_exact(backend.describe())
        self.plan = settle(plan, journal)
        self.place = provenance(backend, target or plan.backend)
        bind(journal, self.place)
        self.bench = Bench(Locked(backend))
        self.journal = journal
        self.store = store
        self.target = target or plan.backend
        self.faults = Faults(self.plan, self.target)
        self.expected = tuple(expected)
        self.progress = progress
        stored = dict(store.load(plan.backend)) if store is not None else {}
        missing = [d for d in self.plan.regressions if d not in stored]
        if missing:
            raise VyreError(
                f"the stored failure {missing[0]} of this run is gone.", fix="start anew, without --resume."
            )
        old = [stored[d] for d in self.plan.regressions]
        self.units = units(self.plan, Regressions(old, self.bench, STAGES))
        self.blocks = blocks(self.plan, self.units)
        self.records: dict[tuple[int, int], dict[str, Any]] = {}
        self.groups: dict[str, dict[str, Any]] = {}
        self.seconds: dict[str, float] = {}
        self._memory = threading.local()
        self._stopped: dict[str, tuple[int, int]] = {}
        self._stopping = threading.Lock()

    @default_state()
    def run(self) -> Run:
        """Runs what the journal does not have yet, and gives the results of the whole."""
        try:
            return self._run()
        finally:
            self.journal.close()

    def _run(self) -> Run:
        started = time.perf_counter()
        self._places = {(b.unit, b.number): b for b in self.blocks}
        for number, entry in enumerate(self.journal.entries):
            self._check(number, entry)
            if ENTRY in entry:
                continue
            if "group" in entry:
                self.groups[entry["group"]] = entry
            else:
                place = self._believed(entry)
                self.records[place] = entry["record"]
                if entry["record"].get("stop"):
                    group = self.units[place[0]].group
                    self._stopped[group] = min(place, self._stopped.get(group, place))
        # What was noted of a group follows from its blocks; a note that does not fit them is made again.
        self.groups = {name: entry for name, entry in self.groups.items() if self._fits(name, entry)}
        resumed = sum(b.hi - b.lo for b in self.blocks if (b.unit, b.number) in self.records)
        self._work(resumed)
        self.journal.sync()
        results = self._results()
        timing = Timing(
            seconds=round(time.perf_counter() - started, 3),
            resumed_cases=resumed,
            restarts=getattr(self.bench.backend.inner, "restarts", 0),
            groups={k: round(v, 3) for k, v in self.seconds.items()},
        )
        return Run(results, timing, self.block_records())

    def _fits(self, group: str, entry: dict[str, Any]) -> bool:
        """Whether a group has all its blocks, and as many failures as they say."""
        mine = [b for b in self.blocks if self.units[b.unit].group == group]
        if not mine or any((b.unit, b.number) not in self.records for b in mine):
            return False
        try:
            found = [decode(Failure, record) for record in entry["failures"]]
        except (KeyError, TypeError, ValueError):
            return False
        if self.units[mine[0].unit].kind is None:
            failed = fold.outcomes(mine[0].unit, self.blocks, self.records)
            return len(found) == sum(o["status"] == FAILED for o in failed)
        told = fold.tally(group, self.units, self.blocks, self.records)
        return sum(f.kind != "coverage" for f in found) == told.faults

    def _believed(self, entry: dict[str, Any]) -> tuple[int, int]:
        """The place of a block that the journal holds, if a run of this plan can have written it."""
        place: Any = (entry.get("unit"), entry.get("block"))
        block = self._places.get(place)
        wrong = (
            "is not in its plan"
            if block is None
            else misrecorded(self.units[block.unit], block, entry.get("record"))
        )
        if block is None or wrong:
            raise VyreError(
                f"the journal {self.journal.path} was changed: block {entry.get('block')} of unit "
                f"{entry.get('unit')} {wrong}.",
                fix="start anew, without --resume.",
            )
        return block.unit, block.number

    def _work(self, resumed: int) -> None:
        todo = [b for b in self.blocks if (b.unit, b.number) not in self.records]
        left: dict[str, int] = {}
        for block in todo:
            left[self.units[block.unit].group] = left.get(self.units[block.unit].group, 0) + 1
        for group in dict.fromkeys(self.units[b.unit].group for b in self.blocks):
            if not left.get(group) and group not in self.groups:
                self._finish(group)
        total = sum(b.hi - b.lo for b in self.blocks)
        done, running = resumed, dict[Future[dict[str, Any]], "Block"]()
        queue = deque(todo)
        with ThreadPoolExecutor(_THREADS) as pool:
            while queue or running:
                if not running:
                    self._renew()
                while queue and len(running) < 2 * _THREADS and not (running and self._overgrown()):
                    block = queue.popleft()
                    running[pool.submit(self._execute, block)] = block
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    block = running.pop(future)
                    record = future.result()
                    self._require_same_device(ask=False)
                    self._keep(block, record)
                    done += block.hi - block.lo
                    group = self.units[block.unit].group
                    left[group] -= 1
                    if not left[group]:
                        self._finish(group)
                    self.progress(CertifyProgress(done, total, resumed, group, self._failing()))

    def _require_same_device(self, *, ask: bool = True) -> None:
        """Raises `VyreError` where the backend is no longer the one that the run began with."""
        backend = self.bench.backend
        with backend.lock:
            what = moved(backend, self.place, ask=ask)
        if what:
            raise device_changed(what)

    def _overgrown(self) -> bool:
        """Whether the backend's process keeps so much that a new one should take its place."""
        backend = self.bench.backend.inner
        return isinstance(backend, Isolated) and backend.overgrown()

    def _renew(self) -> None:
        if self._overgrown():
            self.bench.backend.inner.renew()

    def _failing(self) -> int:
        return sum(len(g["failures"]) for g in self.groups.values())

    def _keep(self, block: Block, record: dict[str, Any]) -> None:
        entry = {"unit": block.unit, "block": block.number, "record": record}
        self.records[block.unit, block.number] = self.journal.append(entry)["record"]

    def _check(self, number: int, entry: dict[str, Any]) -> None:
        """A line of the journal may be from another version, or from an editor."""
        try:
            check_entry(Field(entry), self.units)
        except FieldError as error:
            raise VyreError(
                f"line {number + 2} of {self.journal.path} is not of this run: {error}.",
                fix="start anew without --resume.",
            ) from None

    def _stop(self, block: Block) -> bool:
        """Notes that a block ended badly; False where an earlier block of its op did so before."""
        group, place = self.units[block.unit].group, (block.unit, block.number)
        with self._stopping:
            first = self._stopped[group] = min(place, self._stopped.get(group, place))
        return first == place

    def _execute(self, block: Block) -> dict[str, Any]:
        unit = self.units[block.unit]
        started = time.perf_counter()
        try:
            if unit.kind is None:
                assert unit.stage is not None
                self._memory.own = None  # the arrays of the ops, which are done
                found = unit.stage.run(self.bench.backend, self.plan, block.lo, block.hi)
                found = confirmed(self.bench, unit.stage, self.plan, block.lo, found)
                return {"outcomes": [o.record() for o in found]}
            if self._stopped.get(unit.group, (block.unit, block.number)) < (block.unit, block.number):
                return {"cases": 0, "fails": [], "refused": [], "stop": None}
            if getattr(self._memory, "own", None) is None:
                self._memory.own = self.bench.memory()
            return run_block(
                self.bench, unit.kind, block.lo, block.hi, self._memory.own, narrow=lambda: self._stop(block)
            )
        finally:
            self.seconds[unit.group] = self.seconds.get(unit.group, 0.0) + time.perf_counter() - started

    def _finish(self, group: str) -> None:
        """When a group has all its blocks: facts about the op, and its failures made small, are kept."""
        mine = [(n, u) for n, u in enumerate(self.units) if u.group == group]
        if mine[0][1].kind is None:
            entry: dict[str, Any] = {"group": group, "facts": {}}
            entry["failures"] = self._stage_failures(*mine[0])
        else:
            entry = self._op_entry(group)
        self._require_same_device()
        self.groups[group] = entry = self.journal.append(entry)
        for record in entry["failures"]:
            if self.store is not None and group != REGRESSIONS:
                self.store.add(cast("Failure", decode(Failure, record)))

    def _op_entry(self, group: str) -> dict[str, Any]:
        found = fold.tally(group, self.units, self.blocks, self.records)
        failures: list[Failure] = []
        graph = graph_of(group)
        facts = {"lowering": "", "instruction": ""} if found.refusal else self._facts(group)
        for number, (kind, first) in sorted(found.firsts.items()):
            failures.append(self._op_failure(group, kind, number, first, found))
        if found.made is not None:
            failures.append(self._made_failure(group, found))
        if found.stop is not None:
            failures.append(self._stop_failure(group, found))
        result = fold.op_result(group, self.units, found, facts)
        if self.plan.whole and result.status in ("passed", "failed") and found.stop is None:
            failures += [self.faults.coverage(group, missing) for missing in result.coverage.missing]
        assert graph.spec.id == group
        return {"group": group, "facts": facts, "failures": [asdict(f) for f in failures]}

    def _facts(self, group: str) -> dict[str, str]:
        spec = graph_of(group).spec
        try:
            lowering = self.bench.inspection(spec).lowering or "native"
            return {"lowering": lowering, "instruction": control.instruction(self.bench, spec)}
        except Exception:  # a backend that dies when it is asked about itself has failed already
            return {"lowering": "unknown", "instruction": control.NOT_EXPOSED}

    def _op_failure(self, group: str, kind: str, number: int, first: int, found: fold.OpTally) -> Failure:
        graph = graph_of(group)
        check = graph.checks[number]
        said = explain(self.bench, kind_of(graph, kind, self.plan), check, first)
        prefix = group if check.name == PARITY else f"{group}/{check.name}"
        smallest = f"{prefix}/{INPUTS}/{','.join(f'0x{w:X}' for w in said.words)}"
        report = run_named(self.bench, smallest, self.plan, STAGES)
        note = f"{check.equation}; {said.note}".strip("; ") if check.equation is not None else said.note
        return self.faults.failure(
            OPS, group, f"{prefix}/{kind}/{first}", smallest, said.kind,
            bits_of(graph, check, said.words), report.expected, report.actual,
            bits_of(graph, check, said.found), found.count(number), note, report.program, report.source,
            found.failing(number),
        )  # fmt: skip

    def _made_failure(self, group: str, found: fold.OpTally) -> Failure:
        """A wrong input of the backend's own making: the generator is a program, and gave other words."""
        assert found.made is not None
        kind, (number, position, word, wanted, count) = found.made
        name = f"{group}/{MADE}/{kind}/{number}"
        report = run_named(self.bench, name, self.plan, STAGES)
        where = (f"word {position} of case {number}",)
        note = "the backend ran the generator of inputs; the op was tried on the host's" + (
            "" if report.failed else "; it was right when it was run again"
        )
        return self.faults.failure(
            OPS, group, name, name, "inputs", where, f"0x{wanted:X}", f"0x{word:X}", where, count, note,
            report.program, report.source,
        )  # fmt: skip

    def _stop_failure(self, group: str, found: fold.OpTally) -> Failure:
        stop = found.stop
        assert stop is not None
        op = stop.get("op", group)  # a backend may die of one op while the next one runs
        graph = graph_of(op)
        words, size, check = stop["words"], stop.get("cases", 1), stop.get("check", PARITY)
        prefix = op if check == PARITY else f"{op}/{check}"
        last = f"-{stop['case'] + size - 1}" if size > 1 else ""
        case = f"{prefix}/{found.stopped_in}/{stop['case']}{last}"
        shown = tuple(f"0x{w:X}" for w in words[: graph.spec.words])
        operands = [w & m for w, m in zip(words, graph.spec.masks, strict=False)]
        expected = hexes([w for r in graph.spec.apply(CONCRETE, *operands) for w in r]) if words else ""
        one = f"{prefix}/{INPUTS}/{','.join(f'0x{w:X}' for w in words)}"
        smallest = one if words and size == 1 else case
        program = program_of(graph.spec).to_text()
        return self.faults.failure(
            OPS, group, case, smallest, stop["kind"], shown, expected or "a result", stop["message"],
            shown, size, f"at {stop['at']}", program, "",
        )  # fmt: skip

    def _stage_failures(self, number: int, unit: Unit) -> list[dict[str, Any]]:
        found = [o for o in fold.outcomes(number, self.blocks, self.records) if o["status"] == FAILED]
        explain = getattr(unit.stage, "explain", None)
        if explain is not None:
            for k, o in enumerate(found[:EXPLAINED]):
                again = explain(self.bench.backend, self.plan, o["case"]).record()
                found[k] = again if again["status"] == FAILED else o
        return [asdict(self.faults.of_stage(unit.name, o)) for o in found]

    def _results(self) -> Results:
        self._require_same_device()
        return fold.results(
            self.plan, self.place.backend, self.units, self.blocks, self.records, self.groups, self.expected,
            self.place.conditions,
        )  # fmt: skip

    def block_records(self) -> tuple[tuple[str, int, dict[str, Any]], ...]:
        """Every finished block: the name of its unit, its number, and its record."""
        return tuple((self.units[b.unit].name, b.number, self.records[b.unit, b.number]) for b in self.blocks)


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
