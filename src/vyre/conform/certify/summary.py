"""What a run has shown, for people: lines of styled pieces, laid out for a width.

    for line in summary(results, certificates, width=80):
        "".join(text for text, style in line)

Styles are `good`, `bad`, `open`, `dim`, `strong` and nothing; whoever prints decides how they look.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from vyre.conform.certify import envelope
from vyre.conform.records import counts
from vyre.conform.records.evidence import EXHAUSTIVE, witnessed
from vyre.conform.records.sides import EITHER, LAW, order, sides
from vyre.conform.spec.float_names import is_float
from vyre.conform.spec.levels import TITLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.certify.certificate import CertificateContents
    from vyre.conform.certify.finding import Finding
    from vyre.conform.certify.granted import Level, TrackLevels
    from vyre.conform.records.counts import Counts
    from vyre.conform.records.envelope import Envelope
    from vyre.conform.records.results import BackendFacts, Failure, OpResult, Results

Line = list[tuple[str, str]]

_SHOWN = 6
_REASONS = 3
_BITS = 32
_CELL = 40
"""Columns of a feature of the envelope."""
_DOMAINS = ("u32", "u16", "u8")
ADVICE = {"hang": "a device that is only slow needs more time: --timeout SECONDS.", LAW: EITHER}
"""By the kind of a failure: what a reader may try first."""
_NAME = re.compile(r"(?:at most |below )?0x([0-9A-F]+)")
_LABEL = 8
_LABEL_OF_SIDES = 10


def summary(results: Results, certificates: Sequence[CertificateContents], *, width: int = 80) -> list[Line]:
    """Levels at a glance, a table of what was run, then failures, expected ones, and what was refused."""
    lines = [*heading(results.backend, width=width), []]
    for certificate in certificates:
        for track in certificate.tracks:
            lines += track_lines(track, width=width)
    lines += [[], *_table(results), *_stages(results, width)]
    for soak in results.soak or ():
        tone = "bad" if soak.failures else ""
        lines += _wrapped_lines("soak: ", counts.soaked(soak), tone, width)
    lines += _shapes(results.envelope, width) if results.envelope is not None else []
    lines += [[], *_verdict(results, width), *_apart(results, certificates, width)]
    lines += _failures(results.unexpected, width)
    lines += _expected(results, width)
    lines += _refused(results.refused, width)
    return lines


def heading(backend: BackendFacts, *, width: int = 80) -> list[Line]:
    """Who is certified: backend, device, driver, toolchain, and the canaries that died."""
    lines: list[Line] = [[(f"{backend.name} {backend.version}", "strong")]]
    about = [part for part in (backend.device, backend.driver, backend.toolchain) if part]
    lines += [[(f"  {text}", "dim")] for part in about for text in _wrapped(part, width - 2)]
    for canary in backend.canaries:
        if canary.fault:
            lines += _wrapped_lines("  ! ", f"canary {canary.name}: {canary.fault}", "bad", width)
    return lines


def track_lines(track: TrackLevels, *, width: int = 80) -> list[Line]:
    """The levels of a track in one line, and below it what the next ones lack."""
    row: Line = [(f"{track.track:<12}", "strong")]
    for level in track.levels:
        mark, style = ("●", "good") if level.granted else ("○", "dim")
        row += [
            (f"{mark} {level.level}", style),
            (f" {TITLES[level.level]}   ", "" if level.granted else "dim"),
        ]
    row[-1] = (row[-1][0].rstrip(), row[-1][1])
    denied = [level for level in track.levels if not level.granted]
    explained = denied[: 2 if track.highest else 1]
    return [row, *(line for k, level in enumerate(explained) for line in _reasons(level, k, width))]


def _reasons(level: Level, place: int, width: int) -> list[Line]:
    """What a level lacks; the lowest one denied gets the room."""
    own = [r for r in level.reasons if not r.endswith("is not granted")]
    shown = own[: _REASONS if place == 0 else 2]
    lines: list[Line] = []
    for k, reason in enumerate(shown):
        head = f"{'':12}{level.level if not k else '':<4} "
        short = textwrap.shorten(reason, 2 * (width - len(head)), placeholder=" …")
        lines += _wrapped_lines(head, short, "dim", width)
    if len(own) > len(shown):
        lines.append([(f"{'':17}… and more; the certificate has all reasons", "dim")])
    return lines


def _table(results: Results) -> list[Line]:
    head = ("", "ops run", "cases run", "laws run", "law cases", "each at least")
    families = list(_families(results).items())
    rows = [head, *(_family_row(name, ops) for name, ops in families)]
    if len(rows) == 1:
        return []
    widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
    lines: list[Line] = []
    for n, row in enumerate(rows):
        last = len(row) - 1
        cells = [
            c.ljust(w) if k in (0, last) else c.rjust(w)
            for k, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        text = "  ".join(cells).rstrip()
        bad = n and any(op.status == "failed" for op in families[n - 1][1])
        lines.append([(text, "dim" if not n else "bad" if bad else "")])
    return lines


def _families(results: Results) -> dict[str, list[OpResult]]:
    found: dict[str, list[OpResult]] = {}
    for op in results.ops:
        parts = op.id.split(".")
        nested = parts[0] == "primitive" or (len(parts) > 2 and is_float(op.id))
        family = ".".join(parts[:2]) if nested else parts[0]
        found.setdefault(family, []).append(op)
    return found


def _family_row(name: str, ops: Sequence[OpResult]) -> tuple[str, ...]:
    failed = sum(op.status == "failed" for op in ops)
    here, laws = counts.ops(ops), counts.laws(ops)
    notes = [f"{failed} FAILED"] if failed else []
    notes += [f"{n} {'op' if n == 1 else 'ops'} {w}" for n, w in _lacking(here)]
    notes += [f"{n} {'law' if n == 1 else 'laws'} {w}" for n, w in _lacking(laws)]
    return (
        name,
        f"{here.run}",
        f"{sum(counts.parity(op).run for op in ops):,}",
        f"{laws.run}",
        f"{sum(counts.law(op, law).run for op in ops for law in op.laws):,}",
        ", ".join([_least(ops), *notes]),
    )


def _lacking(found: Counts) -> list[tuple[int, str]]:
    return [(n, word) for n, word in ((found.refused, "refused"), (found.not_run, "not run")) if n]


def _least(ops: Sequence[OpResult]) -> str:
    """The weakest evidence among the ops that were run: a domain that all exhausted, and random cases."""
    ran = [op for op in ops if op.cases]
    if not ran:
        return "unverified"
    ranks = [_rank(op) for op in ran]
    domain = max(ranks)
    parts = [f"all {_DOMAINS[domain]}"] if domain < len(_DOMAINS) else []
    sampled = [op for op in ran if not _every_input(op)]
    least = min((witnessed(op.parity) for op in sampled), default=0)
    some = " or every input" if sampled and len(sampled) < len(ran) else ""
    return " + ".join([*parts, f"{least:,} random{some}" if sampled else "every input"])


def _every_input(op: OpResult) -> bool:
    """Whether the op was run on all its inputs, of which there are 2^16."""
    return is_float(op.id) and any(c.kind == "u16" and c.complete for c in op.parity)


def _rank(op: OpResult) -> int:
    domains = {EXHAUSTIVE[c.kind] for c in op.parity if c.kind in EXHAUSTIVE and c.cases and c.complete}
    return next((k for k, d in enumerate(_DOMAINS) if d in domains), len(_DOMAINS))


def _stages(results: Results, width: int) -> list[Line]:
    words: list[str] = []
    for stage in results.stages:
        found = counts.stage(stage)
        notes = [*([f"{stage.failed:,} FAILED"] if stage.failed else []), *found.rest]
        words.append(f"{stage.stage} {found.run:,}" + (f" ({', '.join(notes)})" if notes else ""))
    lines: list[Line] = []
    current = ""
    for word in words:
        if current and len(current) + len(word) + 3 > width:
            lines.append([(current, "")])
            current = ""
        current = f"{current} · {word}" if current else word
    return [*lines, [(current, "")]] if current else lines


def _shapes(found: Envelope, width: int) -> list[Line]:
    """The envelope: the largest level of each feature that ran, side by side, and what is missing."""
    cells = [
        (textwrap.shorten(f"{row.feature} {row.ran}{_of_limit(row)}", _CELL - 2, placeholder=" …"), row.tone)
        for row in envelope.table(found)
    ]
    lines: list[Line] = [[], *_wrapped_lines("", envelope.heading(found), "strong", width)]
    across = max(1, width // _CELL)
    for k in range(0, len(cells), across):
        *part, (last, tone) = cells[k : k + across]
        lines.append([*((text.ljust(_CELL), _tone(own)) for text, own in part), (last, _tone(tone))])
    for reason in found.missed:
        lines += _wrapped_lines(f"{reason}: ", envelope.missing_features(found, reason), "dim", width)
    return lines


def _of_limit(row: envelope.ShapeRow) -> str:
    return f" of {row.limit}" if row.limit else ""


def _tone(tone: str) -> str:
    return "" if tone == "good" else "bad" if tone == "bad" else "dim"


def verdict(results: Results) -> str:
    """What came of the cases that were run, in a sentence."""
    found = counts.cases(results)
    ran = f"{found.run:,} {'case' if found.run == 1 else 'cases'}"
    if results.unexpected:
        number = len(results.unexpected)
        return f"✗ {number:,} {'FAILURE' if number == 1 else 'FAILURES'} in {ran} that ran."
    if results.unexpected_passes:
        number = len(results.unexpected_passes)
        return f"✗ {number:,} EXPECTED FAILURES PASSED in {ran} that ran."
    if results.every_failure:
        return f"! Every failure in {ran} that ran was expected."
    if found.run:
        return f"✓ All {ran} that ran agree."
    return "No case was run."


def _verdict(results: Results, width: int) -> list[Line]:
    """The sentence, and how many cases gave no result."""
    found, text = counts.cases(results), verdict(results)
    style = {"✗": "bad", "✓": "good"}.get(text[0], "open")
    rest = f"  {' and '.join(found.rest)}: these show nothing." if found.rest else ""
    return [
        *_wrapped_lines("", text, style, width),
        *(_wrapped_lines("", rest, "open", width) if rest else []),
    ]


def _apart(results: Results, certificates: Sequence[CertificateContents], width: int) -> list[Line]:
    """Which of the cases that ran the certificate counts, where it does not count all."""
    if not certificates:
        return []
    strict = counts.cases(certificates[0].results).run
    others = counts.cases(results).run - strict
    if not others:
        return []
    where = "one of their own" if len(certificates) > 1 else "none"
    text = f"  {strict:,} are in the certificate; {others:,} have a tolerance and are in {where}."
    return _wrapped_lines("", text, "dim", width)


def grouped(failures: Sequence[Failure]) -> dict[str, list[Failure]]:
    """By op, or by what a stage tries; laws come last."""
    found: dict[str, list[Failure]] = {}
    for failure in sorted(failures, key=lambda f: order(f.kind)):
        found.setdefault(failure.op or tried(failure.case), []).append(failure)
    return found


def _failures(failures: Sequence[Failure], width: int) -> list[Line]:
    """One shown of each group, the rest of it counted beside."""
    of_op = grouped(failures)
    lines: list[Line] = []
    for op, found in list(of_op.items())[:_SHOWN]:
        lines += [[], *failure_lines(found[0], width=width)]
        if len(found) > 1:
            lines.append([(f"  … and {len(found) - 1} more of {op}", "dim")])
    left = list(of_op.items())[_SHOWN:]
    if left:
        named = ", ".join(f"{op} ({len(found)})" for op, found in left)
        lines += [[], *_wrapped_lines("", f"… and of {len(left)} more: {named}.", "bad", width)]
    if len(failures) > len(of_op) or left:
        lines.append([("The certificate has every one of them.", "dim")])
    return lines


def tried(case: str) -> str:
    """What a case of a stage is about: `golden/float.abs` of `golden/float.abs/golden/1`."""
    stage, _, rest = case.partition("/")
    about = rest.partition("/")[0]
    return stage if not about or about.isdigit() else f"{stage}/{about}"


def failure_lines(failure: Failure, *, width: int = 80) -> list[Line]:
    """One failure: its name, the smallest input, and the bits side by side."""
    count = f", {failure.count:,} cases" if failure.count > 1 else ""
    lines: list[Line] = [[("✗ ", "bad"), (failure.case, "strong"), (f"  {failure.kind}{count}", "dim")]]
    law = failure.kind == LAW
    label = _LABEL_OF_SIDES if law else _LABEL
    shown = [
        (f"  {name:<{label}}  ", text, tone)
        for (name, text), tone in zip(
            sides(failure.expected, failure.actual, law=law),
            ("open", "open") if law else ("good", "bad"),
            strict=True,
        )
    ]
    inputs = textwrap.shorten(", ".join(failure.inputs), 400, placeholder=" …")
    lines += _wrapped_lines(f"  {'input':<{label}}  ", inputs, "", width) if inputs else []
    lines += _bits(shown) or [line for row in shown for line in _wrapped_lines(*row, width)]
    for name, note in ((LAW if law else "note", failure.note), ("note", ADVICE.get(failure.kind, ""))):
        lines += _wrapped_lines(f"  {name:<{label}}  ", note, "dim", width) if note else []
    return [*lines, [(f"  {'replay':<{label}}  ", "dim"), (failure.replay, "")]]


def _bits(shown: Sequence[tuple[str, str, str]]) -> list[Line]:
    """Both values as bits, one below the other; nothing where they are not words of 32 bits."""
    found = [_NAME.fullmatch(text) for _, text, _ in shown]
    if any(m is None for m in found):
        return []
    values = [int(m.group(1), 16) for m in found if m is not None]
    if max(values) >> _BITS:
        return []
    widest = max(len(text) for _, text, _ in shown)
    rows = [_grouped(f"{v:0{_BITS}b}") for v in values]
    marks = "".join("^" if a != b else " " for a, b in zip(*rows, strict=True))
    lines: list[Line] = [
        [(label, ""), (text.ljust(widest), tone), (f"  {bits}", "dim")]
        for (label, text, tone), bits in zip(shown, rows, strict=True)
    ]
    before = len(shown[0][0]) + widest
    return [*lines, [(f"{'':{before}}  {marks.rstrip()}", "bad")]] if marks.strip() else lines


def _grouped(bits: str) -> str:
    return " ".join(bits[k : k + 8] for k in range(0, len(bits), 8))


def _expected(results: Results, width: int) -> list[Line]:
    lines: list[Line] = []
    for e in results.expected:
        verdict, style = (
            ("failed as expected", "open") if e.failed else ("PASSED, though it should fail", "bad")
        )
        lines += _wrapped_lines("! ", f"{e.pattern}: {verdict} ({e.reason})", style, width)
    return [[], *lines] if lines else []


def _refused(ops: Sequence[OpResult], width: int) -> list[Line]:
    """Refused ops, those with one reason together."""
    if not ops:
        return []
    reasons: dict[str, list[str]] = {}
    for op in ops:
        said = op.refusal.partition(": ")[2] or op.refusal
        reasons.setdefault(said, []).append(op.id)
    lines: list[Line] = [[], [(f"{len(ops)} {'op' if len(ops) == 1 else 'ops'} refused", "open")]]
    for reason, ids in list(reasons.items())[:_SHOWN]:
        named = ", ".join(ids[:_SHOWN]) + (f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else "")
        lines += _wrapped_lines("  ", f"{named}: {reason}", "", width)
    if len(reasons) > _SHOWN:
        lines.append([(f"  … and {len(reasons) - _SHOWN} more reasons; the certificate has all.", "")])
    return lines


def finding_lines(finding: Finding, *, width: int = 80) -> list[Line]:
    """One check of a certificate, and what to do where it is wrong."""
    mark = {"good": "✓", "wrong": "✗"}.get(finding.status, "–")
    style = {"good": "good", "wrong": "bad"}.get(finding.status, "open")
    head = f"{mark} {finding.check:<11}"
    lines = _wrapped_lines(head, finding.text, "" if style == "good" else style, width)
    lines[0][0] = (head, style)
    return lines + (_wrapped_lines(f"{'':13}", f"Fix: {finding.fix}", "", width) if finding.fix else [])


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(20, width), break_on_hyphens=False) or [""]


def _wrapped_lines(head: str, text: str, style: str, width: int) -> list[Line]:
    """Text behind a head, its further lines below it."""
    parts = _wrapped(text, width - len(head))
    return [[(head if not k else " " * len(head), "dim"), (part, style)] for k, part in enumerate(parts)]
