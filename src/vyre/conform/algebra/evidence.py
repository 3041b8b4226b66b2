"""How much has been shown, always by name, and the record of one checked law."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class EvidenceKind(Enum):
    """From strongest to weakest; `Refuted` is a counterexample, `Unverified` the absence of any of these."""

    Proved = "proved"
    Exhaustive = "exhaustive"
    Witnessed = "witnessed"
    Golden = "golden"
    ByConstruction = "by construction"
    Unverified = "unverified"
    Refuted = "refuted"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence over the inputs that `scope` names; a proof has its solver, version and options."""

    kind: EvidenceKind
    scope: str
    cases: int = 0
    solver: str = ""
    version: str = ""
    options: str = ""
    seconds: float = 0.0
    cached: bool = False

    def __str__(self) -> str:
        match self.kind:
            case EvidenceKind.Witnessed:
                return f"witnessed {self.cases}"
            case EvidenceKind.Exhaustive:
                return f"exhaustive {self.scope}"
            case _:
                return self.kind.value


@dataclass(frozen=True, slots=True)
class CheckedLaw:
    """One law of one op with everything that was shown about it.

    `role` is law, property, non-law, erratum or discovered. `counterexample` holds the bits of each
    variable, shrunk; `equation` the equation that fails there.
    """

    op: str
    law: str
    parameters: dict[str, Any]
    role: str
    statement: str
    evidence: tuple[Evidence, ...]
    counterexample: tuple[int, ...] | None = None
    equation: str = ""
    source: str = ""

    @property
    def best(self) -> Evidence:
        """The strongest evidence; a refutation outweighs everything."""
        order = list(EvidenceKind)
        refuted = [e for e in self.evidence if e.kind is EvidenceKind.Refuted]
        none = Evidence(EvidenceKind.Unverified, "nothing")
        return refuted[0] if refuted else min(self.evidence, key=lambda e: order.index(e.kind), default=none)

    @property
    def as_declared(self) -> bool:
        """Whether what was shown is what the registry says: non-laws refuted, all others not."""
        return (self.best.kind is EvidenceKind.Refuted) == (self.role == "non-law") and (
            self.best.kind is not EvidenceKind.Unverified
        )
