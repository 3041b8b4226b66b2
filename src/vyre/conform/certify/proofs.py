"""What is known about the laws themselves, apart from any backend: which solver proved each, for all inputs.

The proofs are those behind `vyre laws`, kept in the same cache. Without a solver a law says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.algebra.proof import prove_equations
from vyre.conform.registry import lookup, spec
from vyre.conform.spec.sides import sides
from vyre.conform.verify.graph import law_names
from vyre.semantics.solvers import plan, solver_version

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre.semantics.proof_cache import ProofCache

NO_SOLVER = "no solver is installed"


@dataclass(frozen=True, slots=True)
class LawProof:
    """The evidence for a law on its definition: `proved`, `refuted` or `unverified`, and by which solver."""

    op: str
    law: str
    evidence: str
    solver: str
    options: str


def law_proofs(ops: Iterable[str], cache: ProofCache) -> tuple[LawProof, ...]:
    """One record per law and property of these ops, in their order."""
    return tuple(_proof(op, name, cache) for op in ops for name, _, _ in law_names(spec(op)))


def _proof(op: str, name: str, cache: ProofCache) -> LawProof:
    found = spec(op)
    law = next(law for known, _, law in law_names(found) if known == name)
    if not any(solver_version(attempt.solver) for attempt in plan("")):
        return LawProof(op, name, "unverified", NO_SOLVER, "")
    evidence = prove_equations(sides(law, found), lookup, cache).evidence
    solver = f"{evidence.solver} {evidence.version}".strip()
    return LawProof(op, name, evidence.kind.value, solver, evidence.options)
