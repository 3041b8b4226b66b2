"""From the journal's records to results: sums over blocks in their order, never in the order of completion.

What comes after a crash or hang in the same op is left out, so that it does not matter how far other threads
had got. A declared class or boundary that met no case is a failure of the run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vyre.conform.process.provenance import declared_limits
from vyre.conform.records.blocks import FAILED, PASSED, REFUSED, CaseRange, GroupFacts, OpBlock, StageBlock
from vyre.conform.records.evidence import KindCount
from vyre.conform.records.ranges import joined
from vyre.conform.records.results import (
    BoundaryCount,
    ClassCount,
    Coverage,
    ExpectedFailure,
    FailingRange,
    LawResult,
    OpResult,
    Results,
    StageResult,
    SubjectCount,
    covers,
)
from vyre.conform.shapes.envelope import enveloped, lacked
from vyre.conform.spec.levels import SHAPES
from vyre.conform.suite.units import OPS, graph_of
from vyre.conform.verify.cases import is_memory
from vyre.conform.verify.graph import PARITY
from vyre.conform.verify.stages.shapes import ran

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.conform.records.blocks import GroupEntry, Outcome, Stop, WrongInput
    from vyre.conform.records.envelope import Envelope, Lacking
    from vyre.conform.records.results import BackendFacts, Conditions, RunPlan
    from vyre.conform.suite.units import Block, Unit
    from vyre.conform.verify.graph import Graph

    Records = Mapping[tuple[int, int], StageBlock | OpBlock]
    """What is recorded of the blocks, by unit and number."""


@dataclass(slots=True)
class OpTally:
    """Everything the blocks of one op add up to."""

    cases: dict[str, int] = field(default_factory=dict[str, int])
    fails: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    """Failing cases by kind and check."""
    firsts: dict[int, tuple[str, int]] = field(default_factory=dict[int, tuple[str, int]])
    """The first failing case of each check, as kind and number."""
    refused: set[str] = field(default_factory=set[str])
    refusal: str = ""
    ranges: dict[tuple[str, int], list[CaseRange]] = field(
        default_factory=dict[tuple[str, int], list[CaseRange]]
    )
    """Failing cases by kind and check, as ranges."""
    made: tuple[str, WrongInput] | None = None
    """The first input that the backend made wrong: its kind, and the mistake, with how many there were."""
    stop: Stop | None = None
    stopped_in: str = ""
    classes: list[int] = field(default_factory=list[int])
    boundaries: list[set[int]] = field(default_factory=list[set[int]])

    @property
    def faults(self) -> int:
        """How many failures are told of: each failing check, wrong inputs, and an early end."""
        return len(self.firsts) + (self.made is not None) + (self.stop is not None)

    def failing(self, check: int) -> tuple[FailingRange, ...]:
        """Where all failing cases of a check are."""
        return tuple(
            FailingRange(kind, *row)
            for (kind, k), found in self.ranges.items()
            if k == check
            for row in joined(found)
        )

    def count(self, check: int) -> int:
        return sum(n for (_, k), n in self.fails.items() if k == check)


def tally(
    group: str,
    units: Sequence[Unit],
    blocks: Sequence[Block],
    records: Records,
) -> OpTally:
    """The sums over the blocks of an op, up to the first that ended badly."""
    spec = graph_of(group).spec
    found = OpTally(classes=[0] * len(spec.classes), boundaries=[set() for _ in spec.boundaries])
    for block in blocks:
        unit = units[block.unit]
        record = records.get((block.unit, block.number))
        if unit.group != group or unit.kind is None or found.stop is not None:
            continue
        if not isinstance(record, OpBlock):
            continue
        _add(found, unit.kind.name, record)
    return found


def _add(found: OpTally, kind: str, record: OpBlock) -> None:
    found.cases[kind] = found.cases.get(kind, 0) + record.cases
    for check, count, first in record.fails:
        found.fails[kind, check] = found.fails.get((kind, check), 0) + count
        found.firsts.setdefault(check, (kind, first))
    for check, rows in record.failing or ():
        found.ranges.setdefault((kind, check), []).extend(rows)
    if record.made is not None:
        first_kind, first = found.made or (kind, record.made._replace(mistakes=0))
        found.made = (first_kind, first._replace(mistakes=first.mistakes + record.made.mistakes))
    found.refused |= set(record.refused)
    found.refusal = found.refusal or record.refusal or ""
    if record.stop is not None:
        found.stop = record.stop
        found.stopped_in = kind if record.stop.in_ is None else record.stop.in_
    if record.coverage is not None:
        found.classes = [a + b for a, b in zip(found.classes, record.coverage.classes, strict=True)]
        for known, met in zip(found.boundaries, record.coverage.boundaries, strict=True):
            known |= set(met)


def op_result(group: str, units: Sequence[Unit], found: OpTally, facts: GroupFacts) -> OpResult:
    graph = graph_of(group)
    spec = graph.spec
    mine = [u for u in units if u.group == group and u.kind is not None]
    status = "passed"
    if found.refusal:
        status = "refused"
    elif found.faults:
        status = "failed"
    elif not any(found.cases.values()):
        status = "not run"
    return OpResult(
        id=spec.id,
        version=spec.version,
        category=spec.category,
        status=status,
        refusal=found.refusal,
        lowering=facts.lowering or "",
        instruction=facts.instruction or "",
        parity=_counts(graph, mine, found, PARITY),
        laws=tuple(
            LawResult(name, _role(graph, name), statements, _counts(graph, mine, found, name))
            for name, statements in graph.statements.items()
        ),
        coverage=Coverage() if found.refusal else _coverage(graph, found),
    )


def _role(graph: Graph, name: str) -> str:
    return next(c.role for c in graph.checks if c.name == name)


def _counts(graph: Graph, mine: Sequence[Unit], found: OpTally, name: str) -> tuple[KindCount, ...]:
    """Cases by kind on which all equations of a law (or parity) were compared."""
    wanted = [k for k, c in enumerate(graph.checks) if c.name == name]
    counts: list[KindCount] = []
    for unit in mine:
        assert unit.kind is not None
        on = {graph.checks.index(c) for c in unit.kind.checks}
        if not set(wanted) & on:
            continue
        kind = unit.kind.name
        cases = 0 if name in found.refused else found.cases.get(kind, 0)
        failed = sum(found.fails.get((kind, k), 0) for k in wanted)
        counts.append(KindCount(kind, cases, unit.count, failed))
    return tuple(counts)


def _coverage(graph: Graph, found: OpTally) -> Coverage:
    spec = graph.spec
    classes = tuple(ClassCount(c.name, n) for c, n in zip(spec.classes, found.classes, strict=True))
    boundaries: list[BoundaryCount] = []
    for word, (values, met) in enumerate(zip(spec.boundaries, found.boundaries, strict=True)):
        if is_memory(spec) and word:
            continue  # a length of 2^31 elements is declared, and cannot be allocated
        missed = tuple(f"0x{v:X}" for k, v in enumerate(values) if k not in met)
        boundaries.append(BoundaryCount(word, len(values), missed))
    return Coverage(classes, tuple(boundaries))


def stage_result(number: int, unit: Unit, blocks: Sequence[Block], records: Records) -> StageResult:
    subjects: dict[str, list[int]] = {}
    for outcome in outcomes(number, blocks, records):
        sums = subjects.setdefault(outcome.subject, [0, 0, 0])
        sums[0] += 1
        sums[1] += outcome.status == FAILED
        sums[2] += outcome.status == REFUSED
    return StageResult(
        unit.name, unit.count, tuple(SubjectCount(name, *sums) for name, sums in subjects.items())
    )


def outcomes(number: int, blocks: Sequence[Block], records: Records) -> list[Outcome]:
    """The outcomes of a stage's cases, in order."""
    mine = [records.get((b.unit, b.number)) for b in blocks if b.unit == number]
    return [o for record in mine if isinstance(record, StageBlock) for o in record.outcomes]


