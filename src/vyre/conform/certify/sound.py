"""Contradictions inside a certificate: counts that no run gives, and claims that other sections deny.

That every field has a type and range of its own is seen to where it is read (`conform/records/documents.py`).
Every figure that follows from another is worked out again: failing cases from failures, statuses from counts,
coverage failures from coverage, a shard's results from the records of its blocks. A forger who changes one of
them must change all, and even then only a signature or a second run can tell.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, cast

from vyre.conform.algebra.evidence import EvidenceKind
from vyre.conform.certify.promises import promises
from vyre.conform.process.provenance import APART, IN_PROCESS
from vyre.conform.records.blocks import GroupFacts
from vyre.conform.records.results import covers
from vyre.conform.spec.levels import SHAPES
from vyre.conform.spec.track import APPROXIMATE, KINDS, STRICT, not_approximate
from vyre.conform.suite import fold
from vyre.conform.suite.block_records import misrecorded
from vyre.conform.suite.units import ALL_STAGES, OPS, blocks
from vyre.conform.verify.control import NOT_EXPOSED, NOT_SEEN, SEEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vyre.conform.certify.certificate import CertificateContents, CertifiedOp
    from vyre.conform.records.blocks import OpBlock, StageBlock
    from vyre.conform.records.evidence import KindCount
    from vyre.conform.records.results import Failure, OpResult, RunPlan, Soak, StageResult
    from vyre.conform.suite.units import Unit

GOLDEN = "golden"
_COUNTED = ("value", "law", "unstable")
_ENDED = ("crash", "hang", "error")
_MOST_BLOCKS = 1 << 22
"""Blocks of a plan that are gone through: 10^13 cases."""
_PROOFS = {kind.value for kind in EvidenceKind}


def unsound(certificate: CertificateContents) -> str:
    """The first contradiction, as words; empty where there is none."""
    return next(_contradictions(certificate), "")


def _contradictions(certificate: CertificateContents) -> Iterator[str]:
    yield from _place(certificate)
    ops = Counter(op.id for op in certificate.ops)
    yield from (f"{op} is listed twice" for op, n in ops.items() if n > 1)
    known = {OPS, *(s.stage for s in certificate.stages)}
    for failure in certificate.failures:
        if failure.stage not in known or (failure.stage == OPS and failure.op not in ops):
            yield f"the failure {failure.case} is of nothing that was run"
        if (failure.backend, failure.seed) != (certificate.plan.backend, certificate.plan.seed):
            yield f"the failure {failure.case} is of another run"
    for op in certificate.ops:
        yield from _op(op, certificate)
    for stage in certificate.stages:
        yield from _stage(stage, certificate.failures)
    for soak in certificate.soak or ():
        yield from _soak(soak, certificate)
    yield from _enveloped(certificate)
    for e in certificate.expected:
        if e.failed != any(covers(e.pattern, f) for f in certificate.failures):
            yield f"the expected failure {e.pattern} is called {'failed' if e.failed else 'passed'} wrongly"


def impossible(plan: RunPlan) -> str:
    """What is wrong with a plan that no run has; empty where nothing is."""
    if plan.stages != tuple(s for s in ALL_STAGES if s in plan.stages):
        return "the stages of its plan are not in the order of a run"
    if len(set(plan.ops)) != len(plan.ops) or len(set(plan.regressions)) != len(plan.regressions):
        return "its plan lists something twice"
    return ""


def _place(certificate: CertificateContents) -> Iterator[str]:
    from vyre.conform.certify.annex import BASELINES

    conditions, schema = certificate.conditions, 1 if certificate.first_schema else 2
    if schema == 2:
        waits = conditions.timeout_ms != 0
        known = conditions.isolation in (APART, IN_PROCESS)
        if not known or waits != (conditions.isolation == APART):
            yield "it does not say how the backend was held"
        if certificate.code != "unknown" and not re.fullmatch(r"[0-9a-f]{64}", certificate.code):
            yield "it does not say which code ran it"
        if strange := not_approximate(certificate.backend.approximate):
            yield f"its backend declares {strange} approximate, which is not approximate by name"
    if certificate.plan.backend != certificate.backend.name:
        yield f"its plan is of the backend {certificate.plan.backend!r}"
    names = [canary.name for canary in certificate.backend.canaries]
    if len(set(names)) != len(names):
        yield "a canary is listed twice"
    if [b for b in BASELINES if b in certificate.baselines] != list(certificate.baselines):
        yield "it names performance baselines that are not measured"
    if strange := [name for name in certificate.slower if name not in certificate.baselines]:
        yield f"it calls {strange[0]} slower, which is not one of its baselines"
    if promises(certificate.registry.ops, schema=schema).digest != certificate.registry.digest:
        yield "the digest of its registry is of another one"
    if certificate.blocks and certificate.plan.shard == (1, 1):
        yield "it is of a whole run and holds blocks of a shard"


def _op(op: CertifiedOp, certificate: CertificateContents) -> Iterator[str]:
    mine = [f for f in certificate.failures if f.stage == OPS and f.op == op.id]
    ended = any(f.kind in _ENDED for f in mine)
    rows = [("", 1, op.parity), *((law.law, len(law.equations), law.counts) for law in op.laws)]
    yield from _counts(op, rows, ended=ended, whole=certificate.plan.whole)
    listed = [f for f in mine if f.kind != "coverage"]
    failed = sum(c.failed for _, _, counts in rows for c in counts)
    if op.status != "failed" and (failed or listed):
        yield f"{op.id} is called {op.status} and has failures"
    if op.status == "failed" and not listed:
        yield f"{op.id} is called failed and no failure is listed"
    told = op.status in ("passed", "failed") and (op.instruction, op.lowering)
    if op.instruction not in ("", SEEN, NOT_SEEN, NOT_EXPOSED) or (told and "" in told):
        yield f"the instruction of {op.id} is called {op.instruction!r}"
    for law in op.laws:
        if law.proof not in _PROOFS or (law.proof == "proved" and not law.solver):
            yield f"the proof of {law.law} of {op.id} is called {law.proof!r}, by {law.solver or 'nobody'}"
    if (op.status == "refused") != bool(op.refusal):
        yield f"{op.id} is called {op.status} and {'has' if op.refusal else 'has no'} reason for a refusal"
    ran = any(c.cases for _, _, counts in rows for c in counts)
    if ran and op.status == "not run":
        yield f"{op.id} is called not run and has cases"
    if not ran and op.status == "passed":
        yield f"{op.id} is called passed and has no case"
    for name, _, counts in rows:
        yield from _listed(op.id, name, counts, mine, ranges=not certificate.first_schema)
    if certificate.plan.whole and op.status in ("passed", "failed") and not ended:
        told = sorted(f.inputs[0] for f in mine if f.kind == "coverage" and f.inputs)
        if told != sorted(op.coverage.missing):
            yield f"the coverage of {op.id} is not what its failures say"


def _counts(
    op: CertifiedOp, rows: Sequence[tuple[str, int, Sequence[KindCount]]], *, ended: bool, whole: bool
) -> Iterator[str]:
    """A check of an op that ended well has all its cases, or none where it was refused."""
    for name, equations, counts in rows:
        for c in counts:
            many = c.failed > equations * c.cases and not ended
            if c.cases > c.planned or many:
                yield f"{op.id} has impossible counts of {c.kind} cases"
        if len({c.kind for c in counts}) != len(counts):
            yield f"{op.id} counts a kind of cases twice{f' for {name}' if name else ''}"
        partly = len({c.complete for c in counts}) > 1 or any(c.cases not in (0, c.planned) for c in counts)
        if whole and not ended and op.status in ("passed", "failed") and partly:
            yield f"{op.id} did not end early and was not run on all its cases"


def _listed(
    op: str, law: str, counts: Sequence[KindCount], mine: Sequence[Failure], *, ranges: bool
) -> Iterator[str]:
    """The failures of a check say how many cases failed, and where all of them are."""
    prefix = f"{op}/{law}/" if law else f"{op}/"
    planned = {c.kind: c.planned for c in counts}
    found: list[Failure] = []
    for failure in mine:
        kind, _, number = failure.case.removeprefix(prefix).partition("/")
        if failure.kind in _COUNTED and failure.case.startswith(prefix) and kind in planned:
            found += [failure] if number.isdecimal() else []
    failed = sum(c.failed for c in counts)
    if sum(f.count for f in found) != failed:
        yield f"{op} counts {failed} failing cases of {law or 'parity'} and its failures say otherwise"
    for c in counts if ranges else ():
        rows = [r for f in found for r in f.failing if r.kind == c.kind]
        outside = any(not 0 <= r.first <= r.last < c.planned or r.count > r.last + 1 - r.first for r in rows)
        if sum(r.count for r in rows) != c.failed or outside or any(r.count < 1 for r in rows):
            yield f"{op} does not say where all failing {c.kind} cases of {law or 'parity'} are"


def _stage(stage: StageResult, failures: Sequence[Failure]) -> Iterator[str]:
    if len({s.subject for s in stage.subjects}) != len(stage.subjects):
        yield f"the stage {stage.stage} counts a subject twice"
    if stage.cases > stage.planned:
        yield f"the stage {stage.stage} has more cases than were planned"
    listed = sum(f.stage == stage.stage for f in failures)
    if listed != stage.failed:
        yield f"the stage {stage.stage} counts {stage.failed} failures and lists {listed}"


def _enveloped(certificate: CertificateContents) -> Iterator[str]:
    """The envelope is of the rows of the stage `shapes`, and of a whole run."""
    stage = next((s for s in certificate.stages if s.stage == SHAPES), None)
    envelope = certificate.envelope
    if envelope is None:
        if stage is not None and certificate.kind == STRICT and certificate.plan.whole:
            yield "it ran the stage shapes and has no envelope"
        return
    if stage is None or not certificate.plan.whole:
        yield "it has an envelope and did not run the stage shapes to its end"
        return
    told = (envelope.rows, len(envelope.failed), len(envelope.refused))
    if told != (stage.cases, stage.failed, stage.refused):
        yield "its envelope is not that of its stage shapes"
    names = {f.name for f in envelope.features}
    if len(envelope.pairs) != len(envelope.features) * (len(envelope.features) - 1) // 2:
        yield "its envelope has other pairs than its features"
    elif (
        len(names) != len(envelope.features)
        or not {n for m in envelope.missing for n in (m.first, m.second)} <= names
    ):
        yield "its envelope lacks a feature, or has it twice"
    elif any(envelope.ran(m.first, m.level, m.second, level) for m in envelope.missing for level in m.levels):
        yield "a pair of its envelope is claimed and missing"


def _soak(soak: Soak, certificate: CertificateContents) -> Iterator[str]:
    """What was run beyond the plan: under seeds of its own, and each failure is one that is counted."""
    if not soak.seeds or not soak.step:
        yield "it says that it went on beyond its plan, and under no seed"
    for stage in soak.stages:
        yield from _stage(stage, soak.failures)
    known = {s.stage for s in soak.stages}
    for failure in soak.failures:
        turn, rest = divmod((failure.seed - soak.first) % (1 << 64), max(1, soak.step))
        if rest or turn >= soak.seeds or failure.stage not in known:
            yield f"the failure {failure.case} is of nothing that was run beyond the plan"
        if failure.backend != certificate.plan.backend:
            yield f"the failure {failure.case} is of another run"


def misstaged(certificate: CertificateContents, found: Sequence[Unit]) -> str:
    """What the stages of a whole run cannot have been about: a case has its subject before it is run."""
    if not certificate.plan.whole:
        return ""
    tracks, approximate = KINDS[certificate.kind], certificate.backend.approximate
    stages = {u.name: u for u in found if u.kind is None}
    for stage in certificate.stages:
        unit = stages[stage.stage]
        subjects = _subjects(unit)
        if subjects is None:
            continue
        track = certificate.rules.subject_track
        meant = Counter(s for s in subjects if track(s, approximate) in tracks)
        counted = {s.subject: s.cases for s in stage.subjects}
        if counted != dict(meant) or stage.planned != sum(meant.values()):
            return f"the stage {stage.stage} is about other cases than its plan"
        names = [f.case for f in certificate.failures if f.stage == stage.stage]
        numbers = [name.rpartition("/")[2] for name in names] if unit.name != GOLDEN else []
        if any(not n.isdecimal() or int(n) >= len(subjects) for n in numbers) or len(set(names)) < len(names):
            return f"a failure of the stage {stage.stage} is of no case of it"
        failed = Counter(subjects[int(n)] for n in numbers)
        if numbers and failed != Counter({s.subject: s.failed for s in stage.subjects if s.failed}):
            return f"the failures of the stage {stage.stage} are not those of its subjects"
    return ""


def _subjects(unit: Unit) -> list[str] | None:
    """The subject of every case of a stage; None where only a run can tell."""
    if unit.name == GOLDEN:
        from vyre.conform.oracle.golden import load_rows
        from vyre.conform.verify.golden.stage import subject_of

        return [subject_of(row) for row in load_rows()]
    subject = cast("Callable[[int], str] | None", getattr(unit.stage, "subject", None))
    return None if subject is None else [subject(k) for k in range(unit.count)]


def misfolded(certificate: CertificateContents, found: Sequence[Unit]) -> str:
    """What a shard's blocks do not add up to; `found` are the units of its plan."""
    if certificate.plan.shard == (1, 1):
        return ""
    if sum(-(-u.count // u.block) for u in found) > _MOST_BLOCKS:
        return "its plan has more blocks than any run"
    names = {u.name: n for n, u in enumerate(found)}
    rules, tracks = certificate.rules, KINDS[certificate.kind]
    mine = [b for b in blocks(certificate.plan, found) if _of_kind(certificate, found[b.unit])]
    records: dict[tuple[int, int], StageBlock | OpBlock] = {}
    for block in certificate.blocks:
        place = (names.get(block.unit, -1), block.number)
        if place in records:
            return f"block {block.number} of {block.unit} is there twice"
        records[place] = block.record
    if set(records) != {(b.unit, b.number) for b in mine}:
        return "it holds other blocks than its plan"
    for block in mine:
        wrong = misrecorded(found[block.unit], block, records[block.unit, block.number])
        if wrong:
            return f"block {block.number} of {found[block.unit].name} {wrong}"
    for op in certificate.results.ops:
        again = fold.op_result(op.id, found, fold.tally(op.id, found, mine, records), _facts(op))
        if again != op:
            return f"the blocks of {op.id} do not add up to its results"
    approximate = certificate.backend.approximate
    for stage in certificate.stages:
        number = names[stage.stage]
        again = fold.stage_result(number, found[number], mine, records)
        kept = [s for s in again.subjects if rules.subject_track(s.subject, approximate) in tracks]
        if kept != list(stage.subjects):
            return f"the blocks of the stage {stage.stage} do not add up to its results"
    return ""


def _facts(op: OpResult) -> GroupFacts:
    return GroupFacts(op.lowering, op.instruction)


def belongs(unit: Unit, certificate: CertificateContents) -> bool:
    """Whether a kind of certificate is about a unit: strict and approximate ones share only golden rows."""
    if unit.kind is None:
        alone = (unit.name == APPROXIMATE) == (certificate.kind == APPROXIMATE)
        return certificate.kind in KINDS and (alone or unit.name == "golden")
    return certificate.rules.op_track(unit.group, certificate.backend.approximate) in KINDS[certificate.kind]


def _of_kind(certificate: CertificateContents, unit: Unit) -> bool:
    return belongs(unit, certificate)
