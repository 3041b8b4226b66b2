"""Checking a certificate without running anything.

    found = verify(data, trusted=load_public("vyre.pub"))
    found.ok, found.findings              one finding per check, in the order in which they were made

Structure, digests, signature, levels, the registry, the plan and the settings: the first thing that is wrong
ends the structural checks, as nothing behind it can be believed; the others are all made. A plan that cannot
be accounted for, or was not run to its end, is not a success (`holds`), even where nothing is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vyre.backends.canaries.every import CANARIES
from vyre.conform.certify import schema1
from vyre.conform.certify.finding import GOOD, OPEN, WRONG, Finding
from vyre.conform.certify.merge import units_of
from vyre.conform.certify.promises import changes, registry_now
from vyre.conform.certify.sound import impossible, misfolded, misstaged, unsound
from vyre.conform.certify.statement import FETCH_AGAIN, read
from vyre.conform.process.provenance import code_digest, declared_limits, installed
from vyre.conform.records import counts
from vyre.conform.records.blocks import FAILED, PASSED, REFUSED, GroupFacts
from vyre.conform.shapes.envelope import enveloped
from vyre.conform.spec.track import APPROXIMATE, KINDS, STRICT
from vyre.conform.suite import fold
from vyre.conform.suite.plan import registry_digest
from vyre.conform.suite.units import ALL_STAGES, OPS
from vyre.errors import CertificateError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.certify.certificate import CertificateContents
    from vyre.conform.certify.promises import Promises
    from vyre.conform.certify.statement import Document
    from vyre.conform.records.envelope import Envelope
    from vyre.conform.records.evidence import KindCount
    from vyre.conform.records.results import OpResult

PLAN = "plan"
UNSIGNED = (
    "not signed: anybody may have written it. That its contents agree with each other does not show that the "
    "run took place, on this device or on any; a signature shows who says so, and --rerun repeats a part here"
)


@dataclass(frozen=True, slots=True)
class Verification:
    """All findings; `document` is None where the file could not be believed at all."""

    document: Document | None
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return all(f.status != WRONG for f in self.findings)

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong and every case of the plan is accounted for and was run."""
        return self.ok and all(f.status == GOOD for f in self.findings if f.check == PLAN)

    def also(self, finding: Finding) -> Verification:
        return replace(self, findings=(*self.findings, finding))


def verify(data: bytes, *, trusted: str | None = None, registry: Promises | None = None) -> Verification:
    """Every check that needs no backend. `trusted` is the key id that must have signed."""
    try:
        document = read(data)
    except CertificateError as error:
        place = f"{error.place}: " if error.place else ""
        return Verification(None, (Finding("structure", WRONG, place + error.message, error.fix),))
    return verify_document(document, trusted=trusted, registry=registry)


def verify_document(
    document: Document, *, trusted: str | None = None, registry: Promises | None = None
) -> Verification:
    """The same for a file that could be read, so that its structure is good."""
    certificate = document.certificate
    now = registry or registry_now(1 if certificate.first_schema else 2)
    found = [
        Finding("structure", GOOD, f"canonical, every section digest holds, sha256 {document.digest}"),
        _signature(document, trusted),
        _levels(certificate),
        _registry(certificate, now),
        _plan(certificate, now),
        _settings(certificate),
    ]
    return Verification(document, tuple(found))


def _signature(document: Document, trusted: str | None) -> Finding:
    signers = document.signers
    if trusted is not None:
        if trusted in signers:
            return Finding("signature", GOOD, f"signed by {trusted}")
        what = f"signed by {', '.join(signers)}, not by {trusted}" if signers else "not signed"
        return Finding("signature", WRONG, f"it is {what}.", "ask its source for one signed with that key.")
    if signers:
        return Finding(
            "signature", OPEN, f"good for {', '.join(signers)}; pass --public-key to say whom you trust"
        )
    return Finding("signature", OPEN, UNSIGNED)


