"""Runs everything there is to run on a backend, and gives results.

    plan = make_plan("mine", cases=1 << 20, store=store)
    run = Suite(plan, backend, journal, store).run()
    run.results, run.annex

The run is cut into blocks (`conform/units.py`). Each finished block is one line of the journal; a run that is
killed and resumed with the same plan ends in the same results, byte for byte. Failures are made small, kept
in the store, and replayed first the next time.
"""

from __future__ import annotations

import fnmatch
import hashlib
import shlex
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from vyre.conform import fold
from vyre.conform.registry import specs
from vyre.conform.results import BackendFacts, ExpectedFailure, Failure, Results, RunPlan, canonical, covers, decode
from vyre.conform.units import ALL_STAGES, OPS, REGRESSIONS, STAGES, blocks, graph_of, units
from vyre.conform.verify import control
from vyre.conform.verify.bench import Bench, program_of
from vyre.conform.verify.cases import kind_of
from vyre.conform.verify.graph import PARITY
from vyre.conform.verify.named import INPUTS, bits_of, hexes, run_named
from vyre.conform.verify.operations import explain, run_block
from vyre.conform.verify.stage import FAILED, PASSED, REFUSED, Outcome
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre.conform.journal import Journal
    from vyre.conform.regressions import Store
    from vyre.conform.units import Block, Unit

