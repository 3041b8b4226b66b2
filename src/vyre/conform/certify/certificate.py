"""What a certificate holds: a run's results, what they mean, and what they rest on.

    made = certificates(results, promised=registry_now(), proofs=law_proofs(...))   one, or two with L1a
    made[0].track("integer").highest          "L2"
    made[0].to_json()                         canonical bytes, reproducible: no clock, host, path or timing
    Certificate.from_json(data)               the same value back
    made[0].results                           the results inside it

What follows from the rest (evidence, densities, levels, what is unsupported) is written out for readers, and
`derived()` makes it again from the rest, so that a certificate cannot claim more than it contains.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Annotated, Any, cast

from vyre.conform.certify.level import TrackLevels, levels
from vyre.conform.certify.promises import Promises  # noqa: TC001 - read back by its annotations
from vyre.conform.certify.proofs import LawProof
from vyre.conform.certify.track import APPROXIMATE, KINDS, STRICT, may_be_refused, op_track, subject_track
from vyre.conform.documents import Among, FieldError, canonical, decode, parse
from vyre.conform.results import (
    BackendFacts,
    Coverage,
    ExpectedFailure,
    Failure,
    KindCount,
    LawResult,
    OpResult,
    Results,
    RunPlan,
    StageResult,
    Status,
)
from vyre.errors import CertificateError

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA = "vyre.certificate/1"


@dataclass(frozen=True, slots=True)
class CertifiedLaw:
    """A law on the backend's own results, and what is known about the law itself (`proof`).

    `density` is the share of faulty inputs that the uniform cases would have met with 99 %.
    """

    law: str
    role: str
    equations: tuple[str, ...]
    counts: tuple[KindCount, ...]
    evidence: str
    witnessed: int
    density: str
    proof: str
    solver: str
    options: str


@dataclass(frozen=True, slots=True)
class CertifiedOp:
    """An op: which version, how it was lowered, on how many cases of each kind it was right."""

    id: str
    version: int
    category: str
    track: str
    status: Status
    refusal: str
    lowering: str
    instruction: str
    parity: tuple[KindCount, ...]
    evidence: str
    density: str
    coverage: Coverage
    laws: tuple[CertifiedLaw, ...]


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A refused op. `blocking` where that denies a level: a Category A op, but F64 without doubles."""

    op: str
    reason: str
    blocking: bool


@dataclass(frozen=True, slots=True)
class InvariantCount:
    invariant: str
    cases: int
    failed: int
    refused: int


