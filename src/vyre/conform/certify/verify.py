"""Checking a certificate without running anything.

    report = verify(data, trusted=load_public("vyre.pub"))
    report.ok, report.findings            one finding per check, in the order in which they were made

Structure, digests, signature, levels, the registry and the plan: the first thing that is wrong ends the
structural checks, as nothing behind it can be believed; the others are all made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vyre.conform import counts, fold
from vyre.conform.certify.certificate import installed
from vyre.conform.certify.merge import units_of
from vyre.conform.certify.promises import changes, registry_now
from vyre.conform.certify.statement import FETCH_AGAIN, read
from vyre.conform.certify.track import APPROXIMATE, KINDS, STRICT, not_approximate, op_track
from vyre.conform.plan import registry_digest
from vyre.conform.units import ALL_STAGES, OPS
from vyre.errors import CertificateError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.certify.certificate import Certificate
    from vyre.conform.certify.promises import Promises
    from vyre.conform.certify.statement import Document
    from vyre.conform.results import KindCount, OpResult

GOOD, WRONG, OPEN = "good", "wrong", "open"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: `status` is `good`, `wrong`, or `open` for what nobody asked or could be told here."""

    check: str
    status: str
    text: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All findings; `document` is None where the file could not be believed at all."""

    document: Document | None
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        return all(f.status != WRONG for f in self.findings)

    def also(self, finding: Finding) -> Report:
        return replace(self, findings=(*self.findings, finding))


def verify(data: bytes, *, trusted: str | None = None, registry: Promises | None = None) -> Report:
    """Every check that needs no backend. `trusted` is the key id that must have signed."""
    try:
        document = read(data)
    except CertificateError as error:
        place = f"{error.place}: " if error.place else ""
        return Report(None, (Finding("structure", WRONG, place + error.message, error.fix),))
    certificate = document.certificate
    return Report(
        document,
        (
            Finding("structure", GOOD, f"canonical, every section digest holds, sha256 {document.digest}"),
            _signature(document, trusted),
            _levels(certificate),
            _registry(certificate, registry or registry_now()),
            _plan(certificate, registry or registry_now()),
        ),
    )


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
    return Finding("signature", OPEN, "not signed: anybody may have written it")


def _levels(certificate: Certificate) -> Finding:
    """The contents must support every claim: levels, evidence, densities, unsupported ops, engines."""
    unsound = _unsound(certificate)
    if unsound:
        return Finding("levels", WRONG, f"{unsound}.", FETCH_AGAIN)
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


def _comparable(certificate: Certificate, section: str) -> object:
    """A section without what another version may word otherwise: the reasons for which levels are denied."""
    if section != "tracks" or certificate.vyre == installed():
        return getattr(certificate, section)
    return [(t.track, t.highest, [(v.level, v.granted) for v in t.levels]) for t in certificate.tracks]


def _unsound(certificate: Certificate) -> str:
    """Counts that no run can give, and statuses that contradict them."""
    moved = not_approximate(certificate.backend.approximate)
    if moved:
        return f"its backend declares {moved} approximate, which is not approximate by name"
    strange = [name for name in certificate.slower if name not in certificate.baselines]
    if strange:
        return f"it calls {strange[0]} slower, which is none of its baselines"
    for op in certificate.ops:
        for c in (*op.parity, *(c for law in op.laws for c in law.counts)):
            if c.failed < 0 or not 0 <= c.cases <= c.planned:
                return f"{op.id} has impossible counts of {c.kind} cases"
        failed = sum(c.failed for c in (*op.parity, *(c for law in op.laws for c in law.counts)))
        listed = [f for f in certificate.failures if f.op == op.id and f.kind != "coverage"]
        if op.status != "failed" and (failed or listed):
            return f"{op.id} is called {op.status} and has failures"
        if failed and not listed:
            return f"{op.id} failed in {failed} cases and no failure is listed"
    for stage in certificate.stages:
        listed = sum(f.stage == stage.stage for f in certificate.failures)
        if listed != stage.failed:
            return f"the stage {stage.stage} counts {stage.failed} failures and lists {listed}"
    return ""


def _registry(certificate: Certificate, now: Promises) -> Finding:
    found = changes(certificate.registry, now)
    if not found:
        return Finding(
            "registry", GOOD, f"the ops promise today what they promised then ({len(now.ops)} ops)"
        )
    shown = "; ".join(found[:8]) + (f"; and {len(found) - 8} more" if len(found) > 8 else "")
    return Finding(
        "registry", WRONG, f"it was made with another registry: {shown}.",
        f"verify it with vyre {certificate.vyre}, or certify the backend anew.",
    )  # fmt: skip


def _plan(certificate: Certificate, now: Promises) -> Finding:
    """What was planned is what this plan means: no op, law, kind of cases or part of a stage is left out."""
    if changes(certificate.registry, now):
        return Finding("plan", OPEN, "cannot be compared with another registry")
    wrong = _misplanned(certificate, {op.id for op in now.ops})
    if wrong and certificate.vyre != installed():
        return Finding("plan", OPEN, f"cannot be recounted: vyre {certificate.vyre} may have had other cases")
    if wrong:
        return Finding("plan", WRONG, f"{wrong}.", FETCH_AGAIN)
    shown = counts.cases(certificate.results).text("case")
    return Finding(
        "plan", GOOD, f"every case of the plan is accounted for: {shown}, seed {certificate.plan.seed}"
    )


def _misplanned(certificate: Certificate, known: set[str]) -> str:
    plan = certificate.plan
    strange = [op for op in plan.ops if op not in known] + [s for s in plan.stages if s not in ALL_STAGES]
    if strange:
        return f"its plan names {strange[0]}, which is not there"
    if plan.registry != registry_digest(plan.ops):
        return "its plan is of another registry"
    found = units_of(plan)
    tracks = KINDS[certificate.kind]
    meant = [op for op in plan.ops if OPS in plan.stages and op_track(op) in tracks]
    if [op.id for op in certificate.ops] != meant:
        return "it is about other ops than its plan"
    for op in certificate.results.ops:
        if _shape(op) != _shape(fold.op_result(op.id, found, fold.tally(op.id, found, (), {}), {})):
            return f"{op.id} has other cases or laws than its plan"
    counts = {u.name: u.count for u in found if u.kind is None}
    if certificate.kind == STRICT and list(counts) != [s.stage for s in certificate.stages]:
        return "it has other stages than its plan"
    absent = [s.stage for s in certificate.stages if s.stage not in counts]
    if absent:
        return f"it has the stage {absent[0]}, which its plan does not have"
    for stage in certificate.stages:
        apart = {"golden": _approximate_rows(), APPROXIMATE: counts.get(APPROXIMATE, 0)}
        least = counts[stage.stage] - apart.get(stage.stage, 0)
        if certificate.kind == STRICT and not least <= stage.planned <= counts[stage.stage]:
            return f"the stage {stage.stage} has other cases than its plan"
    return ""


def _shape(op: OpResult) -> object:
    """An op without what a run finds out: its kinds of cases, and its laws with theirs."""

    def planned(counts: Sequence[KindCount]) -> list[tuple[str, int]]:
        return [(c.kind, c.planned) for c in counts]

    laws = [(law.law, law.role, law.equations, planned(law.counts)) for law in op.laws]
    return op.version, op.category, planned(op.parity), laws


def _approximate_rows() -> int:
    from vyre.conform.golden import load_rows
    from vyre.conform.verify.golden import track_of

    return sum(track_of(row) == APPROXIMATE for row in load_rows())
