"""All laws of all ops with their evidence, and the table a person reads.

results(specs, tiers=("proved",), cache=…)   one `CheckedLaw` per law, property, erratum and non-law
record(result)                               the same as JSON
render(results)                              the same as text
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.algebra.checker import examine
from vyre.conform.registry import lookup as registered
from vyre.errors import counted
from vyre.semantics.proof_cache import ProofCache, default_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vyre.conform.algebra.evidence import CheckedLaw
    from vyre.conform.spec.evaluate import Lookup
    from vyre.conform.spec.law import AlgebraicLaw
    from vyre.conform.spec.op import OpSpec


def statements(spec: OpSpec) -> Iterator[tuple[str, AlgebraicLaw, str]]:
    """Everything said about an op: role, law, and the place that says it."""
    yield from (("law", law, "") for law in spec.laws)
    yield from (("property", law, "") for law in spec.properties)
    yield from (("erratum", entry.law, entry.source) for entry in spec.errata)
    yield from (("non-law", entry.law, entry.source) for entry in spec.non_laws)


def results(
    specs: Iterable[OpSpec],
    *,
    tiers: Sequence[str] = ("proved",),
    cache: ProofCache | None = None,
    lookup: Lookup = registered,
) -> Iterator[CheckedLaw]:
    """One record per statement, as they are settled."""
    kept = cache or ProofCache(default_folder())
    for spec in specs:
        for role, law, source in statements(spec):
            yield examine(law, spec, lookup, kept, role=role, tiers=tiers, source=source)


def record(result: CheckedLaw) -> dict[str, Any]:
    """A result for programs."""
    best = result.best
    return {
        "op": result.op,
        "law": result.law,
        "parameters": result.parameters,
        "role": result.role,
        "statement": result.statement,
        "evidence": str(best),
        "solver": f"{best.solver} {best.version}".strip(),
        "options": best.options,
        "seconds": round(best.seconds, 6),
        "cached": best.cached,
        "tiers": [
            {"evidence": str(e), "scope": e.scope, "cases": e.cases, "seconds": round(e.seconds, 6)}
            for e in result.evidence
        ],
        "counterexample": None if result.counterexample is None else list(result.counterexample),
        "fails": result.equation,
        "source": result.source,
        "as_declared": result.as_declared,
    }


def shown_law(result: CheckedLaw) -> str:
    """`Identity(0)`, or the name of a custom law."""
    values = [_value(v) for v in result.parameters.values()]
    return f"{result.law}({', '.join(values)})" if values else result.law


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value) if value < 1024 else f"0x{value:X}"
    return str(value).removeprefix("primitive.")


def shown_evidence(result: CheckedLaw) -> str:
    """Every tier that was run; for a refutation the counterexample."""
    if result.counterexample is None:
        return ", ".join(map(str, result.evidence)) or "unverified"
    values = ", ".join(_value(v) for v in result.counterexample)
    return f"refuted at ({values})" if values else "refuted"


def solver_of(result: CheckedLaw) -> str:
    best = result.best
    return f"{best.solver} {best.version} {best.options}".strip()


def render(found: Sequence[CheckedLaw]) -> str:
    """The results as a plain table."""
    head = ("op", "role", "law", "evidence", "solver", "seconds")
    rows = [
        (
            r.op,
            r.role,
            shown_law(r),
            shown_evidence(r) + ("" if r.as_declared else "  <- NOT AS DECLARED"),
            solver_of(r),
            f"{sum(e.seconds for e in r.evidence):.3f}" + (" (kept)" if r.best.cached else ""),
        )
        for r in found
    ]
    return table(head, rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell."""
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in (head, *rows)]
    lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(line.rstrip() for line in lines)


def summary(found: Sequence[CheckedLaw]) -> str:
    """How many of each role stand on which evidence."""
    counts: dict[tuple[str, str], int] = {}
    for result in found:
        key = (result.role, result.best.kind.value)
        counts[key] = counts.get(key, 0) + 1
    plural = {"property": "properties", "erratum": "errata"}
    parts = [f"{counted(count, role, plural.get(role, ''))} {kind}" for (role, kind), count in counts.items()]
    wrong = sum(not r.as_declared for r in found)
    return ("; ".join(parts) or "no laws") + (f"; {wrong} NOT AS DECLARED" if wrong else "") + "."
