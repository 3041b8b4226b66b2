"""Which laws hold beyond the declared ones, and which elements do not exist.

Every law kind is tried on every primitive with every partner. A sample of cases throws out what is false;
what survives is proved or refuted for all inputs. Where an op has no identity or absorbing element, a
solver shows that none of the 2^32 candidates would do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.algebra.checker import examine, first_failure
from vyre.conform.algebra.evidence import Evidence, EvidenceKind, LawResult
from vyre.conform.generate.cases import law_cases
from vyre.conform.registry import primitives
from vyre.conform.spec import law as laws
from vyre.conform.spec.evaluate import holds
from vyre.conform.spec.sides import sides
from vyre.conform.spec.term import Apply, Constant, Equation, Variable
from vyre.semantics.solvers import Answer
from vyre.semantics.terms import SmtDomain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vyre.conform.spec.evaluate import Lookup
    from vyre.conform.spec.law import AlgebraicLaw
    from vyre.conform.spec.op import OpSpec
    from vyre.semantics.proof_cache import ProofCache

_MAX = 0xFFFF_FFFF
_SAMPLES = 2048
ELEMENTS = (0, 1, _MAX, 32, 31, 2, 1 << 31)
"""Elements tried by name; all others are covered by the proof that none exists."""

SIDED = (laws.LeftIdentity, laws.RightIdentity, laws.LeftAbsorbing, laws.RightAbsorbing)


def discover(specs: Sequence[OpSpec], lookup: Lookup, cache: ProofCache) -> list[LawResult]:
    """Laws that hold and stand in no list of the op."""
    found: list[LawResult] = []
    for spec in specs:
        known = {laws.label(law) for law in known_laws(spec)}
        holding: list[AlgebraicLaw] = []
        for law in candidates(spec):
            if laws.label(law) in known or _implied(law, [*known_laws(spec), *holding], spec.id):
                continue
            if _refuted_by_sample(law, spec, lookup):
                continue
            result = examine(law, spec, lookup, cache, role="discovered")
            if result.best.kind is EvidenceKind.Proved:
                holding.append(law)
                found.append(result)
    return found


def known_laws(spec: OpSpec) -> tuple[AlgebraicLaw, ...]:
    """What the spec says holds, under whatever heading."""
    return (*spec.laws, *spec.properties, *(e.law for e in spec.errata))


def candidates(spec: OpSpec) -> Iterator[AlgebraicLaw]:
    """Every law that an op of this arity could have, stronger forms first."""
    return _unary(spec) if spec.arity == 1 else _binary(spec)


def _unary(spec: OpSpec) -> Iterator[AlgebraicLaw]:
    binary = [s.id for s in primitives() if s.arity == 2]
    unary = [s.id for s in primitives() if s.arity == 1]
    yield laws.Involution()
    yield laws.Idempotent()
    yield laws.Monotone()
    yield laws.Bounded(0, 1)
    yield laws.Bounded(0, 32)
    for g in (*unary, laws.IDENTITY):
        start = spec.evaluate(0)[0] + (_spec(g).evaluate(0)[0] if g != laws.IDENTITY else 0)
        yield laws.Complement(g, start & _MAX)
    yield from (laws.InverseOf(g) for g in unary)
    yield from (laws.DeMorgan(inner, dual) for inner in binary for dual in binary)


def _binary(spec: OpSpec) -> Iterator[AlgebraicLaw]:
    binary = [s.id for s in primitives() if s.arity == 2]
    yield laws.Commutative()
    yield laws.Associative()
    yield laws.Idempotent()
    yield laws.Monotone()
    yield laws.SelfInverse(spec.evaluate(0, 0)[0])
    yield laws.ZeroProduct(holds=True)
    yield laws.Bounded(0, 1)
    yield laws.Bounded(0, 32)
    for e in ELEMENTS:
        yield laws.Identity(e)
        yield laws.Absorbing(e)
    for e in ELEMENTS:
        yield from (kind(e) for kind in SIDED)
    for g in binary:
        yield laws.DistributiveOver(g)
        yield laws.LatticeAbsorption(g)
        yield laws.InverseOf(g)


@cache
def _spec(op_id: str) -> OpSpec:
    return next(s for s in primitives() if s.id == op_id)


def _implied(law: AlgebraicLaw, known: Sequence[AlgebraicLaw], op: str) -> bool:
    """Whether a stronger known law says it already."""
    match law:
        case laws.InverseOf(g=g) if g == op:
            return laws.Involution() in known
        case laws.LeftIdentity(e=e) | laws.RightIdentity(e=e):
            return laws.Identity(e) in known
        case laws.LeftAbsorbing(z=z) | laws.RightAbsorbing(z=z):
            return laws.Absorbing(z) in known
        case laws.Bounded(hi=32):
            return laws.Bounded(0, 1) in known
        case _:
            return False


def _refuted_by_sample(law: AlgebraicLaw, spec: OpSpec, lookup: Lookup) -> bool:
    equations = sides(law, spec)
    for kind in ("random", "correlated", "adversarial", "boundary"):
        stream = law_cases(kind, law, spec)
        count = min(_SAMPLES, stream.length or _SAMPLES)
        if first_failure(equations, stream, lookup, count=count) is not None:
            return True
    return False


@dataclass(frozen=True, slots=True)
class NoElement:
    """That no element of u32 makes a law hold for the op, with the operands that rule all of them out."""

    op: str
    law: str
    operands: tuple[int, ...]
    evidence: Evidence


def missing_elements(specs: Sequence[OpSpec], lookup: Lookup, cache: ProofCache) -> list[NoElement]:
    """For every binary op and every one-sided element law that no tried element satisfies: that none does."""
    found: list[NoElement] = []
    for spec in (s for s in specs if s.arity == 2):
        for kind in SIDED:
            holding = any(not _refuted_by_sample(kind(e), spec, lookup) for e in ELEMENTS)
            if not holding:
                found.append(_none_exists(kind.__name__, spec, lookup, cache))
    return found


def _none_exists(kind: str, spec: OpSpec, lookup: Lookup, cache: ProofCache) -> NoElement:
    """Operands are added until no element is right for all of them."""
    operands: list[int] = [0, 1, _MAX]
    while True:
        d = SmtDomain()
        element = d.variable("x0_0")
        wanted = [holds(_instance(kind, spec, a), d, [[element]], lookup) for a in operands]
        verdict = cache.solve(d.query(*(d.truth(w) for w in wanted)))
        scope = f"all elements, by {len(operands)} operands"
        if verdict.answer is not Answer.Sat:
            unsat = verdict.answer is Answer.Unsat
            evidence = Evidence(
                EvidenceKind.Proved if unsat else EvidenceKind.Unverified,
                scope,
                solver=verdict.attempt.solver,
                version=verdict.version,
                options=verdict.attempt.options_text,
                seconds=verdict.seconds,
                cached=verdict.cached,
            )
            return NoElement(spec.id, kind, tuple(operands), evidence)
        operand = _against(kind, spec, verdict.model.get("x0_0", 0), lookup)
        if operand is None or operand in operands:
            evidence = Evidence(EvidenceKind.Unverified, scope)
            return NoElement(spec.id, kind, tuple(operands), evidence)
        operands.append(operand)


def _instance(kind: str, spec: OpSpec, a: int) -> Equation:
    """The law at one operand, its element the variable."""
    e, operand = Variable(0), Constant(a)
    args = (e, operand) if kind.startswith("Left") else (operand, e)
    return Equation(Apply(spec.id, args), operand if kind.endswith("Identity") else e)


def _against(kind: str, spec: OpSpec, element: int, lookup: Lookup) -> int | None:
    """An operand at which this element fails."""
    law = next(k for k in SIDED if k.__name__ == kind)(element)
    stream = law_cases("random", law, spec)
    bad = first_failure(sides(law, spec), stream, lookup, count=1 << 16)
    return None if bad is None else int(np.uint32(stream.case(bad)[0]))
