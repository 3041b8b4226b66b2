"""What the page shows, computed from a certificate: plain values that the template only places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.certify.envelope import heading, table
from vyre.conform.certify.schema1 import UNSAID
from vyre.conform.certify.summary import ADVICE, grouped, verdict
from vyre.conform.process.provenance import APART
from vyre.conform.records import counts
from vyre.conform.records.sides import LAW, sides
from vyre.conform.spec.levels import TITLES
from vyre.report.bits import side_by_side
from vyre.report.charts import Bar, Part, bars, stack

if TYPE_CHECKING:
    from vyre.conform.certify.certificate import CertificateContents, CertifiedOp
    from vyre.conform.certify.envelope import ShapeRow
    from vyre.conform.certify.statement import Document
    from vyre.conform.records.results import Failure, OpResult, StageResult

KINDS = ("u8", "u16", "u8x3", "all", "boundary", "equivalence", "correlated", "adversarial", "random")
SHOWN, SHOWN_LENGTH = 4, 110
"""Reasons that are seen at once, and how much of each."""
_KIND_TITLES = {
    "u8": "all u8",
    "u16": "all u16",
    "u8x3": "all u8 triples",
    "all": "all 2^32",
    "boundary": "boundaries",
    "equivalence": "classes",
    "correlated": "correlated",
    "adversarial": "adversarial",
    "random": "uniform random",
}
_TONES = {"passed": "good", "failed": "bad", "refused": "open", "not run": "open"}


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the matrix: a figure, and how it stands."""

    text: str
    tone: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    op: CertifiedOp
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """A failure with its bits."""

    failure: Failure
    bits: str
    expected: str
    """The reason, where the failure was expected."""
    notes: tuple[str, ...]
    """What is said below its bits: its own note, and what to try first."""


@dataclass(frozen=True, slots=True)
class View:
    document: Document
    certificate: CertificateContents
    titles: dict[str, str]
    verdict: str
    """What the console says first of the cases."""
    totals: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    failures: tuple[tuple[str, tuple[Seen, ...]], ...]
    """By op, or by what a stage tried."""
    charts: tuple[tuple[str, str], ...]
    invariants: tuple[str, ...]
    shapes: tuple[ShapeRow, ...]
    """The envelope, a row for each feature; nothing where there is none."""
    shapes_heading: str
    held: tuple[tuple[str, str], ...]
    """How the backend was held while it ran, and whether it was a full run."""

    @property
    def shown(self) -> int:
        return SHOWN

    @property
    def shown_length(self) -> int:
        return SHOWN_LENGTH

    @staticmethod
    def is_long(reasons: tuple[str, ...]) -> bool:
        """Whether the page shows less than all of the reasons at first."""
        return len(reasons) > SHOWN or any(len(r) > SHOWN_LENGTH for r in reasons)


def view(document: Document) -> View:
    certificate = document.certificate
    shown = [k for k in KINDS if any(c.kind == k for o in certificate.ops for c in o.parity)]
    return View(
        document,
        certificate,
        TITLES,
        verdict(certificate.results),
        _totals(certificate),
        ("status", *(_KIND_TITLES[k] for k in shown), "laws", "instruction", "lowered"),
        tuple(_row(o, r, shown) for o, r in zip(certificate.ops, certificate.results.ops, strict=True)),
        tuple(
            (title, tuple(_seen(f, certificate) for f in found))
            for title, found in grouped(certificate.results.every_failure).items()
        ),
        _charts(certificate),
        tuple(dict.fromkeys(i.invariant for e in certificate.engines for i in e.invariants)),
        tuple(table(envelope)) if (envelope := certificate.envelope) is not None else (),
        heading(envelope) if envelope is not None else "",
        _held(certificate),
    )


def _held(certificate: CertificateContents) -> tuple[tuple[str, str], ...]:
    if certificate.first_schema:
        return (("schema 1", f"{UNSAID}."),)
    conditions = certificate.conditions
    apart = f"in a process of its own, {conditions.timeout_ms / 1000:g} s to wait for an answer"
    inside = "inside the process that judged it, with no limit of time"
    held = apart if conditions.isolation == APART else inside
    full = "otherwise than in a full run" if certificate.settings else "those of a full run"
    limits = ", ".join(certificate.backend.limits) or "none told"
    hardware = ", ".join(certificate.backend.hardware) or "none"
    return (
        ("backend", held),
        ("settings", full),
        *(("beyond the plan", counts.soaked(soak)) for soak in certificate.soak or ()),
        ("limits of the device", limits),
        ("instructions of the device", hardware),
        ("code of vyre", certificate.code),
    )


