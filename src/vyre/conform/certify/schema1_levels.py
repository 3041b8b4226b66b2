"""The rules by which certificates of schema 1 were granted their levels; they never change.

L1   every Category A op equal to its definition on all planned cases, of the whole registry; golden rows and
     stored failures clean
L2   L1, and every declared law on the backend's own results (all small operands, a million uniform cases);
     determinism, wire form, barriers, atomics, bounds, races; no failure in any stage besides
L3   L2, and the eight engine invariants on every engine that promises them; generated programs
L4   L3, and the compositional proofs; performance baselines were measured

The float track has the same shape, the approximate one a single level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.certify.granted import Level, TrackLevels
from vyre.conform.certify.schema1 import may_be_refused, op_track, subject_track
from vyre.conform.records.results import covers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.conform.certify.promises import Promises
    from vyre.conform.records.evidence import KindCount
    from vyre.conform.records.results import Failure, LawResult, OpResult, Results, StageResult, SubjectCount

_INTEGER, _FLOAT, _APPROXIMATE = "integer", "float", "approximate"
_LEVELS = {
    _INTEGER: ("L1", "L2", "L3", "L4"),
    _FLOAT: ("L1f", "L2f", "L3f", "L4f"),
    _APPROXIMATE: ("L1a",),
}
_INVARIANTS = (
    *("Deterministic", "NoOutputLost", "NoDuplicate", "Ordered", "Bounded", "Termination"),
    *("AtomicLinearizable", "WorkgroupInvariant"),
)
_FLOAT_PREFIX = "float."
_WITNESSES = 1_000_000
_MEMORY_WITNESSES = 2048
_TRIPLES = 1 << 24
_INTRINSIC = "intrinsic."
_ENDED = ("crash", "hang", "error", "coverage")
_ALGEBRAIC = ("determinism", "wire", "barrier", "atomics", "bounds", "races")
_NAMED = {
    *("regressions", "golden", "engines", "programs", "composition", "tensors", "networks"),
    *("approximate", "float_folding"),
    *_ALGEBRAIC,
}


def levels(track: str, results: Results, promised: Promises, baselines: Sequence[str]) -> TrackLevels:
    """Every level of a track, granted or denied with all reasons."""
    rules = _Rules(track, results, promised, baselines)
    found: list[Level] = []
    for name, own in zip(_LEVELS[track], _RULES[track], strict=True):
        below = [f"{found[-1].level} is not granted"] if found and not found[-1].granted else []
        reasons = tuple(dict.fromkeys([*below, *(reason for rule in own for reason in rule(rules))]))
        found.append(Level(name, not reasons, reasons))
    granted = [level.level for level in found if level.granted]
    return TrackLevels(track, granted[-1] if granted else "", tuple(found))


class _Rules:
    """The rules, each giving the reasons for which it is not met."""

    def __init__(self, track: str, results: Results, promised: Promises, baselines: Sequence[str]) -> None:
        self.track = track
        self.results = results
        self.baselines = baselines
        approximate = results.backend.approximate
        self.promised = [op for op in promised.ops if op_track(op.id, approximate) == track]
        self.ops = [op for op in results.ops if op_track(op.id, approximate) == track]
        self.categories = {op.id: op.category for op in promised.ops}
        self.refused = {op.id for op in results.ops if op.status == "refused"}

    def complete(self) -> list[str]:
        """Nothing of the registry is left out, and nothing of the plan."""
        plan = self.results.plan
        found: list[str] = []
        # Approximate operations are not ops of the registry: their stage has a case for each of them.
        if (not self.promised and self.track != _APPROXIMATE) or (
            self.track == _FLOAT and not any(op.id.startswith(_FLOAT_PREFIX) for op in self.promised)
        ):
            found.append(f"the registry has no {self.track} operations")
        if plan.shard != (1, 1):
            found.append(f"this is shard {plan.shard[0]} of {plan.shard[1]}; merge them all")
        if plan.skip:
            found.append(f"the first {plan.skip:,} cases were skipped")
        ran = {op.id for op in self.ops if op.status != "not run"}
        absent = [op.id for op in self.promised if op.id not in ran]
        found += [f"{_count(len(absent), 'op')} {_were(absent)} not run: {_list(absent)}"] if absent else []
        return found

    def parity(self) -> list[str]:
        found: list[str] = []
        for op in self.ops:
            if op.status == "refused":
                lawful = may_be_refused(op.id, op.category, self.refused)
                found += [] if lawful else [f"{op.id} is refused: {op.refusal}"]
            elif op.status != "not run":
                found += self._parity_of(op)
        return found

    def _parity_of(self, op: OpResult) -> list[str]:
        failed = sum(c.failed for c in op.parity)
        found = [f"{op.id} differs from its definition in {_count(failed, 'case')}"] if failed else []
        short = self._short(op.parity)
        found += [f"{op.id} ran only {short} cases"] if short else []
        ended = [f for f in self.results.failures if f.op == op.id and f.kind in _ENDED]
        found += [f"{op.id}: {_ended(f)}" for f in ended]
        if op.status == "failed" and not failed and not short and not ended and not _law_failures(op):
            found.append(f"{op.id} failed")
        return found

    def _short(self, counts: Sequence[KindCount]) -> str:
        """Kinds that were not run to their end; of a part of a run that goes without saying."""
        missing = [f"{c.cases:,} of {c.planned:,} {c.kind}" for c in counts if not c.complete]
        return ", ".join(missing) if self.results.plan.whole else ""

    def expected(self) -> list[str]:
        """An expected failure is a failure all the same."""
        return [
            f"a failure is expected: {e.pattern} ({e.reason})"
            for e in self.results.expected
            if e.failed and any(covers(e.pattern, f) and self._mine(f) for f in self.results.failures)
        ]

    def _mine(self, failure: Failure) -> bool:
        parts = failure.case.split("/")
        subject = failure.op or (parts[1] if len(parts) > 2 else "")
        return subject_track(subject, self.results.backend.approximate) == self.track

    def stored(self) -> list[str]:
        """Stored failures were replayed. No stage result means that none was stored."""
        if "regressions" not in self.results.plan.stages:
            return ["the stage regressions was not run"]
        return self.stage("regressions") if self._stage("regressions") is not None else []

    def laws(self) -> list[str]:
        plan = self.results.plan
        found: list[str] = []
        planned = plan.float_cases if self.track == _FLOAT else plan.cases
        if planned < _WITNESSES:
            found.append(f"{planned:,} random cases were planned for each law; {_WITNESSES:,} are needed")
        if self.track == _INTEGER and plan.largest < _TRIPLES:
            found.append(f"exhaustive kinds of more than {plan.largest:,} cases were left out")
        declared = {op.id: op.laws for op in self.promised}
        for op in self.ops:
            if op.status in ("refused", "not run"):
                continue
            ran = {law.law for law in op.laws}
            found += [f"{op.id}: {law} was not run" for law in declared.get(op.id, ()) if law not in ran]
            found += [f"{op.id}: {law.law} {why}" for law in op.laws for why in self._law(op, law)]
            if op.instruction == "not seen":
                found.append(f"{op.id}: its instruction is not in the compiled kernel")
        return found

    def _law(self, op: OpResult, law: LawResult) -> list[str]:
        found = [f"fails in {_count(law.failed, 'case')}"] if law.failed else []
        if not any(c.cases for c in law.counts):
            return [*found, "met no case"] if self.results.plan.whole else found
        short = self._short(law.counts)
        found += [f"ran only {short} cases"] if short else []
        needed = _MEMORY_WITNESSES if op.id.startswith("memory.") else _WITNESSES
        if op.id.startswith(_FLOAT_PREFIX) and any(c.kind == "u16" for c in law.counts):
            return found  # all inputs of a 16-bit format
        sampled = any(c.kind == "random" for c in law.counts)
        missing = not sampled and any(c.kind not in ("u8", "u16", "u8x3", "all") for c in law.counts)
        plan = self.results.plan
        planned = plan.float_cases if op.id.startswith(_FLOAT_PREFIX) else plan.cases
        if planned >= _WITNESSES and (missing or (sampled and law.witnessed < needed)):
            found.append(f"has {law.witnessed:,} uniform cases; {needed:,} are needed")
        return found

    def stage(self, name: str) -> list[str]:
        """A stage that was run to its end, with nothing of this track failed or refused in it."""
        stage = self._stage(name)
        if stage is None:
            return [f"the stage {name} was not run"]
        found: list[str] = []
        if self.results.plan.whole and (stage.cases < stage.planned or not stage.planned):
            found.append(f"the stage {name} ran {stage.cases:,} of {stage.planned:,} cases")
        mine = self._own(stage)
        failed = {s.subject: s.failed for s in mine if s.failed}
        refused = {s.subject: s.refused for s in mine if s.refused and not self._lawful_refusal(s.subject)}
        for what, counts in (("failed", failed), ("was refused", refused)):
            if counts:
                total = _count(sum(counts.values()), "case")
                found.append(f"the stage {name} {what} in {total}: {_list(list(counts))}")
        return found

    def _own(self, stage: StageResult) -> list[SubjectCount]:
        """The subjects of a stage that are on this track."""
        approximate = self.results.backend.approximate
        return [s for s in stage.subjects if subject_track(s.subject, approximate) == self.track]

    def _stage(self, name: str) -> StageResult | None:
        return next((s for s in self.results.stages if s.stage == name), None)

    def _lawful_refusal(self, subject: str) -> bool:
        """Of an op that may be refused, or of golden rows of a family whose ops are judged one by one."""
        if subject.startswith(_INTRINSIC):
            return True
        if subject in self.categories:
            return may_be_refused(subject, self.categories[subject], self.refused)
        family = subject.partition(" ")[2]
        ids = (f"{family}.", f"{_FLOAT_PREFIX}{family}.")
        return bool(family) and any(op.startswith(ids) for op in self.refused)

    def others(self) -> list[str]:
        """Stages that no level asks for, such as instructions that a device may lack: wrong is wrong."""
        found: list[str] = []
        for stage in self.results.stages:
            failed = [s.subject for s in self._own(stage) if s.failed]
            if stage.stage not in _NAMED and failed:
                found.append(f"the stage {stage.stage} failed: {_list(failed)}")
        return found

    def engines(self) -> list[str]:
        found = self.stage("engines")
        stage = self._stage("engines")
        if stage is None:
            return found
        seen = {s.subject.rpartition("/")[2].lower() for s in self._own(stage) if s.cases > s.refused}
        absent = [name for name in _INVARIANTS if name.lower() not in seen]
        return [*found, f"{_list(absent)} {_were(absent)} checked on no engine"] if absent else found

    def performance(self) -> list[str]:
        return [] if self.baselines else ["no performance baseline was measured"]


def _stages(*names: str) -> list[Callable[[_Rules], list[str]]]:
    def rule(name: str) -> Callable[[_Rules], list[str]]:
        return lambda rules: rules.stage(name)

    return [rule(name) for name in names]


_FIRST = [_Rules.complete, _Rules.parity, _Rules.expected, _Rules.stored, *_stages("golden")]
_RULES: dict[str, list[list[Callable[[_Rules], list[str]]]]] = {
    _INTEGER: [
        _FIRST,
        [_Rules.laws, *_stages(*_ALGEBRAIC), _Rules.others],
        [_Rules.engines, *_stages("programs")],
        [*_stages("composition"), _Rules.performance],
    ],
    _FLOAT: [
        _FIRST,
        [_Rules.laws, *_stages("determinism", "float_folding"), _Rules.others],
        _stages("engines", "tensors"),
        [*_stages("networks"), _Rules.performance],
    ],
    _APPROXIMATE: [[*_FIRST, *_stages("approximate")]],
}


def _ended(failure: Failure) -> str:
    if failure.kind == "coverage":
        return f"{', '.join(failure.inputs)} met no case"
    return f"{failure.kind} at {failure.case}"


def _law_failures(op: OpResult) -> bool:
    return any(law.failed for law in op.laws)


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _were(names: Sequence[str]) -> str:
    return "was" if len(names) == 1 else "were"


def _list(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
