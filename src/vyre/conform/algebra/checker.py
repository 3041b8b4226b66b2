"""Laws checked on cases: every small operand, and a million of all sizes.

exhaustive(...)   all operands of 8 bits (16 for one variable), results untruncated
witnessed(...)    uniform u32 cases, with boundaries, correlated and adversarial ones on top
examine(...)      a law with all the evidence that was asked for, as one record
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.algebra.evidence import Evidence, EvidenceKind, LawResult
from vyre.conform.algebra.proof import Values, prove_equations
from vyre.conform.algebra.witness import minimal
from vyre.conform.generate.cases import law_cases
from vyre.conform.spec.law import kind, parameters
from vyre.conform.spec.satisfied import satisfied
from vyre.conform.spec.sides import sides
from vyre.conform.spec.term import variables
from vyre.conform.spec.words import split, word_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vyre.conform.generate.stream import CaseStream
    from vyre.conform.spec.evaluate import Lookup
    from vyre.conform.spec.law import AlgebraicLaw
    from vyre.conform.spec.op import OpSpec
    from vyre.conform.spec.term import Equation
    from vyre.semantics.proof_cache import ProofCache

BLOCK = 1 << 16
UNIFORM_CASES = 1_000_000
EXTRA_CASES = 1 << 16
TIERS = ("proved", "exhaustive", "witnessed")
ALL_TIERS = (*TIERS, "exhaustive-u32")


def first_failure(
    equations: Sequence[Equation], stream: CaseStream, lookup: Lookup, *, count: int
) -> int | None:
    """The index of the first case at which some equation fails."""
    types = [v.type for v in variables(equations)]
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        columns = stream.block(start, size)
        good = satisfied(equations, split(types, columns), size, lookup)
        if not good.all():
            return start + int(np.argmin(good))
    return None


def exhaustive(
    law: AlgebraicLaw, spec: OpSpec, lookup: Lookup, *, bits: int | None = None
) -> tuple[Evidence, Values | None] | None:
    """Every case of operands of `bits` bits; None beyond 2^24 cases, unless a width is asked for."""
    equations = sides(law, spec)
    types = [v.type for v in variables(equations)]
    words = sum(word_count(t) for t in types)
    width = bits or (16 if words == 1 else 8)
    if not words or (bits is None and width * words > 24):
        return None
    stream = law_cases("exhaustive", law, spec, bits=width)
    return _run(equations, [(stream, 1 << width * words)], lookup, f"u{width}", EvidenceKind.Exhaustive)


def witnessed(
    law: AlgebraicLaw, spec: OpSpec, lookup: Lookup, *, seed: int = 0, cases: int = UNIFORM_CASES
) -> tuple[Evidence, Values | None]:
    """Uniform cases; boundaries, classes, correlated and adversarial cases on top."""
    equations = sides(law, spec)
    if not variables(equations):
        return _constant(equations, lookup)
    streams = [(law_cases("random", law, spec, seed), cases)]
    boundary = law_cases("boundary", law, spec, seed)
    streams.append((boundary, min(boundary.length or 0, 1 << 20)))
    kinds = ("correlated", "adversarial", *(("equivalence",) if spec.classes else ()))
    streams += [(law_cases(name, law, spec, seed), EXTRA_CASES) for name in kinds]
    return _run(equations, streams, lookup, "u32", EvidenceKind.Witnessed)


def _constant(equations: Sequence[Equation], lookup: Lookup) -> tuple[Evidence, Values | None]:
    """A law without variables has one case, and that is all of them."""
    good = satisfied(equations, (), 1, lookup).all()
    found = EvidenceKind.Exhaustive if good else EvidenceKind.Refuted
    return Evidence(found, "its one case", cases=1), None if good else ()


def _run(
    equations: Sequence[Equation],
    streams: Iterable[tuple[CaseStream, int]],
    lookup: Lookup,
    scope: str,
    kind_of: EvidenceKind,
) -> tuple[Evidence, Values | None]:
    start = time.perf_counter()
    types = [v.type for v in variables(equations)]
    total = 0
    for stream, count in streams:
        bad = first_failure(equations, stream, lookup, count=count)
        total += count
        if bad is not None:
            seconds = time.perf_counter() - start
            found = Evidence(EvidenceKind.Refuted, f"{scope} {stream.kind}", cases=bad + 1, seconds=seconds)
            return found, split(types, stream.case(bad))
    return Evidence(kind_of, scope, cases=total, seconds=time.perf_counter() - start), None


def examine(
    law: AlgebraicLaw,
    spec: OpSpec,
    lookup: Lookup,
    cache: ProofCache,
    *,
    role: str,
    tiers: Sequence[str] = ("proved",),
    source: str = "",
) -> LawResult:
    """A law with the evidence of every tier asked for; a counterexample is shrunk."""
    equations = sides(law, spec)
    evidence: list[Evidence] = []
    values: Values | None = None
    if "proved" in tiers:
        proof = prove_equations(equations, lookup, cache)
        evidence.append(proof.evidence)
        values = proof.values
    found = [exhaustive(law, spec, lookup)] if "exhaustive" in tiers else []
    if "exhaustive-u32" in tiers and [v.type.bits for v in variables(equations)] == [32]:
        found.append(exhaustive(law, spec, lookup, bits=32))
    if "witnessed" in tiers:
        found.append(witnessed(law, spec, lookup))
    for item in found:
        if item is not None:
            evidence.append(item[0])
            values = item[1] if values is None else values
    shrunk = None if values is None else minimal(equations, values, lookup)
    return LawResult(
        spec.id,
        kind(law),
        parameters(law),
        role,
        "; ".join(map(str, equations)),
        tuple(evidence),
        counterexample=None if shrunk is None else shrunk.bits,
        equation="" if shrunk is None else str(shrunk.equation),
        source=source,
    )