def _levels(certificate: CertificateContents) -> Finding:
    """The contents must support every claim: levels, evidence, densities, unsupported ops, engines."""
    contradiction = unsound(certificate)
    if contradiction:
        return Finding("levels", WRONG, f"{contradiction}.", FETCH_AGAIN)
    supported = certificate.derived()
    for claimed, earned in zip(certificate.tracks, supported.tracks, strict=False):
        for mine, theirs in zip(claimed.levels, earned.levels, strict=False):
            if mine.granted and not theirs.granted:
                why = "; ".join(theirs.reasons)
                return Finding(
                    "levels", WRONG, f"it claims {mine.level}, which its contents do not support: {why}.",
                    FETCH_AGAIN,
                )  # fmt: skip
    differing = [
        name
        for name in type(certificate).__slots__
        if _comparable(certificate, name) != _comparable(supported, name)
    ]
    if differing:
        return Finding(
            "levels", WRONG, f"the section {differing[0]} does not follow from the rest.", FETCH_AGAIN
        )
    earned = ", ".join(f"{t.track} {t.highest or 'none'}" for t in certificate.tracks)
    return Finding("levels", GOOD, f"the contents support what is claimed: {earned}")


def _comparable(certificate: CertificateContents, section: str) -> object:
    """A section without what another version may word otherwise: the reasons for which levels are denied."""
    if section != "tracks" or (_same_code(certificate) and not certificate.first_schema):
        return getattr(certificate, section)
    return [(t.track, t.highest, [(v.level, v.granted) for v in t.levels]) for t in certificate.tracks]


def _same_code(certificate: CertificateContents) -> bool:
    return (certificate.vyre, certificate.code) == (installed(), code_digest())


def _registry(certificate: CertificateContents, now: Promises) -> Finding:
    found = changes(certificate.registry, now)
    if not found:
        return Finding(
            "registry", GOOD, f"the ops promise today what they promised then ({len(now.ops)} ops)"
        )
    shown = "; ".join(found[:8]) + (f"; and {len(found) - 8} more" if len(found) > 8 else "")
    if certificate.first_schema and certificate.registry.digest == schema1.REGISTRY:
        return Finding("registry", OPEN, f"it is that of its time, since when: {shown}")
    return Finding(
        "registry", WRONG, f"it was made with another registry: {shown}.",
        f"verify it with vyre {certificate.vyre}, or certify the backend anew.",
    )  # fmt: skip


def _plan(certificate: CertificateContents, now: Promises) -> Finding:
    """What was planned is what this plan means: no op, law, kind of cases or part of a stage is left out."""
    then = {op.id: op for op in certificate.registry.ops}
    known = {op.id: op for op in now.ops}
    if any(then.get(op) != known.get(op) for op in certificate.plan.ops):
        return Finding(PLAN, OPEN, "cannot be recounted with another registry", _RECOUNT)
    wrong = _misplanned(certificate, set(known))
    if wrong and not _same_code(certificate):
        return Finding(
            PLAN, OPEN, f"cannot be recounted: other code of vyre ({certificate.vyre}) made it, and {wrong}",
            _RECOUNT,
        )  # fmt: skip
    if wrong:
        return Finding(PLAN, WRONG, f"{wrong}.", FETCH_AGAIN)
    plan = certificate.plan
    if not plan.whole:
        part = f"shard {plan.shard[0]} of {plan.shard[1]}" if plan.shard != (1, 1) else "a part"
        return Finding(PLAN, OPEN, f"not finished: this is {part} of the planned run", _FINISH)
    shown = counts.cases(certificate.results).text("case")
    return Finding(PLAN, GOOD, f"every case of the plan is accounted for: {shown}, seed {plan.seed}")


_RECOUNT = "verify it with the version of vyre that made it."
_FINISH = "merge all shards with `vyre merge`, or run the rest without --skip."


