"""Laws proved for all inputs.

The negation of a law, written by running the definitions over solver terms, is handed to a solver: no
solution means that the law holds for every u32. A solution is a counterexample; it is replayed on plain
integers before it is believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.algebra.evidence import Evidence, EvidenceKind
from vyre.conform.spec.evaluate import holds
from vyre.conform.spec.sides import sides
from vyre.conform.spec.term import variables
from vyre.conform.spec.words import fit, mask_of, word_count
from vyre.errors import VyreError
from vyre.semantics.domain import CONCRETE
from vyre.semantics.solvers import Answer
from vyre.semantics.terms import SmtDomain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.spec.evaluate import Lookup
    from vyre.conform.spec.law import AlgebraicLaw
    from vyre.conform.spec.op import OpSpec
    from vyre.conform.spec.term import Equation, Variable
    from vyre.semantics.proof_cache import ProofCache

Values = tuple[tuple[int, ...], ...]
"""The words of each variable."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What the solver said. `failing` and `values` name a counterexample that has been replayed."""

    evidence: Evidence
    failing: Equation | None = None
    values: Values | None = None


def obligation(equations: Sequence[Equation], lookup: Lookup) -> str:
    """The solver text that is satisfiable exactly where some equation fails."""
    d = SmtDomain()
    values = [[d.variable(f"x{v.index}_{k}") for k in range(word_count(v.type))] for v in dense(equations)]
    broken = [f"(not {d.truth(holds(e, d, values, lookup))})" for e in equations]
    return d.query(broken[0] if len(broken) == 1 else f"(or {' '.join(broken)})")


def dense(equations: Sequence[Equation]) -> tuple[Variable, ...]:
    """The variables of the equations; their indices must have no gaps."""
    found = variables(equations)
    if [v.index for v in found] != list(range(len(found))):
        raise VyreError(
            f"the variables {[str(v) for v in found]} of {equations[0]} have a gap.",
            fix="number the variables of a law from 0, and use each.",
        )
    return found


def prove(law: AlgebraicLaw, spec: OpSpec, lookup: Lookup, cache: ProofCache) -> Proof:
    """Proves or refutes a law about all inputs."""
    return prove_equations(sides(law, spec), lookup, cache)


def prove_equations(equations: Sequence[Equation], lookup: Lookup, cache: ProofCache) -> Proof:
    verdict = cache.solve(obligation(equations, lookup))
    kinds = {
        Answer.Unsat: EvidenceKind.Proved,
        Answer.Sat: EvidenceKind.Refuted,
        Answer.Unknown: EvidenceKind.Unverified,
    }
    evidence = Evidence(
        kinds[verdict.answer],
        "all inputs",
        solver=verdict.attempt.solver,
        version=verdict.version,
        options=verdict.attempt.options_text,
        seconds=verdict.seconds,
        cached=verdict.cached,
    )
    if verdict.answer is not Answer.Sat:
        return Proof(evidence)
    values = tuple(
        tuple(
            fit(CONCRETE, verdict.model.get(f"x{v.index}_{k}", 0), mask_of(v.type))
            for k in range(word_count(v.type))
        )
        for v in dense(equations)
    )
    failing = next((e for e in equations if not holds(e, CONCRETE, values, lookup)), None)
    if failing is None:
        raise VyreError(
            f"{verdict.attempt.solver} {verdict.version} refutes {equations[0]} at {values}, "
            "where it holds on plain integers.",
            fix="report it: the solver, or the translation to its terms, is wrong.",
        )
    return Proof(evidence, failing, values)
