"""What counts of cases show: which domains were run whole, and how dense a fault would have been found.

evidence(counts)                `exhaustive u8 + witnessed 1048576`
density_found(1 << 20)          faults this dense or denser would have been met with 99 %
"""

from __future__ import annotations

import math
from dataclasses import dataclass

CONFIDENCE = 0.99
EXHAUSTIVE = {"u8": "u8", "u8x3": "u8", "u16": "u16", "all": "u32"}
"""Kinds of cases that are every input of a domain, and the domain."""


@dataclass(frozen=True, slots=True)
class KindCount:
    """Cases of one kind of generator: run here, planned in all shards together, and failed here."""

    kind: str
    cases: int
    planned: int
    failed: int

    @property
    def complete(self) -> bool:
        return self.cases == self.planned


def witnessed(counts: tuple[KindCount, ...]) -> int:
    """Uniform random cases among these."""
    return sum(c.cases for c in counts if c.kind == "random")


def evidence(counts: tuple[KindCount, ...]) -> str:
    """The label of what was run: `exhaustive u8 + witnessed 1048576`, `unverified` for nothing.

    Of nested domains the largest is named; every case besides, of any kind, is a witness.
    """
    domains = {EXHAUSTIVE[c.kind] for c in counts if c.kind in EXHAUSTIVE and c.cases and c.complete}
    parts = [f"exhaustive {d}" for d in ("u32", "u16", "u8") if d in domains][:1]
    n = sum(c.cases for c in counts if c.kind not in EXHAUSTIVE)
    if n:
        parts.append(f"witnessed {n}")
    return " + ".join(parts) or "unverified"


def density_found(cases: int, *, confidence: float = CONFIDENCE) -> float:
    """The density d with 1 - (1 - d)^cases = confidence: denser faults are found more surely than that."""
    return 1.0 if cases <= 0 else -math.expm1(math.log1p(-confidence) / cases)
