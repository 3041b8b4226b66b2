"""Which levels a run has earned, from what it recorded and nothing else; each level denied says why.

`conform/spec/levels.py` says what each level asks for; here a run is held against it. A level is granted
only when all of it was executed: a refused Category A op and an expected failure deny it, and so does a
stage that was left out, refused or cut short, or a plan with smaller numbers. A refused Category C op denies
nothing, nor does F64 on a device that has no doubles at all.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.conform.certify.envelope import shape_reasons
from vyre.conform.certify.granted import Level, TrackLevels
from vyre.conform.certify.judged import Operations, listed, were
from vyre.conform.records.results import covers
from vyre.conform.spec.invariant import EngineInvariant
from vyre.conform.spec.levels import BASELINES, CLEAN, ENVELOPE, INVARIANTS, LAWS, OPERATIONS, SHAPES, rows
from vyre.conform.spec.track import (
    APPROXIMATE,
    FLOAT,
    FLOAT_PREFIX,
    has_doubles,
    may_be_refused,
    op_track,
    subject_track,
)
from vyre.errors import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.conform.certify.promises import Promises
    from vyre.conform.records.results import Failure, Results, StageResult, SubjectCount
    from vyre.conform.spec.levels import Row, StageNeed

INTRINSIC = "intrinsic."
"""Category C ops, which a device may lack."""
LENGTHS = {"lengths", "float lengths"}
"""Subjects of the stage `dispatches` that have one case for each op."""


def levels(
    track: str,
    results: Results,
    promised: Promises,
    baselines: Sequence[str],
    slower: Sequence[str] = (),
    *,
    shapes: bool = True,
) -> TrackLevels:
    """Every level of a track, granted or denied with all reasons.

    `baselines` are the names of the performance baselines that were measured, `slower` of those that three
    measurements found slower than a baseline that was given. Without `shapes` no level asks for an envelope.
    """
    rules = _Rules(track, results, promised, baselines, slower)
    found: list[Level] = []
    for row in rows(track):
        below = [f"{found[-1].level} is not granted"] if found and not found[-1].granted else []
        asked = row if shapes else _without_shapes(row)
        reasons = tuple(dict.fromkeys([*below, *rules.lacking(asked)]))
        found.append(Level(row.level, not reasons, reasons))
    granted = [level.level for level in found if level.granted]
    return TrackLevels(track, granted[-1] if granted else "", tuple(found))


def _without_shapes(row: Row) -> Row:
    return replace(
        row,
        rules=tuple(rule for rule in row.rules if rule != ENVELOPE),
        stages=tuple(need for need in row.stages if need.stage != SHAPES),
    )


class _Rules:
    """The rules, each giving the reasons for which it is not met."""

    def __init__(
        self,
        track: str,
        results: Results,
        promised: Promises,
        baselines: Sequence[str],
        slower: Sequence[str],
    ) -> None:
        self.track = track
        self.results = results
        self.baselines = baselines
        self.slower = slower
        self.promised = [op for op in promised.ops if op_track(op.id) == track]
        self.ops = [op for op in results.ops if op_track(op.id) == track]
        self.categories = {op.id: op.category for op in promised.ops}
        self.refused = {op.id for op in results.ops if op.status == "refused"}
        self.named = {need.stage for row in rows(track) for need in row.stages}
        self.operations = Operations(self.results, self.ops, self.promised, self.refused)

    def lacking(self, row: Row) -> list[str]:
        """The reasons for which a run has not earned a row of the table."""
        rule: dict[str, Callable[[], list[str]]] = {
            OPERATIONS: lambda: [
                *self._complete(),
                *self.operations.parity(row.cases),
                *self._expected(),
                *self._stored(),
            ],
            LAWS: lambda: self.operations.laws(row.cases),
            CLEAN: self._others,
            INVARIANTS: self._invariants,
            ENVELOPE: lambda: shape_reasons(self.results),
            BASELINES: self._performance,
        }
        found = self._numbers(row)
        found += [reason for name in row.rules for reason in rule[name]()]
        return [*found, *(reason for need in row.stages for reason in self._stage(need))]

    def _numbers(self, row: Row) -> list[str]:
        """A plan with smaller numbers than the table's."""
        plan = self.results.plan
        found: list[str] = []
        if row.largest > plan.largest:
            found.append(f"exhaustive kinds of more than {plan.largest:,} cases were left out")
        planned = plan.float_cases if self.track == FLOAT else plan.cases
        for have, need, what in (
            (planned, row.cases, "random case"),
            (plan.programs, row.programs, "program"),
            (plan.repeats, row.repeats, "repeat"),
        ):
            if have < need:
                was = "was" if have == 1 else "were"
                found.append(f"{counted(have, what)} {was} planned; {need:,} are needed")
        return found

    def _complete(self) -> list[str]:
        """Nothing of the registry is left out, and nothing of the plan."""
        plan = self.results.plan
        found: list[str] = []
        # Approximate operations are not ops of the registry: their stage has a case for each of them.
        if (not self.promised and self.track != APPROXIMATE) or (
            self.track == FLOAT and not any(op.id.startswith(FLOAT_PREFIX) for op in self.promised)
        ):
            found.append(f"the registry has no {self.track} operations")
        if plan.shard != (1, 1):
            found.append(f"this is shard {plan.shard[0]} of {plan.shard[1]}; merge them all")
        if plan.skip:
            found.append(f"the first {plan.skip:,} cases were skipped")
        ran = {op.id for op in self.ops if op.status != "not run"}
        absent = [op.id for op in self.promised if op.id not in ran]
        found += [f"{counted(len(absent), 'op')} {were(absent)} not run: {listed(absent)}"] if absent else []
        return found

    def _expected(self) -> list[str]:
        """An expected failure is a failure all the same."""
        return [
            f"a failure is expected: {e.pattern} ({e.reason})"
            for e in self.results.expected
            if e.failed and any(covers(e.pattern, f) and self._mine(f) for f in self.results.failures)
        ]

    def _mine(self, failure: Failure) -> bool:
        parts = failure.case.split("/")
        return subject_track(failure.op or (parts[1] if len(parts) > 2 else "")) == self.track

    def _stored(self) -> list[str]:
        """Stored failures were replayed. No stage result means that none was stored."""
        if "regressions" not in self.results.plan.stages:
            return ["the stage regressions was not run"]
        stage = self._found("regressions")
        return [] if stage is None else self._clean(stage)

    def _stage(self, need: StageNeed) -> list[str]:
        """A stage that was run to its end, with enough results of this track and nothing failed in it."""
        stage = self._found(need.stage)
        if stage is None:
            return [f"the stage {need.stage} was not run"]
        found = self._clean(stage)
        ran = sum(s.cases - s.refused for s in self._own(stage))
        if self.results.plan.whole and ran < need.least:
            found.append(
                f"the stage {need.stage} has {counted(ran, 'result')} of the {self.track} track;"
                f" {need.least:,} {'is' if need.least == 1 else 'are'} needed"
            )
        return found

    def _clean(self, stage: StageResult) -> list[str]:
        found: list[str] = []
        name = stage.stage
        if self.results.plan.whole and (stage.cases < stage.planned or not stage.planned):
            found.append(f"the stage {name} ran {stage.cases:,} of {stage.planned:,} cases")
        mine = self._own(stage)
        failed = {s.subject: s.failed for s in mine if s.failed}
        refused = {s.subject: s.refused for s in mine if s.refused and not self._lawful_refusal(s)}
        for what, counts in (("failed", failed), ("was refused", refused)):
            if counts:
                total = counted(sum(counts.values()), "case")
                found.append(f"the stage {name} {what} in {total}: {listed(list(counts))}")
        return found

    def _own(self, stage: StageResult) -> list[SubjectCount]:
        """The subjects of a stage that are on this track."""
        return [s for s in stage.subjects if subject_track(s.subject) == self.track]

    def _found(self, name: str) -> StageResult | None:
        return next((s for s in self.results.stages if s.stage == name), None)

    def _lawful_refusal(self, found: SubjectCount) -> bool:
        """Of what a device may lack: an instruction, F64, a convention that it does not declare.

        Golden rows of a family whose ops are judged one by one are counted there, and the table says how many
        must have run; the lengths of the stage `dispatches` are one case for each op.
        """
        subject = found.subject
        if subject.startswith(INTRINSIC):
            return True
        if subject in self.categories:
            return may_be_refused(subject, self.categories[subject], self.refused)
        if subject in LENGTHS:
            known = self.refused & self.categories.keys()
            return found.refused <= sum(may_be_refused(op, self.categories[op], known) for op in known)
        declared = self.results.backend.conventions
        if re.match(r"V\d+\b", subject):
            return subject.split()[0] not in declared
        if subject == "strict convention":
            return not {"V1", "V2"} <= set(declared)
        if "f64" in re.split(r"[ ./]", subject.lower()):
            return not has_doubles(self.refused)
        family = subject.partition(" ")[2]
        ids = (f"{family}.", f"{FLOAT_PREFIX}{family}.")
        return bool(family) and any(op.startswith(ids) for op in self.refused)

    def _others(self) -> list[str]:
        """Stages that no level asks for, such as instructions that a device may lack: wrong is wrong."""
        found: list[str] = []
        for stage in self.results.stages:
            failed = [s.subject for s in self._own(stage) if s.failed]
            if stage.stage not in {*self.named, "regressions"} and failed:
                found.append(f"the stage {stage.stage} failed: {listed(failed)}")
        for stage in (s for soak in self.results.soak or () for s in soak.stages):
            failed = [s.subject for s in self._own(stage) if s.failed]
            if failed:
                found.append(f"the stage {stage.stage} failed beyond the plan (--soak): {listed(failed)}")
        return found

    def _invariants(self) -> list[str]:
        stage = self._found("engines")
        if stage is None:
            return []
        seen = {s.subject.rpartition("/")[2].lower() for s in self._own(stage) if s.cases > s.refused}
        absent = [i.name for i in EngineInvariant if i.name.lower() not in seen]
        return [f"{listed(absent)} {were(absent)} checked on no engine"] if absent else []

    def _performance(self) -> list[str]:
        if not self.baselines:
            return ["no performance baseline was measured"]
        if not self.slower:
            return []
        return [f"slower than the given baseline in three measurements: {listed(list(self.slower))}"]
