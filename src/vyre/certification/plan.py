"""What a certification runs and how it holds the backend: settings, each with the value of a full run.

    CertifyPlan()                                       everything, as `vyre certify BACKEND` runs it
    CertifyPlan(quick=True)                             a first look: few random cases, no triples
    CertifyPlan(ops=("primitive.math.*",), cases=10**8)
    CertifyPlan(shard=(2, 3), state=".vyre", resume=True)

`run_plan` makes the plan of a run of it, which lists every op and number and is what a certificate holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vyre.conform.suite import plan as suite
from vyre.conform.suite.regressions import Store
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.records.results import RunPlan


MOST_MINUTES = 100_000
"""The longest soak: ten weeks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifyPlan:
    """Which cases are run, in what part, and what is kept. A setting that is left alone is that of a full
    run; a certificate lists every other one."""

    ops: Sequence[str] = ()
    """Only these: ids, families or patterns such as `primitive.math.*`."""
    track: str | None = None
    """`integer` or `float`: only what the first levels of that track need."""
    stages: Sequence[str] = ()
    cases: int | None = None
    """Random cases of each op and law."""
    programs: int | None = None
    """Generated programs."""
    repeats: int = 3
    """Runs of each case of a stage."""
    seed: int | None = None
    quick: bool = False
    exhaustive: bool = False
    """All 2^32 inputs of every op of one word."""
    shard: tuple[int, int] = (1, 1)
    """(i, n): the i-th of n equal parts, counted from 1."""
    skip: int = 0
    """Cases that are left out at the start of the run."""
    expected: Sequence[tuple[str, str]] = ()
    """Failures that are expected: the name of an op or case, or the start of one, and a reason."""
    isolate: bool = True
    """A backend that is named runs in a process of its own, so that a crash does not end the run. An instance
    runs in this process whatever this says."""
    timeout: float = 60.0
    """Seconds to wait for a backend in a process of its own."""
    processes: int | None = None
    """Processes that share the work, each with the backend in one of its own; None is one for each core where
    the processor is certified, and else 1. The certificate is the same for any number."""
    state: str | Path | None = None
    """The folder for journals, results, failures and performance figures; None keeps nothing."""
    resume: bool = False
    """Goes on with a run of the same plan whose journal is in `state`."""
    failures: str | Path | None = None
    """The store of failures, which are replayed first; None is `failures` in `state`."""
    keep_failures: bool = True
    """Whether failures are kept and replayed at all."""
    soak: float = 0
    """Minutes for which the run goes on beyond its plan, with other seeds."""
    baselines: bool | None = None
    """Whether speed is measured for the annex; None measures where nothing is left out."""
    baseline: str | Path | None = None
    """An earlier performance annex of this device and driver: what is slower three times denies L4."""

    def __post_init__(self) -> None:
        for name in ("ops", "stages"):
            found: object = getattr(self, name)
            if isinstance(found, str):
                raise VyreError(
                    f"{name} is the string {found!r}, not a sequence of names.",
                    fix=f"pass {name}=({found!r},).",
                )
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "expected", tuple(self.expected))
        if self.track is not None and self.track not in suite.TRACK_STAGES:
            raise VyreError(
                f"unknown track {self.track!r}.", fix=f"use {' or '.join(suite.TRACK_STAGES)}, or None."
            )
        if self.resume and self.state is None:
            raise VyreError(
                "resume=True needs the folder in which the journal is.", fix='pass state=".vyre", as before.'
            )
        if self.processes is not None and self.processes < 1:
            raise VyreError(f"processes must be at least 1, got {self.processes}.", fix="pass processes=1.")
        if not 0 <= self.soak <= MOST_MINUTES:
            raise VyreError(
                f"soak={self.soak} is not a number of minutes from 0 to {MOST_MINUTES:,}.",
                fix="pass the minutes for which the run goes on, such as soak=10.",
            )
        if self.baseline is not None and self.baselines is False:
            raise VyreError("baseline and baselines=False exclude each other.", fix="keep one of them.")

    @property
    def folder(self) -> Path | None:
        return None if self.state is None else Path(self.state)

    @property
    def store(self) -> Store | None:
        """Where failures are kept and found again; None where they are not."""
        if not self.keep_failures:
            return None
        if self.failures is not None:
            return Store(Path(self.failures))
        return None if self.folder is None else Store(self.folder / "failures")

    def run_plan(self, backend: str, store: Store | None = None) -> RunPlan:
        """The plan of a run on this backend, with what `store` has of it. Raises `VyreError` for numbers,
        ops or stages that there are not."""
        ops, stages = tuple(self.ops), tuple(self.stages)
        if self.track is not None:
            ops = ops or suite.ops_of(self.track)
            stages = stages or suite.TRACK_STAGES[self.track]
        cases = suite.QUICK_CASES if self.quick else suite.DEFAULT_CASES
        programs = suite.QUICK_PROGRAMS if self.quick else suite.DEFAULT_PROGRAMS
        return suite.make_plan(
            backend,
            seed=suite.DEFAULT_SEED if self.seed is None else self.seed,
            cases=cases if self.cases is None else self.cases,
            float_cases=self.cases,
            shard=self.shard,
            skip=self.skip,
            ops=ops,
            stages=stages,
            programs=programs if self.programs is None else self.programs,
            exhaustive=self.exhaustive,
            largest=suite.QUICK_LARGEST if self.quick else suite.LARGEST,
            repeats=self.repeats,
            store=store,
        )