def results(
    plan: RunPlan,
    facts: BackendFacts,
    units: Sequence[Unit],
    blocks: Sequence[Block],
    records: Records,
    groups: Mapping[str, GroupEntry],
    expected: Sequence[tuple[str, str]],
    conditions: Conditions,
) -> Results:
    """The results of a run: all blocks added up, and what was noted when each group was finished."""
    ops = tuple(
        op_result(
            op, units, tally(op, units, blocks, records), groups[op].facts if op in groups else GroupFacts()
        )
        for op in plan.ops
        if OPS in plan.stages
    )
    stages = tuple(stage_result(n, u, blocks, records) for n, u in enumerate(units) if u.kind is None)
    order = dict.fromkeys(u.group for u in units)
    failures = tuple(f for group in order if group in groups for f in groups[group].failures)
    known = tuple(ExpectedFailure(p, reason, any(covers(p, f) for f in failures)) for p, reason in expected)
    envelope = _envelope(plan, facts, units, blocks, records)
    return Results(plan, facts, ops, stages, failures, known, conditions, envelope=envelope)


def _envelope(
    plan: RunPlan, facts: BackendFacts, units: Sequence[Unit], blocks: Sequence[Block], records: Records
) -> Envelope | None:
    """Of a whole run that had the stage `shapes`, whose cases are the rows by their numbers."""
    number = next((n for n, u in enumerate(units) if u.name == SHAPES), None)
    if number is None or not plan.whole:
        return None
    limits = declared_limits(facts)
    statuses: dict[int, str] = {}
    lacking: list[Lacking] = []
    for outcome in outcomes(number, blocks, records):
        row = int(outcome.case.rpartition("/")[2])
        statuses[row] = outcome.status
        if outcome.status == PASSED:
            lacking += lacked(row, ran(outcome), limits)
    return enveloped(statuses, limits, lacking)
