"""What a conformance run has shown, as data: everything a certificate may be made of.

    results = run(...).results          # vyre.conform.suite.run
    results.to_json()                   canonical bytes: sorted keys, no clock, no timing, one final newline
    Results.from_json(data)             the same value back; anything else raises `VyreError`
    results.digest                      sha256 of those bytes

A run of one plan on one backend gives the same bytes, in one go or resumed after any number of kills.
Timing goes to an annex of its own (`vyre.conform.suite.run.Timing`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Annotated

from vyre.conform.records.documents import (
    COUNT_MAX,
    Among,
    Field,
    FieldError,
    Omitted,
    Rule,
    Within,
    canonical,
    decode,
    encode,
    parse,
)
from vyre.conform.records.envelope import Envelope  # noqa: TC001 - read back by its annotations
from vyre.conform.records.evidence import KindCount, density_found, evidence, witnessed
from vyre.errors import VyreError

SCHEMA = "vyre.results/2"

Seed = Annotated[int, Within(0, (1 << 64) - 1)]
Shard = Annotated[
    tuple[int, int],
    Rule("[i, n] with i from 1 to n and n at most 65536", lambda s: 1 <= s[0] <= s[1] <= 1 << 16),
]
Status = Annotated[str, Among("passed", "failed", "refused", "not run")]


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Everything that decides which cases are run; two runs with equal plans run the same ones.

    `cases` are the random cases per op and law, `float_cases` those of float operations, `shard` is (i, n)
    with i from 1, `skip` the cases left out at the start of the run's order, `largest` the longest exhaustive
    kind that is run.
    """

    backend: str
    seed: Seed
    cases: int
    shard: Shard
    skip: int
    ops: tuple[str, ...]
    registry: str
    stages: tuple[str, ...]
    programs: int
    exhaustive: bool
    largest: int
    repeats: Annotated[int, Within(1, COUNT_MAX)]
    regressions: tuple[str, ...] = ()
    """Digests of the stored failures that are replayed first."""
    float_cases: int = 1 << 20

    @property
    def whole(self) -> bool:
        """Whether nothing was left out but by the choice of ops and sizes."""
        return self.shard == (1, 1) and self.skip == 0

    @property
    def digest(self) -> str:
        return hashlib.sha256(canonical(encode(self))).hexdigest()


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """A program with a known result, run when the device was opened; `fault` is empty where it was right."""

    name: str
    fault: str


@dataclass(frozen=True, slots=True)
class BackendFacts:
    """The device, driver and toolchain the evidence is about."""

    name: str
    version: str
    device: str
    driver: str
    toolchain: str
    conventions: tuple[str, ...]
    categories: tuple[str, ...]
    approximate: tuple[str, ...]
    target: str
    """What a replay command names: an entry point, or `module:Class`."""
    canaries: tuple[CanaryResult, ...] = ()
    """What the device was asked at open, where the backend tells."""
    limits: tuple[str, ...] = ()
    """What the device refuses, such as `buffer_bytes 134217728`."""
    hardware: tuple[str, ...] = ()
    """The instructions of Category C that the device has."""

    @property
    def digest(self) -> str:
        return hashlib.sha256(canonical(encode(self))).hexdigest()


@dataclass(frozen=True, slots=True)
class Conditions:
    """How the backend was held: `isolation` is `process` or `in-process`, where a crash ends the run.

    `timeout_ms` is how long an answer was waited for; nothing ends a hang within the process.
    """

    isolation: Annotated[str, Among("process", "in-process", "unknown")] = "unknown"
    timeout_ms: int = 0


@dataclass(frozen=True, slots=True)
class LawResult:
    """One law or property on the backend's own results; `role` is `law` or `property`."""

    law: str
    role: str
    equations: tuple[str, ...]
    counts: tuple[KindCount, ...]

    @property
    def failed(self) -> int:
        return sum(c.failed for c in self.counts)

    @property
    def evidence(self) -> str:
        return evidence(self.counts)

    @property
    def witnessed(self) -> int:
        return witnessed(self.counts)

    @property
    def density(self) -> float | None:
        """Faults this dense or denser would have been found with 99 %; None where nothing was sampled."""
        return density_found(self.witnessed) if self.witnessed else None


@dataclass(frozen=True, slots=True)
class ClassCount:
    """An equivalence class and the cases that fell into it."""

    name: str
    cases: int


