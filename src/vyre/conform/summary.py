"""The results of a run for people, as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.results import Failure, OpResult, Results

_SHOWN = 8


def render(results: Results) -> str:
    """A table of what was shown, then the failures, smallest input first, then what was refused."""
    b, plan = results.backend, results.plan
    about = ", ".join(part for part in (b.device, b.driver, b.toolchain) if part)
    lines = [f"backend   {b.name} {b.version} ({about})"]
    lines += [f"plan      seed {plan.seed}, {plan.cases} random cases per op and law, {_part(results)}", ""]
    lines += _table(results)
    lines += ["", _verdict(results)]
    lines += _failures(results.unexpected)
    lines += _expected(results)
    lines += _refused(results.refused)
    return "\n".join(lines)


def _part(results: Results) -> str:
    i, n = results.plan.shard
    part = "the whole run" if n == 1 else f"shard {i} of {n}"
    return f"{part}, the first {results.plan.skip} cases skipped" if results.plan.skip else part


def _table(results: Results) -> list[str]:
    head = ("", "ops", "cases", "laws", "law cases", "failed", "refused", "evidence")
    rows = [_family_row(name, ops) for name, ops in _families(results).items()]
    rows += [(s.stage, "", f"{s.cases}", "", "", f"{s.failed}", f"{s.refused}", "") for s in results.stages]
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
    rule = "  ".join("-" * w for w in widths)
    return [_line(head, widths), rule, *(_line(row, widths) for row in rows)]


def _families(results: Results) -> dict[str, list[OpResult]]:
    found: dict[str, list[OpResult]] = {}
    for op in results.ops:
        parts = op.id.split(".")
        family = ".".join(parts[:2]) if parts[0] == "primitive" else parts[0]
        found.setdefault(family, []).append(op)
    return found


def _family_row(name: str, ops: Sequence[OpResult]) -> tuple[str, ...]:
    laws = [law for op in ops for law in op.laws]
    ran = [op for op in ops if op.cases]
    labels = sorted({op.evidence.partition(" + witnessed")[0] for op in ran})
    least = min((op.cases for op in ran), default=0)
    return (
        name,
        f"{len(ops)}",
        f"{sum(op.cases for op in ops)}",
        f"{len(laws)}",
        f"{sum(c.cases for law in laws for c in law.counts)}",
        f"{sum(op.status == 'failed' for op in ops)}",
        f"{sum(op.status == 'refused' for op in ops)}",
        f"{labels[0] if len(labels) == 1 else f'{len(labels)} kinds'}, at least {least} cases"
        if ran
        else "unverified",
    )


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    last = len(cells) - 1
    shown = (
        c.ljust(w) if k in (0, last) else c.rjust(w)
        for k, (c, w) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(shown).rstrip()


def _verdict(results: Results) -> str:
    if results.unexpected:
        return f"{len(results.unexpected)} FAILURES in {results.cases} cases."
    if results.unexpected_passes:
        return f"{len(results.unexpected_passes)} EXPECTED FAILURES PASSED in {results.cases} cases."
    return f"All {results.cases} cases agree."


def _failures(failures: Sequence[Failure]) -> list[str]:
    lines: list[str] = []
    for f in failures[:_SHOWN]:
        lines += ["", f"{f.case}  ({f.kind}, {f.count} cases)"]
        lines += [
            f"  input     {', '.join(f.inputs)[:400]}",
            f"  expected  {f.expected}",
            f"  actual    {f.actual}",
        ]
        lines += [f"  note      {f.note}"] if f.note else []
        lines += [f"  replay    {f.replay}"]
    if len(failures) > _SHOWN:
        lines += ["", f"… and {len(failures) - _SHOWN} more; --json has all."]
    return lines


def _expected(results: Results) -> list[str]:
    lines: list[str] = []
    for e in results.expected:
        verdict = "failed as expected" if e.failed else "PASSED, though a failure was expected"
        lines.append(f"{e.pattern}: {verdict} ({e.reason})")
    return ["", *lines] if lines else []


def _refused(ops: Sequence[OpResult]) -> list[str]:
    lines = [f"  {op.id}: {op.refusal}" for op in ops[:_SHOWN]]
    if len(ops) > _SHOWN:
        lines.append(f"  … and {len(ops) - _SHOWN} more")
    return ["", f"{len(ops)} ops refused:", *lines] if lines else []
