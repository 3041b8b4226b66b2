"""How many cases were run, refused and not run: the one place where they are counted, for every reader.

    cases(results)              every case of the plan, of parity, laws and stages together
    laws(results)               the laws themselves: a law is run where one case of it was
    counts.text("case")         "972 cases run, 2,334 refused, 12 not run"

The three add up to what was planned. A refused case gave no result, so it is never among those that agree; a
case behind a crash, of another shard or before `--skip` was not run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vyre.conform.records.evidence import KindCount
    from vyre.conform.records.results import LawResult, OpResult, Results, Soak, StageResult, SubjectCount


@dataclass(frozen=True, slots=True)
class Counts:
    """Cases (or laws, or ops) by what came of them; `run` includes those that failed."""

    run: int = 0
    refused: int = 0
    not_run: int = 0

    @property
    def planned(self) -> int:
        return self.run + self.refused + self.not_run

    def text(self, what: str) -> str:
        """`3 laws run, 2 refused, 1 not run`; what is nothing is left out behind the first."""
        plural = what if self.run == 1 else f"{what}s"
        return ", ".join([f"{self.run:,} {plural} run", *self.rest])

    @property
    def rest(self) -> list[str]:
        """What gave no result, as parts of a sentence."""
        return [f"{n:,} {w}" for n, w in ((self.refused, "refused"), (self.not_run, "not run")) if n]


def total(parts: Iterable[Counts]) -> Counts:
    found = list(parts)
    return Counts(*(sum(getattr(p, name) for p in found) for name in Counts.__slots__))


def parity(op: OpResult) -> Counts:
    """The cases of an op against its definition."""
    return _counted(op.parity, refused=op.status == "refused")


def law(op: OpResult, found: LawResult) -> Counts:
    """The cases of a law. One of which nothing ran, though its kind of cases did, was refused."""
    ran = {c.kind for c in op.parity if c.cases}
    none = not any(c.cases for c in found.counts) and any(c.kind in ran for c in found.counts)
    return _counted(found.counts, refused=op.status == "refused" or none)


def _counted(counts: Sequence[KindCount], *, refused: bool) -> Counts:
    run, planned = sum(c.cases for c in counts), sum(c.planned for c in counts)
    left = max(planned - run, 0)
    return Counts(run, left, 0) if refused else Counts(run, 0, left)


def subject(found: SubjectCount) -> Counts:
    return Counts(found.cases - found.refused, found.refused)


def stage(found: StageResult) -> Counts:
    inside = total(map(subject, found.subjects))
    return Counts(inside.run, inside.refused, max(found.planned - inside.planned, 0))


def cases(results: Results) -> Counts:
    """Every case of a run: parity, every law, and every stage."""
    return total(
        [
            *(parity(op) for op in results.ops),
            *(law(op, found) for op in results.ops for found in op.laws),
            *map(stage, results.stages),
        ]
    )


def soaked(soak: Soak) -> str:
    """What was run beyond the plan: `972 cases run under 3 other seeds from 1072877, no failure`."""
    found = total(map(stage, soak.stages))
    seeds = f"{soak.seeds:,} other {'seed' if soak.seeds == 1 else 'seeds'} from {soak.first}"
    failed = len(soak.failures)
    return f"{found.text('case')} under {seeds}, {failed or 'no'} {'failure' if failed < 2 else 'failures'}"


def laws(ops: Iterable[OpResult]) -> Counts:
    """The laws of some ops, each counted once."""
    return total(_once(law(op, found)) for op in ops for found in op.laws)


def ops(found: Iterable[OpResult]) -> Counts:
    """Some ops, each counted once."""
    names = {"refused": Counts(0, 1), "not run": Counts(0, 0, 1)}
    return total(names.get(op.status, Counts(1)) for op in found)


def _once(found: Counts) -> Counts:
    if found.run:
        return Counts(1)
    return Counts(0, 1) if found.refused else Counts(0, 0, 1)
