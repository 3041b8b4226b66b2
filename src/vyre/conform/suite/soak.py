"""A run goes on beyond its plan: the stages that a seed changes, again and again, each time with another one.

    soaking = Soaking(bench, plan, target, journal, minutes, before)
    for entry in soaking.run(): ...       each finished piece, once it is in the journal
    soaking.result()                      what a certificate says of it; None where nothing was run

A piece is a few cases of a stage under one seed. The pieces come in an order that the seed shuffles,
and several threads ask at once, so that the dispatches of different programs meet. The list of pieces follows
from the plan alone: one that was killed goes on behind the pieces that the journal has, and the time that
they took is not asked for again. Nothing of this changes the plan, or what a run without it gives.
"""

from __future__ import annotations

import itertools
import random
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vyre.conform.records.blocks import FAILED, REFUSED, SoakEntry
from vyre.conform.records.faults import EXPLAINED, Faults
from vyre.conform.records.results import Soak, StageResult, SubjectCount
from vyre.conform.suite.closing import Closing
from vyre.conform.suite.units import STAGES, Unit
from vyre.conform.verify.confirm import confirmed
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vyre.conform.records.blocks import Outcome
    from vyre.conform.records.journal import Journal
    from vyre.conform.records.results import Failure, RunPlan
    from vyre.conform.verify.bench import Bench
    from vyre.conform.verify.stage import Stage

SOAKED = (
    "programs", "shapes", "dispatches", "atomics", "barrier", "bounds", "races", "determinism", "engines",
)  # fmt: skip
"""Stages whose cases are others under another seed, and cheap enough to be run for hours."""
STEP = 1 << 20
"""Between the seeds: a stage adds the number of its case to its seed."""
MOST_FAILURES = 64
"""Failures after which nothing more is learnt from going on."""
PIECE = 8
"""Most cases of a piece, which is what is lost when a run is killed."""
_THREADS = 4


@dataclass(frozen=True, slots=True)
class Piece:
    """Cases `lo` to `hi - 1` of a stage under a seed; `number` counts through the whole soak."""

    number: int
    seed: int
    unit: Unit
    lo: int
    hi: int


def soaked_stages(plan: RunPlan) -> list[str]:
    """The stages of a plan that are run beyond it. Raises `VyreError` where there are none."""
    found = [name for name in SOAKED if name in plan.stages]
    if not found:
        raise VyreError(
            f"--soak repeats {', '.join(SOAKED)}, and this plan has none of them.",
            fix="leave out --soak, or add one of these with --stage.",
        )
    return found


class Soaking:
    """What one run does beyond its plan; `before` is what the journal has of it already."""

    def __init__(
        self,
        bench: Bench,
        plan: RunPlan,
        target: str,
        journal: Journal,
        minutes: float,
        before: Sequence[SoakEntry] = (),
    ) -> None:
        self.bench = bench
        self.plan = plan
        self.target = target
        self.journal = journal
        self.seconds = 60 * minutes
        self.before = tuple(before)
        self.entries = list(before)
        self.stages = soaked_stages(plan) if minutes or before else []
        self.step = STEP * plan.shard[1]
        self.first = (plan.seed + STEP * plan.shard[0]) % (1 << 64)
        self._begun = time.monotonic() - max((e.until_ms for e in before), default=0) / 1000

    @property
    def left(self) -> float:
        """Seconds."""
        return max(0.0, self.seconds - (time.monotonic() - self._begun))

    @property
    def failing(self) -> int:
        return sum(len(e.failures) for e in self.entries)

    def run(self) -> Iterator[SoakEntry]:
        """Every finished piece, in the order in which they finish, until the time is over."""
        done = {e.soak for e in self.entries}
        pieces = (p for p in self.pieces() if p.number not in done)
        running: dict[Future[list[Outcome]], Piece] = {}
        with ThreadPoolExecutor(_THREADS) as pool:
            while True:
                held = self.bench.held
                if not running and held.overgrown():
                    held.renew()
                while self._goes_on() and len(running) < _THREADS and not (running and held.overgrown()):
                    piece = next(pieces)
                    running[pool.submit(self._outcomes, piece)] = piece
                if not running:
                    return
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield self._keep(running.pop(future), future.result())

    def _goes_on(self) -> bool:
        return self.left > 0 and self.failing < MOST_FAILURES

    def pieces(self) -> Iterator[Piece]:
        """All pieces there are, without end."""
        number = itertools.count()
        for turn in itertools.count():
            seed = (self.first + turn * self.step) % (1 << 64)
            found = [
                (unit, lo)
                for unit in (_unit(STAGES[name], self.plan) for name in self.stages)
                for lo in range(0, unit.count, unit.block)
            ]
            random.Random(seed).shuffle(found)
            for unit, lo in found:
                yield Piece(next(number), seed, unit, lo, min(unit.count, lo + unit.block))

    def _outcomes(self, piece: Piece) -> list[Outcome]:
        plan = replace(self.plan, seed=piece.seed)
        assert piece.unit.stage is not None
        found = piece.unit.stage.run(self.bench.backend, plan, piece.lo, piece.hi)
        return confirmed(self.bench, piece.unit.stage, plan, piece.lo, found)

    def _keep(self, piece: Piece, outcomes: Sequence[Outcome]) -> SoakEntry:
        counted: dict[str, list[int]] = {}
        for outcome in outcomes:
            sums = counted.setdefault(outcome.subject, [0, 0, 0])
            sums[0] += 1
            sums[1] += outcome.status == FAILED
            sums[2] += outcome.status == REFUSED
        failures = self._failures(piece, [o for o in outcomes if o.status == FAILED])
        until = round(1000 * (time.monotonic() - self._begun))
        subjects = tuple(SubjectCount(name, *sums) for name, sums in counted.items())
        entry = SoakEntry(piece.number, piece.seed, piece.unit.name, until, subjects, failures)
        self.entries.append(self.journal.keep(entry))
        return self.entries[-1]

    def _failures(self, piece: Piece, failed: Sequence[Outcome]) -> tuple[Failure, ...]:
        """The first few of each stage made small, as in the plan."""
        if not failed:
            return ()
        plan = replace(self.plan, seed=piece.seed)
        known = sum(len(e.failures) for e in self.entries if e.stage == piece.unit.name)
        closing = Closing(self.bench, plan, Faults(plan, self.target), (), ())
        return closing.stage_failures(piece.unit, failed, explained=max(0, EXPLAINED - known))

    def result(self) -> tuple[Soak, ...] | None:
        """What was run, by stage and subject, whatever the order in which it was."""
        if not self.entries:
            return None
        entries = sorted(self.entries, key=lambda e: e.soak)
        stages = [self._added(name, [e for e in entries if e.stage == name]) for name in self.stages]
        seeds = len({e.seed for e in entries})
        failures = tuple(f for e in entries for f in e.failures)
        return (Soak(self.first, self.step, seeds, tuple(s for s in stages if s.cases), failures),)

    def _added(self, stage: str, entries: Sequence[SoakEntry]) -> StageResult:
        sums: dict[str, SubjectCount] = {}
        for one in (s for e in entries for s in e.subjects):
            had = sums.get(one.subject, SubjectCount(one.subject, 0, 0, 0))
            sums[one.subject] = SubjectCount(
                one.subject, had.cases + one.cases, had.failed + one.failed, had.refused + one.refused
            )
        found = tuple(sums[name] for name in sorted(sums))
        return StageResult(stage, sum(s.cases for s in found), found)


def _unit(stage: Stage, plan: RunPlan) -> Unit:
    return Unit(stage.name, stage.name, stage.count(plan), min(stage.group, PIECE), stage=stage)
