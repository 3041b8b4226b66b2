"""Exhaustive and witnessed evidence, and what each can and cannot see."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from vyre.conform.algebra.checker import examine, exhaustive, witnessed
from vyre.conform.algebra.evidence import Evidence, EvidenceKind, LawResult, fault_density
from vyre.conform.registry import lookup, replaced, spec
from vyre.conform.spec import law as laws
from vyre.conform.spec.evaluate import holds
from vyre.conform.spec.sides import sides
from vyre.semantics.domain import CONCRETE
from vyre.semantics.proof_cache import ProofCache

ADD, MUL, NOT = spec("primitive.math.add"), spec("primitive.math.mul"), spec("primitive.bitwise.not")
CACHE = ProofCache(None)


def found(item: tuple[Evidence, Any] | None) -> Evidence:
    assert item is not None
    return item[0]


def test_exhaustive_runs_every_small_case() -> None:
    assert found(exhaustive(laws.Commutative(), ADD, lookup)).cases == 1 << 16
    triples = found(exhaustive(laws.Associative(), ADD, lookup))
    assert (str(triples), triples.cases) == ("exhaustive u8", 1 << 24)
    unary = found(exhaustive(laws.Involution(), NOT, lookup))
    assert (str(unary), unary.cases) == ("exhaustive u16", 1 << 16)


def test_too_wide_a_law_has_no_exhaustive_evidence() -> None:
    store = spec("memory.store.u32")
    assert exhaustive(store.properties[0], store, lookup) is None


def test_witnesses_are_a_million_uniform_cases_and_more() -> None:
    evidence, values = witnessed(laws.Commutative(), ADD, lookup)
    assert evidence.kind is EvidenceKind.Witnessed
    assert evidence.cases > 1_000_000 + 2 * (1 << 16)
    assert str(evidence) == f"witnessed {evidence.cases}"
    assert values is None


def wrong(op: str, at: tuple[int, ...]) -> Any:
    right = spec(op)

    def cpu_fn(d: Any, *words: Any) -> Any:
        here = d.const(1)
        for word, value in zip(words, at, strict=True):
            here = d.and_(here, d.eq(word, d.const(value)))
        return d.ite(here, d.const(0xBAD), right.cpu_fn(d, *words))

    return replace(right, cpu_fn=cpu_fn)


def test_one_wrong_pair_of_bytes_is_seen() -> None:
    mutant = wrong(ADD.id, (200, 13))
    evidence, values = exhaustive(laws.Commutative(), mutant, replaced(mutant)) or (None, None)
    assert evidence is not None
    assert evidence.kind is EvidenceKind.Refuted
    assert values in (((200,), (13,)), ((13,), (200,)))


@pytest.mark.parametrize("at", [(0x8000_0000, 0xFFFF_FFFF), (0x10000, 31)])
def test_a_wrong_boundary_pair_is_seen_by_witnesses(at: tuple[int, int]) -> None:
    mutant = wrong(ADD.id, at)
    evidence, values = witnessed(laws.Commutative(), mutant, replaced(mutant), cases=1000)
    assert evidence.kind is EvidenceKind.Refuted
    assert values is not None
    assert not holds(sides(laws.Commutative(), mutant)[0], CONCRETE, values, replaced(mutant))


def test_a_fault_on_equal_operands_is_seen_by_correlated_witnesses() -> None:
    sub = spec("primitive.math.sub")

    def cpu_fn(d: Any, a: Any, b: Any) -> Any:
        big = d.ult(d.const(0x1000_0000), a)
        return d.ite(d.and_(d.eq(a, b), big), d.const(1), d.sub(a, b))

    mutant = replace(sub, cpu_fn=cpu_fn)
    law = laws.InverseOf(ADD.id)
    assert witnessed(law, mutant, replaced(mutant), cases=1000)[0].kind is EvidenceKind.Refuted


def test_what_sampling_accepts_and_a_solver_refutes() -> None:
    """`ZeroProduct` for Mul holds on every byte pair and on random words, and is false."""
    false = laws.ZeroProduct(holds=True)
    assert found(exhaustive(false, MUL, lookup)).kind is EvidenceKind.Exhaustive
    from vyre.conform.algebra.checker import first_failure
    from vyre.conform.generate.cases import law_cases

    stream = law_cases("random", false, MUL, 1)
    assert first_failure(sides(false, MUL), stream, lookup, count=1 << 18) is None
    assert examine(false, MUL, lookup, CACHE, role="non-law").best.kind is EvidenceKind.Refuted


def test_a_law_without_variables_is_one_case() -> None:
    evidence, values = witnessed(laws.ZeroProduct(holds=False), MUL, lookup)
    assert (evidence.kind, evidence.cases, values) == (EvidenceKind.Exhaustive, 1, None)
    other = laws.ZeroProduct(holds=False, witness=(3, 5))
    assert witnessed(other, MUL, lookup)[0].kind is EvidenceKind.Refuted
    assert examine(other, MUL, lookup, CACHE, role="law").counterexample == ()


def test_tiers_are_kept_side_by_side() -> None:
    tiers = ("proved", "exhaustive", "witnessed")
    result = examine(laws.Commutative(), ADD, lookup, CACHE, role="law", tiers=tiers)
    assert [e.kind.value for e in result.evidence] == list(tiers)
    assert result.best.kind is EvidenceKind.Proved
    assert result.as_declared


@pytest.mark.slow
def test_all_inputs_of_a_unary_op_can_be_run() -> None:
    evidence, _ = exhaustive(laws.Involution(), NOT, lookup, bits=24) or (None, None)
    assert evidence is not None
    assert (str(evidence), evidence.cases) == ("exhaustive u24", 1 << 24)


def test_nothing_is_rounded_up() -> None:
    nothing = LawResult("op", "Commutative", {}, "law", "", ())
    assert str(nothing.best) == "unverified"
    assert not nothing.as_declared
    refuted = Evidence(EvidenceKind.Refuted, "u8")
    proved = Evidence(EvidenceKind.Proved, "all inputs")
    assert replace(nothing, evidence=(proved, refuted)).best is refuted


def test_the_density_that_would_have_been_met() -> None:
    assert fault_density(10**6) == pytest.approx(4.605e-6, rel=1e-3)
    assert fault_density(0) == 1.0
    assert (1 - fault_density(500)) ** 500 == pytest.approx(0.01)
