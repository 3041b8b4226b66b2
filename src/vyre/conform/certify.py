"""Certification of a backend, as far as it goes today: every golden row, replayed.

    summary = certify("reference")
    print(render(summary))

No level is granted yet, and the table says so. Strict and approximate rows are counted apart: they never
mix in one claim.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from vyre.backends import get
from vyre.conform.golden.outcome import Outcome, Status
from vyre.conform.golden.replay import EXECUTABLE_KINDS, replay_all
from vyre.conform.golden.rows import Later, Row, load_later, load_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vyre.backends import Backend, BackendInfo

LEVEL = "golden rows only, no level granted yet"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Count:
    """What came of the rows about one subject: an op, a cast, a kind of statement."""

    subject: str
    track: str
    rows: int
    cases: int
    passed: int
    failed: int
    refused: int


@dataclass(frozen=True, slots=True)
class Summary:
    """What one backend did with the golden rows; `failures` and `refusals` keep the first case of each."""

    backend: BackendInfo
    counts: tuple[Count, ...]
    failures: tuple[Outcome, ...]
    refusals: tuple[Outcome, ...]
    not_covered: tuple[Later, ...]
    level: str = LEVEL

    @property
    def rows(self) -> int:
        return sum(c.rows for c in self.counts)

    @property
    def cases(self) -> int:
        return sum(c.cases for c in self.counts)


def certify(backend: str | Backend, *, rows: Iterable[Row] | None = None) -> Summary:
    """Replays every golden row (or those given) on a backend."""
    loaded = get(backend) if isinstance(backend, str) else backend
    outcomes = replay_all(load_rows() if rows is None else rows, loaded)
    return Summary(
        loaded.describe(),
        _counts(outcomes),
        tuple(o for o in outcomes if o.status is Status.Failed),
        tuple(o for o in outcomes if o.status is Status.Refused),
        load_later(),
    )


def track_of(row: Row) -> str:
    """`strict` and `approximate` run on the backend; `language` asks the types and the validator."""
    if row.kind not in EXECUTABLE_KINDS:
        return "language"
    return "approximate" if "tolerance" in row.fields else "strict"


def _counts(outcomes: Sequence[Outcome]) -> tuple[Count, ...]:
    groups: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[track_of(outcome.row), outcome.row.stem].append(outcome)
    return tuple(_count(subject, track, found) for (track, subject), found in groups.items())


def _count(subject: str, track: str, outcomes: Sequence[Outcome]) -> Count:
    tally = {status: sum(o.status is status for o in outcomes) for status in Status}
    cases = sum(o.cases for o in outcomes)
    return Count(
        subject,
        track,
        len(outcomes),
        cases,
        tally[Status.Passed],
        tally[Status.Failed],
        tally[Status.Refused],
    )


def to_json(summary: Summary) -> dict[str, Any]:
    """The summary for programs: every count, every failure and refusal with bits and program text."""
    info = asdict(summary.backend)
    info["approximate"] = sorted(info["approximate"])
    return {
        "backend": info,
        "level": summary.level,
        "rows": summary.rows,
        "cases": summary.cases,
        "counts": [asdict(c) for c in summary.counts],
        "failures": [_outcome_json(o) for o in summary.failures],
        "refusals": [_outcome_json(o) for o in summary.refusals],
        "not_covered": [asdict(later) for later in summary.not_covered],
    }


def _outcome_json(outcome: Outcome) -> dict[str, str]:
    return {
        "row": outcome.row.id,
        "inputs": outcome.inputs,
        "expected": outcome.expected,
        "actual": outcome.actual,
        "program": outcome.program,
    }


def render(summary: Summary) -> str:
    """The summary for people, as plain text."""
    info = summary.backend
    about = ", ".join(part for part in (info.device, info.driver, info.toolchain) if part)
    lines = [f"backend  {info.name} {info.version} ({about})", f"level    {summary.level}", ""]
    lines += _table(summary.counts)
    lines += ["", *_verdict(summary), "", *_not_covered(summary.not_covered)]
    return "\n".join(lines)


def _table(counts: Sequence[Count]) -> list[str]:
    families: dict[tuple[str, str], list[Count]] = defaultdict(list)
    for count in counts:
        families[count.track, _family(count.subject)].append(count)
    head = ("track", "family", "rows", "cases", "passed", "failed", "refused")
    body = [
        (track, family, *(str(sum(getattr(c, n) for c in found)) for n in head[2:]))
        for (track, family), found in sorted(families.items(), key=lambda item: _TRACKS.index(item[0][0]))
    ]
    total = ("", "all", *(str(sum(getattr(c, n) for c in counts)) for n in head[2:]))
    widths = [max(len(row[k]) for row in (head, *body, total)) for k in range(len(head))]
    rule = "  ".join("-" * w for w in widths)
    return [_line(head, widths), rule, *(_line(row, widths) for row in body), rule, _line(total, widths)]


_TRACKS = ("strict", "approximate", "language")


def _family(subject: str) -> str:
    """`primitive.math.add` belongs to `primitive.math`, every cast to `cast`."""
    head, _, rest = subject.partition(".")
    return f"{head}.{rest.partition('.')[0]}" if head == "primitive" else head


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    texts = (c.ljust(w) if k < 2 else c.rjust(w) for k, (c, w) in enumerate(zip(cells, widths, strict=True)))
    return "  ".join(texts).rstrip()


def _verdict(summary: Summary) -> list[str]:
    if not summary.failures:
        refused = f", {len(summary.refusals)} refused" if summary.refusals else ""
        agreed = summary.rows - len(summary.refusals)
        lines = [f"{agreed} of {summary.rows} rows agree ({summary.cases} cases){refused}."]
    else:
        lines = [f"{len(summary.failures)} of {summary.rows} rows FAIL."]
    for outcome in summary.failures[:_SHOWN]:
        lines += ["", f"{outcome.row.id}", f"  inputs    {outcome.inputs or '-'}"]
        lines += [f"  expected  {outcome.expected}", f"  actual    {outcome.actual}"]
    if len(summary.failures) > _SHOWN:
        lines += ["", f"… and {len(summary.failures) - _SHOWN} more; --json has all."]
    if summary.failures and summary.failures[0].program:
        lines += ["", f"The program of {summary.failures[0].row.id}:", ""]
        lines += [f"  {line}" for line in summary.failures[0].program.splitlines()]
    for outcome in summary.refusals[:_SHOWN]:
        lines += ["", f"{outcome.row.id} refused: {outcome.actual}"]
    return lines


def _not_covered(later: Sequence[Later]) -> list[str]:
    reasons: dict[str, int] = defaultdict(int)
    for entry in later:
        reasons[entry.reason] += 1
    lines = [f"Not covered yet, {len(later)} rows of the documents:"]
    return lines + [f"  {n:2}  {reason}" for reason, n in reasons.items()]