@dataclass(frozen=True, slots=True)
class BoundaryCount:
    """The boundary values of one operand word: declared, and those that no case had, in hex."""

    word: int
    declared: int
    missed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    classes: tuple[ClassCount, ...] = ()
    boundaries: tuple[BoundaryCount, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """What was declared and met no case."""
        found = [f"class {c.name}" for c in self.classes if not c.cases]
        found += [f"boundary {value} of word {b.word}" for b in self.boundaries for value in b.missed]
        return tuple(found)


@dataclass(frozen=True, slots=True)
class OpResult:
    """One op. `status` is `passed`, `failed`, `refused` (with the reason) or `not run`.

    `lowering` is the way the backend says it took (`native` where it says nothing), `instruction` whether
    the op was seen in the compiled kernel: `seen`, `not seen`, `not exposed`.
    """

    id: str
    version: int
    category: str
    status: Status
    refusal: str
    lowering: str
    instruction: str
    parity: tuple[KindCount, ...]
    laws: tuple[LawResult, ...]
    coverage: Coverage

    @property
    def cases(self) -> int:
        return sum(c.cases for c in self.parity)

    @property
    def evidence(self) -> str:
        return evidence(self.parity)

    @property
    def density(self) -> float | None:
        n = witnessed(self.parity)
        return density_found(n) if n else None


@dataclass(frozen=True, slots=True)
class SubjectCount:
    """Cases about one subject of a stage, such as a barrier property or a family of golden rows.

    `cases` are all that were asked for, the `refused` ones among them: those gave no result.
    """

    subject: str
    cases: int
    failed: int
    refused: int


Subjects = Annotated[
    tuple[SubjectCount, ...],
    Rule(
        "subjects with no more failed and refused cases than cases",
        lambda found: all(s.failed + s.refused <= s.cases for s in found),
    ),
]


@dataclass(frozen=True, slots=True)
class StageResult:
    """One stage besides the ops: `regressions`, `golden`, `determinism`, `wire`, `barrier`, `atomics`,
    `bounds`, `races`, `programs`. `planned` counts the cases of all shards together."""

    stage: str
    planned: int
    subjects: Subjects

    @property
    def cases(self) -> int:
        return sum(s.cases for s in self.subjects)

    @property
    def failed(self) -> int:
        return sum(s.failed for s in self.subjects)

    @property
    def refused(self) -> int:
        return sum(s.refused for s in self.subjects)


@dataclass(frozen=True, slots=True)
class FailingRange:
    """Cases `first` to `last` of a kind, of which `count` failed."""

    kind: str
    first: int
    last: int
    count: int


@dataclass(frozen=True, slots=True)
class Failure:
    """One fault, shrunk to its smallest input.

    `kind` is `value`, `law`, `crash`, `hang`, `error`, `unstable` (not the same twice), `inputs` (the backend
    made other ones than it should) or `coverage`. `inputs` are the bits of each operand of the smallest
    failing case, `found` those of the first one, `count` how many cases failed. `case` is the permanent name
    of the first, `smallest` of the smallest.
    """

    backend: str
    stage: str
    op: str
    case: str
    smallest: str
    kind: str
    inputs: tuple[str, ...]
    expected: str
    actual: str
    found: tuple[str, ...]
    count: int
    seed: Seed
    note: str
    program: str
    source: str
    replay: str
    failing: tuple[FailingRange, ...] = ()
    """Of an op's check: every failing case is in one of these."""

    @property
    def digest(self) -> str:
        return hashlib.sha256(canonical(encode(self))).hexdigest()


@dataclass(frozen=True, slots=True)
class ExpectedFailure:
    """A line of the file of expected failures, and whether it failed in this run."""

    pattern: str
    reason: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Soak:
    """What a run went on with after its plan: the plan's stages again, under `seeds` other seeds.

    The k-th of them is `first + k * step`, modulo 2^64; of the last one some cases may be missing.
    """

    first: Seed
    step: int
    seeds: int
    stages: tuple[StageResult, ...]
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """A finished run."""

    plan: RunPlan
    backend: BackendFacts
    ops: tuple[OpResult, ...]
    stages: tuple[StageResult, ...]
    failures: tuple[Failure, ...]
    expected: tuple[ExpectedFailure, ...] = ()
    conditions: Conditions = field(default_factory=Conditions)
    schema: str = SCHEMA
    soak: Annotated[tuple[Soak, ...] | None, Omitted()] = None
    """What was run beyond the plan, by shard."""
    envelope: Annotated[Envelope | None, Omitted()] = None
    """Which shapes passed; None for a part of a run, and where the stage `shapes` was left out."""

    @property
    def every_failure(self) -> tuple[Failure, ...]:
        """Those of the plan, and those that were met beyond it."""
        return (*self.failures, *(f for soak in self.soak or () for f in soak.failures))

    @property
    def refused(self) -> tuple[OpResult, ...]:
        return tuple(o for o in self.ops if o.status == "refused")

    @property
    def unexpected(self) -> tuple[Failure, ...]:
        """Failures that no line of the expected ones covers."""
        return tuple(f for f in self.every_failure if not any(covers(e.pattern, f) for e in self.expected))

    @property
    def unexpected_passes(self) -> tuple[ExpectedFailure, ...]:
        return tuple(e for e in self.expected if not e.failed)

    @property
    def ok(self) -> bool:
        return not self.unexpected and not self.unexpected_passes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.to_json()).hexdigest()

    def to_json(self) -> bytes:
        return canonical(encode(self))

    @classmethod
    def from_json(cls, data: bytes | str) -> Results:
        try:
            value = parse(data)
            schema = Field(value).field("schema").text()
            if schema != SCHEMA:
                raise VyreError(
                    f"results of schema {schema!r}, not {SCHEMA!r}.",
                    fix="read them with the version of vyre that wrote them.",
                )
            return decode(cls, value)
        except FieldError as error:
            raise VyreError(
                f"these are not results of a conformance run: {error}.",
                fix="pass the results file that `vyre certify` wrote.",
            ) from None


def covers(pattern: str, failure: Failure) -> bool:
    """Whether a line of expected failures means this one: an op id, a case name, or a prefix of one."""
    return pattern in (failure.op, failure.case) or failure.case.startswith(f"{pattern}/")
