"""What a certificate holds: a run's results, what they mean, and what they rest on.

    made = certificates(results, promised=registry_now(), proofs=law_proofs(...))   one, or two with L1a
    made[0].track("integer").highest          "L2"
    made[0].to_json()                         canonical bytes, reproducible: no clock, host, path or timing
    CertificateContents.from_json(data)               the same value back
    made[0].results                           the results inside it

What follows from the rest (evidence, densities, levels, settings, what is unsupported) is written out for
readers, and `derived()` makes it again from the rest, so that a certificate cannot claim more than it
contains. One of schema 1 is read with what it did not say as unknown, and judged by the rules of its time.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

from vyre.conform.certify import level, schema1, schema1_levels
from vyre.conform.certify.granted import TrackLevels  # noqa: TC001 - read back by its annotations
from vyre.conform.certify.promises import Promises  # noqa: TC001 - read back by its annotations
from vyre.conform.certify.proofs import LawProof
from vyre.conform.certify.settings import settings
from vyre.conform.process.provenance import code_digest, installed
from vyre.conform.records.blocks import BlockRecord  # noqa: TC001 - read back by its annotations
from vyre.conform.records.documents import Among, FieldError, Omitted, canonical, decode, encode, parse
from vyre.conform.records.envelope import Envelope  # noqa: TC001 - read back by its annotations
from vyre.conform.records.evidence import KindCount  # noqa: TC001 - read back by its annotations
from vyre.conform.records.filled import filled
from vyre.conform.records.results import (
    BackendFacts,
    Conditions,
    Coverage,
    ExpectedFailure,
    Failure,
    LawResult,
    OpResult,
    Results,
    RunPlan,
    Soak,
    StageResult,
    Status,
)
from vyre.conform.spec import track
from vyre.conform.spec.track import APPROXIMATE, KINDS, STRICT
from vyre.errors import CertificateError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SCHEMA = "vyre.certificate/3"
SECOND = "vyre.certificate/2"
"""Without an envelope, and granted levels by the rules that did not ask for one."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How a schema grants levels, and which track it puts ops and subjects of stages on."""

    levels: Callable[..., TrackLevels]
    op_track: Callable[..., str]
    subject_track: Callable[..., str]
    may_be_refused: Callable[..., bool]


def _levels_of_schema1(
    track: str, results: Results, promised: Promises, baselines: Sequence[str], slower: Sequence[str]
) -> TrackLevels:
    """Schema 1 did not compare baselines, so nothing was `slower`."""
    return schema1_levels.levels(track, results, promised, baselines)


RULES = {
    SCHEMA: Rules(level.levels, track.op_track, track.subject_track, track.may_be_refused),
    SECOND: Rules(
        partial(level.levels, shapes=False), track.op_track, track.subject_track, track.may_be_refused
    ),
    schema1.SCHEMA: Rules(
        _levels_of_schema1, schema1.op_track, schema1.subject_track, schema1.may_be_refused
    ),
}


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
class CertificateContents:
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
    code: str = ""
    """The digest of the code of vyre that ran it and made this."""
    conditions: Conditions = field(default_factory=Conditions)
    settings: tuple[str, ...] = ()
    """What was done otherwise than in a full run."""
    schema: str = SCHEMA
    slower: tuple[str, ...] = ()
    """Of the baselines, those that three measurements found slower than a baseline that was given."""
    soak: Annotated[tuple[Soak, ...] | None, Omitted()] = None
    """What was run beyond the plan, with other seeds."""
    envelope: Annotated[Envelope | None, Omitted()] = None
    """Which shapes of programs and dispatches the certificate claims."""

    @property
    def rules(self) -> Rules:
        return RULES[self.schema]

    @property
    def first_schema(self) -> bool:
        return self.schema == schema1.SCHEMA

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
        return Results(
            self.plan, self.backend, ops, self.stages, self.failures, self.expected, self.conditions,
            soak=self.soak, envelope=self.envelope,
        )  # fmt: skip

    @property
    def proofs(self) -> tuple[LawProof, ...]:
        return tuple(
            LawProof(o.id, law.law, law.proof, law.solver, law.options) for o in self.ops for law in o.laws
        )

    def derived(self) -> CertificateContents:
        """The certificate that these contents support: the same one, unless it was made by hand."""
        made = _certificate(
            self.kind, self.results, self.registry, self.proofs, self.baselines, self.blocks, self.slower,
            self.schema,
        )  # fmt: skip
        return replace(made, vyre=self.vyre, code=self.code)

    def to_json(self) -> bytes:
        return canonical(encode(self))

    @classmethod
    def from_json(cls, data: bytes | str) -> CertificateContents:
        try:
            return cls.from_record(parse(data))
        except FieldError as error:
            raise _no_certificate(str(error)) from None

    @classmethod
    def from_record(cls, record: Any) -> CertificateContents:
        schema = cast("dict[str, Any]", record).get("schema") if isinstance(record, dict) else None
        if not isinstance(schema, str) or schema not in RULES:
            raise CertificateError(
                f"a certificate of schema {schema!r}, not {SCHEMA!r}.",
                fix="read it with the version of vyre that wrote it.",
            )
        try:
            whole = cast("dict[str, Any]", record)
            _none_of(whole, _LATER.get(schema, ()), schema)
            return decode(cls, filled(cls, whole) if schema == schema1.SCHEMA else whole)
        except FieldError as error:
            raise _no_certificate(str(error)) from None