def _totals(certificate: CertificateContents) -> tuple[tuple[str, str], ...]:
    """What was run, and apart from it what gave no result."""
    results = certificate.results
    statuses = [o.status for o in results.ops]
    proofs = [law.proof for o in certificate.ops for law in o.laws]
    found = {"case": counts.cases(results), "op": counts.ops(results.ops), "law": counts.laws(results.ops)}
    tiles = [
        (f"{_named(number, what)} {word}", f"{number:,}")
        for what, c in found.items()
        for word, number in (("run", c.run), ("refused", c.refused), ("not run", c.not_run))
        if number or (word == "run" and (what == "case" or c.planned))
    ]
    passed, proved = statuses.count("passed"), sum(p.startswith("proved") for p in proofs)
    return (
        *tiles,
        *([("ops passed", f"{passed:,} of {len(statuses):,}")] if statuses else []),
        *([("laws proved", f"{proved:,} of {len(proofs):,}")] if proofs else []),
        (_named(len(results.every_failure), "failure"), f"{len(results.every_failure):,}"),
    )


def _named(number: int, what: str) -> str:
    return what if number == 1 else f"{what}s"


def _row(op: CertifiedOp, result: OpResult, shown: list[str]) -> Row:
    kinds = {c.kind: c for c in op.parity}
    cells = [Cell(op.status, _TONES[op.status], op.refusal)]
    for kind in shown:
        found = kinds.get(kind)
        if found is None or not found.planned:
            cells.append(Cell("", "none"))
        elif found.failed:
            cells.append(Cell(f"{found.failed:,} wrong", "bad", f"of {found.cases:,}"))
        elif not found.cases:
            word = "refused" if op.status == "refused" else "not run"
            cells.append(Cell(word, "open", f"{found.planned:,} planned"))
        elif not found.complete:
            cells.append(Cell(f"{found.cases:,}", "open", f"of {found.planned:,} planned"))
        else:
            cells.append(Cell(f"{found.cases:,}", "good"))
    wrong = sum(law.failed > 0 for law in result.laws)
    laws = counts.laws([result])
    tone = "bad" if wrong else "open" if laws.rest else "good" if op.laws else "none"
    title = laws.text("law") if op.laws else ""
    cells.append(Cell(f"{laws.run - wrong} of {len(op.laws)}" if op.laws else "", tone, title))
    seen = {"seen": "good", "not seen": "bad"}.get(op.instruction, "none")
    cells += [Cell(op.instruction, seen), Cell(op.lowering, "none")]
    return Row(op, tuple(cells))


def _seen(failure: Failure, certificate: CertificateContents) -> Seen:
    from vyre.conform.records.results import covers

    reason = next((e.reason for e in certificate.expected if covers(e.pattern, failure)), "")
    bits = side_by_side(*sides(failure.expected, failure.actual, law=failure.kind == LAW))
    said = f"law: {failure.note}" if failure.kind == LAW and failure.note else failure.note
    notes = tuple(filter(None, (said, ADVICE.get(failure.kind, ""))))
    return Seen(failure, bits, reason, notes)


def _tone(stage: StageResult) -> str:
    return "bad" if stage.failed else "open" if counts.stage(stage).rest else "good"


def _charts(certificate: CertificateContents) -> tuple[tuple[str, str], ...]:
    by_kind: dict[str, int] = dict.fromkeys(KINDS, 0)
    for op in certificate.ops:
        for count in (*op.parity, *(c for law in op.laws for c in law.counts)):
            by_kind[count.kind] = by_kind.get(count.kind, 0) + count.cases
    kinds = [Bar(_KIND_TITLES.get(k, k), n) for k, n in by_kind.items() if n]
    stages = [
        Bar(
            s.stage,
            counts.stage(s).run,
            _tone(s),
            f"{s.stage}, {', '.join(counts.stage(s).rest)}".strip(", "),
        )
        for s in certificate.stages
    ]
    statuses = [o.status for o in certificate.ops]
    parts = [Part(name, statuses.count(name), tone) for name, tone in _TONES.items()]
    classes = [c for o in certificate.ops for c in o.coverage.classes]
    values = [b for o in certificate.ops for b in o.coverage.boundaries]
    declared, missed = sum(b.declared for b in values), sum(len(b.missed) for b in values)
    met = sum(bool(c.cases) for c in classes)
    cover = [
        Part("classes met", met, "good"),
        Part("boundaries met", declared - missed, "plain"),
        Part("classes missed", len(classes) - met, "bad"),
        Part("boundaries missed", missed, "bad"),
    ]
    drawn = [
        ("Ops", statuses, stack(parts, title="Ops by status")),
        ("Cases run by kind (logarithmic)", kinds, bars(kinds, title="Cases by kind", logarithmic=True)),
        ("Cases run by stage (logarithmic)", stages, bars(stages, title="Cases by stage", logarithmic=True)),
        ("Coverage of what is declared", classes or values, stack(cover, title="Coverage")),
    ]
    return tuple((title, chart) for title, shown, chart in drawn if shown)