def _settings(certificate: CertificateContents) -> Finding:
    """What was done otherwise than in a full run: no fault, but not to be overlooked."""
    if certificate.first_schema:
        return Finding("settings", OPEN, schema1.UNSAID)
    if certificate.settings:
        return Finding("settings", OPEN, f"not a full run: {'; '.join(certificate.settings)}")
    return Finding("settings", GOOD, "those of a full run, the backend in a process of its own")


def _misplanned(certificate: CertificateContents, known: set[str]) -> str:
    plan = certificate.plan
    strange = [op for op in plan.ops if op not in known] + [s for s in plan.stages if s not in ALL_STAGES]
    if strange:
        return f"its plan names {strange[0]}, which is not there"
    if wrong := impossible(plan):
        return wrong
    asked = [canary.name for canary in certificate.backend.canaries]
    if asked and asked != [canary.name for canary in CANARIES]:
        return "its canaries are not those that a device is asked"
    if plan.registry != registry_digest(plan.ops, schema=1 if certificate.first_schema else 2):
        return "its plan is of another registry"
    found = units_of(plan)
    tracks = KINDS[certificate.kind]
    approximate = certificate.backend.approximate
    track = certificate.rules.op_track
    meant = [op for op in plan.ops if OPS in plan.stages and track(op, approximate) in tracks]
    if [op.id for op in certificate.ops] != meant:
        return "it is about other ops than its plan"
    for op in certificate.results.ops:
        meant_op = fold.op_result(op.id, found, fold.tally(op.id, found, (), {}), GroupFacts())
        if _shape(op) != _shape(replace(meant_op, status=op.status)):
            return f"{op.id} has other cases, laws, classes or boundaries than its plan"
    sizes = {u.name: u.count for u in found if u.kind is None}
    if certificate.kind == STRICT and list(sizes) != [s.stage for s in certificate.stages]:
        return "it has other stages than its plan"
    absent = [s.stage for s in certificate.stages if s.stage not in sizes]
    if absent:
        return f"it has the stage {absent[0]}, which its plan does not have"
    for stage in certificate.stages:
        if stage.stage not in sizes:
            return f"the stage {stage.stage} is not in its plan"
        apart = {"golden": _approximate_rows(), APPROXIMATE: sizes.get(APPROXIMATE, 0)}
        least = sizes[stage.stage] - apart.get(stage.stage, 0)
        if certificate.kind == STRICT and not least <= stage.planned <= sizes[stage.stage]:
            return f"the stage {stage.stage} has other cases than its plan"
        if stage.planned > sizes[stage.stage]:
            return f"the stage {stage.stage} has more cases than its plan"
    if certificate.envelope is not None and certificate.envelope != _envelope_again(
        certificate.envelope, certificate
    ):
        return "its envelope is not that of the rows that passed"
    return misstaged(certificate, found) or misfolded(certificate, found)


def _envelope_again(envelope: Envelope, certificate: CertificateContents) -> Envelope:
    """From the rows that did not pass and the limits that the backend declared."""
    statuses = dict.fromkeys(range(envelope.rows), PASSED)
    statuses |= dict.fromkeys(envelope.failed, FAILED) | dict.fromkeys(envelope.refused, REFUSED)
    return enveloped(statuses, declared_limits(certificate.backend), envelope.lacking)


def _shape(op: OpResult) -> object:
    """An op without what a run finds out: its kinds of cases, and its laws with theirs."""

    def planned(counts: Sequence[KindCount]) -> list[tuple[str, int]]:
        return [(c.kind, c.planned) for c in counts]

    laws = [(law.law, law.role, law.equations, planned(law.counts)) for law in op.laws]
    classes = [c.name for c in op.coverage.classes]
    boundaries = [(b.word, b.declared) for b in op.coverage.boundaries]
    inputs = ((), ()) if op.status == "refused" else (classes, boundaries)
    return op.version, op.category, planned(op.parity), laws, inputs


def _approximate_rows() -> int:
    from vyre.conform.oracle.golden import load_rows
    from vyre.conform.verify.golden.stage import track_of

    return sum(track_of(row) == APPROXIMATE for row in load_rows())