@dataclass(frozen=True, slots=True)
class CertifiedEngine:
    engine: str
    invariants: tuple[InvariantCount, ...]


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """A finished block of a shard, as the journal has it; what `vyre merge` adds up."""

    unit: str
    number: int
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate; `kind` is `strict` or `approximate`, never both."""

    kind: Annotated[str, Among(STRICT, APPROXIMATE)]
    tracks: tuple[TrackLevels, ...]
    backend: BackendFacts
    plan: RunPlan
    ops: tuple[CertifiedOp, ...]
    unsupported: tuple[Unsupported, ...]
    stages: tuple[StageResult, ...]
    engines: tuple[CertifiedEngine, ...]
    failures: tuple[Failure, ...]
    expected: tuple[ExpectedFailure, ...]
    baselines: tuple[str, ...]
    """Names of the performance baselines that were measured; their figures are in the annex."""
    registry: Promises
    blocks: tuple[BlockRecord, ...]
    vyre: str
    schema: str = SCHEMA
    slower: tuple[str, ...] = ()
    """Of the baselines, those that three measurements found slower than a baseline that was given."""

    def track(self, name: str) -> TrackLevels:
        return next(t for t in self.tracks if t.track == name)

    @property
    def results(self) -> Results:
        """The results this certificate is made of."""
        ops = tuple(
            OpResult(
                o.id, o.version, o.category, o.status, o.refusal, o.lowering, o.instruction, o.parity,
                tuple(LawResult(law.law, law.role, law.equations, law.counts) for law in o.laws), o.coverage,
            )
            for o in self.ops
        )  # fmt: skip
        return Results(self.plan, self.backend, ops, self.stages, self.failures, self.expected)

    @property
    def proofs(self) -> tuple[LawProof, ...]:
        return tuple(
            LawProof(o.id, law.law, law.proof, law.solver, law.options) for o in self.ops for law in o.laws
        )

    def derived(self) -> Certificate:
        """The certificate that these contents support: the same one, unless it was made by hand."""
        made = _certificate(
            self.kind, self.results, self.registry, self.proofs, self.baselines, self.blocks, self.slower
        )
        return replace(made, vyre=self.vyre)

    def to_json(self) -> bytes:
        return canonical(asdict(self))

    @classmethod
    def from_json(cls, data: bytes | str) -> Certificate:
        try:
            return cls.from_record(parse(data))
        except FieldError as error:
            raise _no_certificate(str(error)) from None

    @classmethod
    def from_record(cls, record: Any) -> Certificate:
        schema = cast("dict[str, Any]", record).get("schema") if isinstance(record, dict) else None
        if schema != SCHEMA:
            raise CertificateError(
                f"a certificate of schema {schema!r}, not {SCHEMA!r}.",
                fix="read it with the version of vyre that wrote it.",
            )
        try:
            return cast("Certificate", decode(cls, {"slower": [], **cast("dict[str, Any]", record)}))
        except FieldError as error:
            raise _no_certificate(str(error)) from None


def certificates(
    results: Results,
    *,
    promised: Promises,
    proofs: Sequence[LawProof] = (),
    baselines: Sequence[str] = (),
    slower: Sequence[str] = (),
    blocks: Sequence[BlockRecord] = (),
) -> tuple[Certificate, ...]:
    """The strict certificate of a run and, where its approximate operations were run, one of those alone."""
    strict = _certificate(STRICT, results, promised, proofs, baselines, blocks, slower)
    approximate = _certificate(APPROXIMATE, results, promised, proofs, (), blocks, ())
    asked = any(s.stage == APPROXIMATE for s in approximate.stages)
    return (strict, approximate) if asked else (strict,)


def _certificate(
    kind: str,
    results: Results,
    promised: Promises,
    proofs: Sequence[LawProof],
    baselines: Sequence[str],
    blocks: Sequence[BlockRecord],
    slower: Sequence[str],
) -> Certificate:
    part = _part(kind, results)
    known = {(p.op, p.law): p for p in proofs}
    return Certificate(
        kind,
        tuple(levels(track, part, promised, baselines, slower) for track in KINDS[kind]),
        part.backend,
        part.plan,
        tuple(_op(o, part, known) for o in part.ops),
        _unsupported(part),
        part.stages,
        _engines(part.stages),
        part.failures,
        part.expected,
        tuple(baselines),
        promised,
        tuple(b for b in blocks if _wanted_block(kind, b)),
        installed(),
        slower=tuple(slower),
    )


def _unsupported(part: Results) -> tuple[Unsupported, ...]:
    ids = {o.id for o in part.refused}
    return tuple(
        Unsupported(o.id, o.refusal, not may_be_refused(o.id, o.category, ids)) for o in part.refused
    )


def _part(kind: str, results: Results) -> Results:
    """The results that a kind of certificate is about: strict ones, or those within a tolerance."""

    def wanted(track: str) -> bool:
        return track in KINDS[kind]

    stages: list[StageResult] = []
    for stage in results.stages:
        kept = tuple(s for s in stage.subjects if wanted(subject_track(s.subject)))
        dropped = sum(s.cases for s in stage.subjects) - sum(s.cases for s in kept)
        if kept or kind == STRICT:
            stages.append(StageResult(stage.stage, stage.planned - dropped, kept))
    failures = tuple(f for f in results.failures if wanted(failure_track(f)))
    return replace(
        results,
        ops=tuple(o for o in results.ops if wanted(op_track(o.id))),
        stages=tuple(stages),
        failures=failures,
    )


def failure_track(failure: Failure) -> str:
    """The track of an op's failure, or of the subject of a stage's."""
    parts = failure.case.split("/")
    if failure.stage == "golden":
        from vyre.conform.verify.golden import row_named, subject_of

        row = row_named(failure.case.partition("/")[2])
        if row is not None:
            return subject_track(subject_of(row))
    return subject_track(failure.op or (parts[1] if len(parts) > 2 else failure.case))


def _wanted_block(kind: str, block: BlockRecord) -> bool:
    op, slash, _ = block.unit.partition("/")
    if not slash:
        return block.unit == "golden" or (block.unit == APPROXIMATE) == (kind == APPROXIMATE)
    return op_track(op) in KINDS[kind]


def _op(op: OpResult, part: Results, proofs: dict[tuple[str, str], LawProof]) -> CertifiedOp:
    return CertifiedOp(
        op.id, op.version, op.category, op_track(op.id), op.status, op.refusal,
        op.lowering, op.instruction, op.parity, op.evidence, _density(op.density), op.coverage,
        tuple(_law(op, law, proofs) for law in op.laws),
    )  # fmt: skip


def _law(op: OpResult, law: LawResult, proofs: dict[tuple[str, str], LawProof]) -> CertifiedLaw:
    proof = proofs.get((op.id, law.law)) or LawProof(op.id, law.law, "unverified", "", "")
    return CertifiedLaw(
        law.law, law.role, law.equations, law.counts, law.evidence, law.witnessed, _density(law.density),
        proof.evidence, proof.solver, proof.options,
    )  # fmt: skip


def _density(value: float | None) -> str:
    """Three digits as text: the last bits of a logarithm differ between machines."""
    return "" if value is None else f"{value:.2e}"


def _engines(stages: Sequence[StageResult]) -> tuple[CertifiedEngine, ...]:
    found: dict[str, list[InvariantCount]] = {}
    for stage in stages:
        for s in stage.subjects if stage.stage == "engines" else ():
            engine, _, invariant = s.subject.rpartition("/")
            found.setdefault(engine, []).append(InvariantCount(invariant, s.cases, s.failed, s.refused))
    return tuple(CertifiedEngine(engine, tuple(counts)) for engine, counts in found.items())


def installed() -> str:
    """The version of vyre that is running."""
    try:
        return version("vyre")
    except PackageNotFoundError:
        return "unknown"


def _no_certificate(why: str) -> CertificateError:
    return CertificateError(f"this is no certificate: {why}.", fix="pass the file that `vyre certify` wrote.")
