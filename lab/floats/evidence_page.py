"""The evidence for every soft op as one table, for `docs/numeric.md`."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from lab.floats import records
from lab.floats.lemmas import lemmas
from vyre.numeric.soft import soft_ops

if TYPE_CHECKING:
    from lab.floats.records import Evidence, Record
    from vyre.ir.op import Op

BEGIN, END = "<!-- evidence: begin -->", "<!-- evidence: end -->"


def evidence_table() -> str:
    """One line per op: its named steps, what was shown and how, how many wrong versions were refuted."""
    found = records.load()
    lines = ["| op | steps | evidence | mutants refuted |", "|---|---|---|---|"]
    for op in soft_ops():
        record = found.get(op.id)
        if record is None or record["digest"] != records.digest(op):
            lines.append(f"| `{op.id}` | {len(op.body)} | unverified | 0 |")
        else:
            lines.append(f"| `{op.id}` | {len(op.body)} | {_shown(op, record)} | {len(record['refuted'])} |")
    return "\n".join(lines) + "\n"


def with_table(page: str) -> str:
    """The page with the table of now between its marks."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{evidence_table()}{END}{tail}"


def _shown(op: Op, record: Record) -> str:
    """The strongest first; a chain is named as one and counts only when complete; of witnesses, the most."""
    items = record["evidence"]
    parts = [f"proved ({_solver(item)})" for item in items if item["kind"] == "proved"]
    steps = [item for item in items if item["kind"] == "lemma"]
    if steps and {item["claim"] for item in steps} == set(lemmas(op)):
        names = "; ".join(item["claim"] for item in steps)
        parts.append(f"lemma chain ({names}: {steps[0]['by']}, {fsum(i['seconds'] for i in steps):.1f} s)")
    parts += [f"exhaustive, {item.get('cases', 0)} inputs" for item in items if item["kind"] == "exhaustive"]
    if most := max((item.get("cases", 0) for item in items if item["kind"] == "witnessed"), default=0):
        parts.append(f"witnessed {most}")
    return ", ".join(parts) or "unverified"


def _solver(item: Evidence) -> str:
    name = item["by"].partition(" on ")[0]
    return f"{name}, {item['seconds']:.1f} s"