_LATER = {
    schema1.SCHEMA: ("code", "conditions", "envelope", "settings", "slower", "soak"),
    SECOND: ("envelope", "soak"),
}
"""Sections that a schema does not have."""


def _none_of(record: dict[str, Any], sections: Sequence[str], schema: str) -> None:
    later = [name for name in sections if name in record]
    if later:
        raise FieldError(later[0], f"{schema} has no such section")


def certificates(
    results: Results,
    *,
    promised: Promises,
    proofs: Sequence[LawProof] = (),
    baselines: Sequence[str] = (),
    slower: Sequence[str] = (),
    blocks: Sequence[BlockRecord] = (),
) -> tuple[CertificateContents, ...]:
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
    schema: str = SCHEMA,
) -> CertificateContents:
    rules = RULES[schema]
    part = _part(kind, results, rules)
    known = {(p.op, p.law): p for p in proofs}
    return CertificateContents(
        kind,
        tuple(rules.levels(track, part, promised, baselines, slower) for track in KINDS[kind]),
        part.backend,
        part.plan,
        tuple(_op(o, part, known, rules) for o in part.ops),
        _unsupported(part, rules),
        part.stages,
        _engines(part.stages),
        part.failures,
        part.expected,
        tuple(baselines),
        promised,
        tuple(b for b in blocks if _wanted_block(kind, b, part, rules)),
        installed(),
        code_digest(),
        part.conditions,
        () if schema == schema1.SCHEMA else settings(part.plan, part.conditions, promised),
        schema,
        tuple(slower),
        part.soak,
        part.envelope,
    )


def _unsupported(part: Results, rules: Rules) -> tuple[Unsupported, ...]:
    ids = {o.id for o in part.refused}
    return tuple(
        Unsupported(o.id, o.refusal, not rules.may_be_refused(o.id, o.category, ids)) for o in part.refused
    )


def _part(kind: str, results: Results, rules: Rules) -> Results:
    """The results that a kind of certificate is about: strict ones, or those within a tolerance."""

    def wanted(track: str) -> bool:
        return track in KINDS[kind]

    approximate = results.backend.approximate
    stages: list[StageResult] = []
    for stage in results.stages:
        kept = tuple(s for s in stage.subjects if wanted(rules.subject_track(s.subject, approximate)))
        dropped = sum(s.cases for s in stage.subjects) - sum(s.cases for s in kept)
        if kept or kind == STRICT:
            stages.append(StageResult(stage.stage, stage.planned - dropped, kept))
    failures = tuple(f for f in results.failures if wanted(failure_track(f, approximate, rules)))
    return replace(
        results,
        ops=tuple(o for o in results.ops if wanted(rules.op_track(o.id, approximate))),
        stages=tuple(stages),
        failures=failures,
        soak=results.soak if kind == STRICT else None,
        envelope=results.envelope if kind == STRICT else None,
    )


def failure_track(failure: Failure, approximate: Sequence[str], rules: Rules) -> str:
    """The track of an op's failure, or of the subject of a stage's."""
    parts = failure.case.split("/")
    if failure.stage == "golden":
        from vyre.conform.verify.golden.stage import row_named, subject_of

        row = row_named(failure.case.partition("/")[2])
        if row is not None:
            return rules.subject_track(subject_of(row), approximate)
    return rules.subject_track(failure.op or (parts[1] if len(parts) > 2 else failure.case), approximate)


def _wanted_block(kind: str, block: BlockRecord, part: Results, rules: Rules) -> bool:
    op, slash, _ = block.unit.partition("/")
    if not slash:
        return block.unit == "golden" or (block.unit == APPROXIMATE) == (kind == APPROXIMATE)
    return rules.op_track(op, part.backend.approximate) in KINDS[kind]


def _op(op: OpResult, part: Results, proofs: dict[tuple[str, str], LawProof], rules: Rules) -> CertifiedOp:
    return CertifiedOp(
        op.id, op.version, op.category, rules.op_track(op.id, part.backend.approximate), op.status,
        op.refusal, op.lowering, op.instruction, op.parity, op.evidence, _density(op.density), op.coverage,
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


def _no_certificate(why: str) -> CertificateError:
    return CertificateError(
        f"this is not a certificate: {why}.", fix="pass the file that `vyre certify` wrote."
    )