DEFAULT_SEED = 0x5EED
DEFAULT_CASES = 1 << 20
DEFAULT_PROGRAMS = 256
LARGEST = 1 << 24
QUICK_LARGEST = 1 << 16
QUICK_CASES = 1 << 12
_EXPLAINED = 3
_THREADS = 2
"""One thread makes inputs and compares while the other waits for the backend."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; `failing` counts checks and cases that have failed so far."""

    done: int
    total: int
    resumed: int
    what: str
    failing: int


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: the results, and what took how long, which is no part of them."""

    results: Results
    annex: dict[str, Any]


def registry_digest(ops: Sequence[str]) -> str:
    """A digest of everything these ops promise: types, definitions by their values, laws, classes, boundaries."""
    from vyre.conform.spec.law import label

    told: list[Any] = []
    known = {s.id: s for s in specs()}
    for op in ops:
        spec = known[op]
        probes = [[(v * 0x9E37_79B1 + p) & 0xFFFF_FFFF & m for p, m in enumerate(spec.masks)] for v in range(64)]
        values = [[int(w) for r in spec.apply(_concrete(), *probe) for w in r] for probe in probes]
        told.append(
            [
                spec.id,
                [t.value for t in (*spec.signature.inputs, *spec.outputs)],
                [label(law) for law in spec.laws],
                [label(law) for law in spec.properties],
                [list(map(str, graph_of(op).statements.values()))],
                [c.name for c in spec.classes],
                [list(b) for b in spec.boundaries],
                values,
            ]
        )
    return hashlib.sha256(canonical(told)).hexdigest()


def _concrete() -> Any:
    from vyre.conform.spec.domain import CONCRETE

    return CONCRETE


def chosen_ops(patterns: Sequence[str]) -> tuple[str, ...]:
    """The ids of the registry that match, in its order. A pattern that matches none is an error."""
    ids = [s.id for s in specs()]
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(i, pattern) or i.startswith(f"{pattern}.") for i in ids):
            raise VyreError(
                f"no op matches {pattern!r}.", fix="use an id or a pattern such as 'primitive.math.*'."
            )
    return tuple(
        i
        for i in ids
        if not patterns or any(fnmatch.fnmatchcase(i, p) or i.startswith(f"{p}.") for p in patterns)
    )


def make_plan(
    backend: str,
    *,
    seed: int = DEFAULT_SEED,
    cases: int = DEFAULT_CASES,
    shard: tuple[int, int] = (1, 1),
    skip: int = 0,
    ops: Sequence[str] = (),
    stages: Sequence[str] = ALL_STAGES,
    programs: int = DEFAULT_PROGRAMS,
    exhaustive: bool = False,
    largest: int = LARGEST,
    repeats: int = 3,
    store: Store | None = None,
) -> RunPlan:
    """The plan of a run; what is stored about the backend is replayed first."""
    if not 1 <= shard[0] <= shard[1]:
        raise VyreError(f"there is no shard {shard[0]} of {shard[1]}.", fix="write it like 1/4, from 1 on.")
    if cases < 0 or skip < 0 or programs < 0 or repeats < 1 or not 0 <= seed < 1 << 64:
        raise VyreError("a count of the plan is out of range.", fix="pass numbers of 0 or more.")
    chosen = chosen_ops(ops)
    unknown = [s for s in stages if s not in ALL_STAGES]
    if unknown:
        raise VyreError(f"no stage is called {unknown[0]!r}.", fix=f"use {', '.join(ALL_STAGES)}.")
    if ops and tuple(stages) == ALL_STAGES:
        stages = (REGRESSIONS, OPS)  # whoever asks for some ops wants those
    stored = tuple(store.load(backend)) if store is not None and shard[0] == 1 else ()
    return RunPlan(
        backend, seed, cases, shard, skip, chosen, registry_digest(chosen),
        tuple(s for s in ALL_STAGES if s in stages), programs, exhaustive, largest, repeats, stored,
    )  # fmt: skip


class Regressions:
    """The stored failures of a backend as a stage: each must have gone away."""

    name = REGRESSIONS
    group = 1

    def __init__(self, stored: Sequence[Failure], bench: Bench) -> None:
        self._stored = stored
        self._bench = bench

    def count(self, plan: RunPlan) -> int:
        return len(self._stored)

    def run(self, backend: Any, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        return [self._one(failure, plan) for failure in self._stored[lo:hi]]

    def _one(self, failure: Failure, plan: RunPlan) -> Outcome:
        subject = failure.op or failure.stage
        if failure.kind == "coverage":
            return Outcome(failure.smallest, subject, PASSED)
        then = replace(plan, seed=failure.seed, programs=1 << 32, ops=tuple(s.id for s in specs()))
        try:
            for _ in range(plan.repeats):
                report = run_named(self._bench, failure.smallest, then, STAGES)
                if report.failed:
                    break
        except VyreError as error:
            return Outcome(failure.smallest, subject, REFUSED, actual=error.message)
        return Outcome(
            failure.smallest, subject, report.status, report.kind, report.inputs, report.expected,
            report.actual, "seen before", report.program, report.source,
        )  # fmt: skip


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
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        self.plan = settle(plan, journal)
        self.bench = Bench(Locked(backend))
        self.journal = journal
        self.store = store
        self.target = target or plan.backend
        self.expected = tuple(expected)
        self.progress = progress
        stored = dict(store.load(plan.backend)) if store is not None else {}
        missing = [d for d in self.plan.regressions if d not in stored]
        if missing:
            raise VyreError(
                f"the stored failure {missing[0]} of this run is gone.", fix="start anew, without --resume."
            )
        old = [stored[d] for d in self.plan.regressions]
        self.units = units(self.plan, Regressions(old, self.bench))
        self.blocks = blocks(self.plan, self.units)
        self.records: dict[tuple[int, int], dict[str, Any]] = {}
        self.groups: dict[str, dict[str, Any]] = {}
        self.seconds: dict[str, float] = {}
        self._memory = threading.local()
        self._stopped: set[str] = set()

    def run(self) -> Run:
        """Runs what the journal does not have yet, and gives the results of the whole."""
        started = time.perf_counter()
        for entry in self.journal.entries:
            if "group" in entry:
                self.groups[entry["group"]] = entry
            else:
                self.records[entry["unit"], entry["block"]] = entry["record"]
        resumed = sum(b.hi - b.lo for b in self.blocks if (b.unit, b.number) in self.records)
        self._work(resumed)
        self.journal.sync()
        results = self._results()
        self.journal.close()
        annex = {
            "seconds": round(time.perf_counter() - started, 3),
            "resumed_cases": resumed,
            "restarts": getattr(self.bench.backend.inner, "restarts", 0),
            "groups": {k: round(v, 3) for k, v in self.seconds.items()},
        }
        return Run(results, annex)

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
        queue = iter(todo)
        with ThreadPoolExecutor(_THREADS) as pool:
            while True:
                while len(running) < 2 * _THREADS and (block := next(queue, None)) is not None:
                    running[pool.submit(self._execute, block)] = block
                if not running:
                    break
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    block = running.pop(future)
                    record = future.result()
                    self._keep(block, record)
                    done += block.hi - block.lo
                    group = self.units[block.unit].group
                    left[group] -= 1
                    if not left[group]:
                        self._finish(group)
                    self.progress(Progress(done, total, resumed, group, self._failing()))

    def _failing(self) -> int:
        return sum(len(g["failures"]) for g in self.groups.values())

    def _keep(self, block: Block, record: dict[str, Any]) -> None:
        self.records[block.unit, block.number] = record
        self.journal.append({"unit": block.unit, "block": block.number, "record": record})
        if record.get("stop"):
            self._stopped.add(self.units[block.unit].group)

    def _execute(self, block: Block) -> dict[str, Any]:
        unit = self.units[block.unit]
        started = time.perf_counter()
        try:
            if unit.kind is None:
                assert unit.stage is not None
                found = unit.stage.run(self.bench.backend, self.plan, block.lo, block.hi)
                return {"outcomes": [o.record() for o in found]}
            if unit.group in self._stopped:
                return {"cases": 0, "fails": [], "refused": [], "stop": None}
            if not hasattr(self._memory, "own"):
                self._memory.own = self.bench.memory()
            return run_block(self.bench, unit.kind, block.lo, block.hi, self._memory.own)
        finally:
            self.seconds[unit.group] = self.seconds.get(unit.group, 0.0) + time.perf_counter() - started

    def _finish(self, group: str) -> None:
        """When a group has all its blocks: facts about the op, and its failures made small, into the journal."""
        mine = [(n, u) for n, u in enumerate(self.units) if u.group == group]
        if mine[0][1].kind is None:
            entry = {"group": group, "facts": {}, "failures": self._stage_failures(*mine[0])}
        else:
            entry = self._op_entry(group)
        self.groups[group] = entry
        for record in entry["failures"]:
            if self.store is not None and group != REGRESSIONS:
                self.store.add(cast("Failure", decode(Failure, _lists(record))))
        self.journal.append(entry)

    def _op_entry(self, group: str) -> dict[str, Any]:
        found = fold.tally(group, self.units, self.blocks, self.records)
        failures: list[Failure] = []
        graph = graph_of(group)
        facts = {"lowering": "", "instruction": ""} if found.refusal else self._facts(group)
        for number, (kind, first) in sorted(found.firsts.items()):
            failures.append(self._op_failure(group, kind, number, first, found.count(number)))
        if found.stop is not None:
            failures.append(self._stop_failure(group, found))
        result = fold.op_result(group, self.units, found, facts)
        if self.plan.whole and result.status in ("passed", "failed") and found.stop is None:
            failures += [self._coverage_failure(group, missing) for missing in result.coverage.missing]
        assert graph.spec.id == group
        return {"group": group, "facts": facts, "failures": [asdict(f) for f in failures]}

    def _facts(self, group: str) -> dict[str, str]:
        spec = graph_of(group).spec
        try:
            lowering = self.bench.inspection(spec).lowering or "native"
            return {"lowering": lowering, "instruction": control.instruction(self.bench, spec)}
        except Exception:  # a backend that dies when it is asked about itself has failed already
            return {"lowering": "unknown", "instruction": control.NOT_EXPOSED}

    def _op_failure(self, group: str, kind: str, number: int, first: int, count: int) -> Failure:
        graph = graph_of(group)
        check = graph.checks[number]
        said = explain(self.bench, kind_of(graph, kind, self.plan), check, first)
        prefix = group if check.name == PARITY else f"{group}/{check.name}"
        smallest = f"{prefix}/{INPUTS}/{','.join(f'0x{w:X}' for w in said.words)}"
        report = run_named(self.bench, smallest, self.plan, STAGES)
        note = f"{check.equation}; {said.note}".strip("; ") if check.equation is not None else said.note
        return self._failure(
            OPS, group, f"{prefix}/{kind}/{first}", smallest, said.kind,
            bits_of(graph, check, said.words), report.expected, report.actual,
            bits_of(graph, check, said.found), count, note, report.program, report.source,
        )  # fmt: skip

    def _stop_failure(self, group: str, found: fold.OpTally) -> Failure:
        graph, stop = graph_of(group), found.stop
        assert stop is not None
        words = stop["words"]
        case = f"{group}/{found.stopped_in}/{stop['case']}"
        shown = tuple(f"0x{w:X}" for w in words[: graph.spec.words])
        expected = hexes([w for r in graph.spec.apply(_concrete(), *_masked(graph, words)) for w in r]) if words else ""
        smallest = f"{group}/{INPUTS}/{','.join(f'0x{w:X}' for w in words)}" if words else case
        program = program_of(graph.spec).to_text()
        return self._failure(
            OPS, group, case, smallest, stop["kind"], shown, expected or "a result", stop["message"],
            shown, 1, f"at {stop['at']}", program, "",
        )  # fmt: skip

    def _coverage_failure(self, group: str, missing: str) -> Failure:
        return self._failure(
            OPS, group, f"{group}/coverage", f"{group}/coverage", "coverage", (missing,),
            "at least one case", "none", (), 0, "", "", "",
        )  # fmt: skip

    def _stage_failures(self, number: int, unit: Unit) -> list[dict[str, Any]]:
        found = [o for o in fold.outcomes(number, self.blocks, self.records) if o["status"] == FAILED]
        explain = getattr(unit.stage, "explain", None)
        if explain is not None:
            # The first few are made small; each takes hundreds of runs.
            again = [explain(self.bench.backend, self.plan, o["case"]).record() for o in found[:_EXPLAINED]]
            found = [new if new["status"] == FAILED else o for new, o in zip(again, found, strict=False)] + found[
                _EXPLAINED:
            ]
        return [
            asdict(
                self._failure(
                    unit.name, "", o["case"], o["case"], o["kind"], tuple(o["inputs"]), o["expected"],
                    o["actual"], tuple(o["inputs"]), 1, o["note"], o["program"], o["source"],
                )  # fmt: skip
            )
            for o in found
        ]

    def _failure(
        self, stage: str, op: str, case: str, smallest: str, kind: str, inputs: tuple[str, ...],
        expected: str, actual: str, found: tuple[str, ...], count: int, note: str, program: str, source: str,
    ) -> Failure:  # fmt: skip
        who = f"--backend-class {self.target}" if ":" in self.target else self.target
        replay = f"vyre certify {who} --seed {self.plan.seed} --case {shlex.quote(smallest)}"
        return Failure(
            self.plan.backend, stage, op, case, smallest, kind, inputs, expected, actual, found, count,
            self.plan.seed, note, program, source, replay,
        )  # fmt: skip

    def _results(self) -> Results:
        ops = tuple(
            fold.op_result(
                op,
                self.units,
                fold.tally(op, self.units, self.blocks, self.records),
                self.groups.get(op, {}).get("facts", {}),
            )
            for op in self.plan.ops
            if OPS in self.plan.stages
        )
        stages = tuple(
            fold.stage_result(n, u, self.blocks, self.records)
            for n, u in enumerate(self.units)
            if u.kind is None
        )
        order = dict.fromkeys(u.group for u in self.units)
        failures = tuple(
            cast("Failure", decode(Failure, _lists(record)))
            for group in order
            for record in self.groups.get(group, {"failures": []})["failures"]
        )
        expected = tuple(
            ExpectedFailure(p, reason, any(covers(p, f) for f in failures)) for p, reason in self.expected
        )
        facts = backend_facts(self.bench.backend.describe(), self.target)
        return Results(self.plan, facts, ops, stages, failures, expected)


def _lists(record: Mapping[str, Any]) -> dict[str, Any]:
    return {k: list(v) if isinstance(v, tuple) else v for k, v in record.items()}


def _masked(graph: Any, words: Sequence[int]) -> list[int]:
    return [w & m for w, m in zip(words, graph.spec.masks, strict=False)]


def backend_facts(info: Any, target: str) -> BackendFacts:
    return BackendFacts(
        info.name, info.version, info.device, info.driver, info.toolchain, tuple(info.conventions),
        tuple(info.categories), tuple(sorted(info.approximate)), target,
    )  # fmt: skip


def settle(plan: RunPlan, journal: Journal) -> RunPlan:
    """The plan as the journal began with it. Raises `VyreError` where the journal is of another run."""
    begun = cast("RunPlan", decode(RunPlan, journal.head["plan"]))
    if replace(begun, regressions=()) != replace(plan, regressions=()):
        differing = [n for n in asdict(plan) if n != "regressions" and getattr(plan, n) != getattr(begun, n)]
        raise VyreError(
            f"the journal {journal.path} is of a run with another {', '.join(differing)}.",
            fix="pass the same options as before, or start anew without --resume.",
        )
    return begun


class Locked:
    """A backend for several threads: one request at a time."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.name = inner.name
        self.lock = threading.RLock()

    def describe(self) -> Any:
        return self.inner.describe()

    def compile(self, program: Any) -> LockedExecutable:
        with self.lock:
            return LockedExecutable(self, self.inner.compile(program))


class LockedExecutable:
    def __init__(self, owner: Locked, inner: Any) -> None:
        self._owner = owner
        self.inner = inner

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        with self._owner.lock:
            self.inner.run(buffers, workgroups)
