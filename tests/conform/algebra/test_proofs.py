"""Everything declared is proved, every proof can fail, and the page says what was shown."""

from __future__ import annotations

import runpy
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from vyre.conform.algebra.checker import examine
from vyre.conform.algebra.evidence import EvidenceKind
from vyre.conform.algebra.listing import results
from vyre.conform.algebra.proof import obligation, prove, prove_equations
from vyre.conform.registry import collectives, lookup, primitives, replaced, spec, specs
from vyre.conform.spec import law as laws
from vyre.conform.spec.evaluate import evaluate, holds
from vyre.conform.spec.op import as_tuple
from vyre.conform.spec.sides import sides
from vyre.conform.spec.term import Apply, Equation, Variable, subterms, variables
from vyre.errors import VyreError
from vyre.semantics.domain import CONCRETE
from vyre.semantics.proof_cache import ProofCache
from vyre.semantics.solvers import Attempt
from vyre.semantics.words import fit, mask_of, word_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vyre.conform.algebra.evidence import CheckedLaw
    from vyre.conform.spec.op import OpSpec
    from vyre.semantics.solvers import Solved

ROOT = Path(__file__).parents[3]
CACHE = ProofCache(None)


@pytest.fixture(scope="module")
def everything() -> list[CheckedLaw]:
    return list(results((*specs(), *collectives()), cache=ProofCache(None)))


@pytest.mark.slow
def test_every_law_and_property_is_proved_and_every_non_law_refuted(everything: list[CheckedLaw]) -> None:
    for result in everything:
        wanted = EvidenceKind.Refuted if result.role == "non-law" else EvidenceKind.Proved
        assert result.best.kind is wanted, (result.op, result.law)
        assert result.as_declared
        assert (result.counterexample is not None) == (result.role == "non-law")
        assert result.best.solver
        assert result.best.version
    roles = [r.role for r in everything]
    floats = [r for r in everything if r.op.startswith("float.")]
    assert roles.count("law") - sum(r.role == "law" for r in floats) == 271
    assert roles.count("property") >= 785
    assert [sum(r.role == role for r in floats) for role in ("law", "non-law")] == [96, 99]


@pytest.mark.slow
def test_the_page_has_not_drifted(everything: list[CheckedLaw]) -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "make_docs_laws.py"))
    page = tool["render"](everything)
    assert (ROOT / "docs" / "laws.md").read_text(encoding="utf-8") == page
    changed = [replace(everything[0], law="Associative"), *everything[1:]]
    assert tool["render"](changed) != page


POINTS = (
    (0x1234_5678, 0x0000_0021, 0x8000_0001, 7, 9),
    (0x21, 0x1234_5678, 0x1234_5678, 1, 2),
    (5, 5, 5, 5, 5),
    (1, 0, 1, 0, 1),
    (0x7F00_1234, 0x7F00_1233, 0x7F00_1232, 3, 4),
)


def applied(law: laws.AlgebraicLaw, op: OpSpec) -> Iterator[tuple[int, ...]]:
    """The operand words at which a law's left sides and right sides apply the op, for a few values."""
    equations = sides(law, op)
    found = variables(equations)
    for point in POINTS:
        words = iter((*point, *point))
        values = [
            tuple(fit(CONCRETE, next(words), mask_of(v.type)) for _ in range(word_count(v.type)))
            for v in found
        ]
        for equation in equations:
            for term in equation.terms:
                for inner in subterms(term):
                    if isinstance(inner, Apply) and inner.op == op.id:
                        yield tuple(w for arg in inner.args for w in evaluate(arg, CONCRETE, values, lookup))


def wrong_at(op: OpSpec, point: tuple[int, ...], flip: int) -> OpSpec:
    """The op with every result word flipped at one input out of all."""

    def cpu_fn(d: Any, *words: Any) -> Any:
        right = as_tuple(op.cpu_fn(d, *words))
        here = d.const(1)
        for word, at in zip(words, point, strict=True):
            here = d.and_(here, d.eq(word, d.const(at)))
        return tuple(d.ite(here, d.xor(w, d.const(flip)), w) for w in right)

    return replace(op, cpu_fn=cpu_fn)


def shifted(op: OpSpec, change: Callable[[Any, Any, Any, Any], Any]) -> OpSpec:
    """The op with every result word changed, by the word and the first and last operand words."""

    def cpu_fn(d: Any, *words: Any) -> Any:
        return tuple(change(d, w, words[0], words[-1]) for w in as_tuple(op.cpu_fn(d, *words)))

    return replace(op, cpu_fn=cpu_fn)


def last_flipped(op: OpSpec) -> OpSpec:
    """The op with the last result word flipped and the others as they were."""

    def cpu_fn(d: Any, *words: Any) -> Any:
        *others, last = as_tuple(op.cpu_fn(d, *words))
        return (*others, d.not_(last))

    return replace(op, cpu_fn=cpu_fn)


CHANGES: tuple[Callable[[Any, Any, Any, Any], Any], ...] = (
    lambda d, w, a, z: d.xor(w, d.const(0x8000_0000)),
    lambda d, w, a, z: d.xor(w, d.const(1)),
    lambda d, w, a, z: d.add(w, d.and_(a, d.const(1))),
    lambda d, w, a, z: d.ite(d.eq(a, d.const(6)), d.const(0x8000_0005), w),
    lambda d, w, a, z: d.ite(d.ult(d.const(0x7FFF_FFFF), a), d.add(w, d.const(1)), w),
    lambda d, w, a, z: d.xor(w, d.shr(z, d.const(5))),
    lambda d, w, a, z: d.const(0xBAD),
)


class Quick(ProofCache):
    """Mutants are refuted at once or passed over for the next."""

    def solve(self, text: str, *, attempts: Sequence[Attempt] | None = None) -> Solved:
        return super().solve(text, attempts=(Attempt("bitwuzla", work=7_000), Attempt("z3", work=2_000_000)))


FLOATS = {
    *(f"float.f16.{name}" for name in ("add", "mul", "div", "neg", "abs", "floor", "min", "eq", "lt")),
    *(s.id for s in specs() if s.id.startswith("float.convert.") and "f64" not in s.id),
}
"""The others are the same definitions in wider formats, on which solvers take longer."""


def refuted(op: OpSpec, law: laws.AlgebraicLaw, mutants: Iterator[OpSpec]) -> bool:
    """Whether some mutant breaks the law, at values that replay."""
    equations = sides(law, op)
    for mutant in mutants:
        look = replaced(mutant)
        proof = prove_equations(equations, look, Quick(None))
        if proof.evidence.kind is EvidenceKind.Refuted:
            assert proof.failing is not None
            assert proof.values is not None
            assert not holds(proof.failing, CONCRETE, proof.values, look)
            return True
    return False


@pytest.mark.parametrize(
    "op",
    [
        *(s for s in specs() if not s.id.startswith("float.") or s.id in FLOATS),
        *(s for s in collectives() if s.id.startswith("intrinsic.subgroup4.")),
    ],
    ids=lambda s: s.id,
)
def test_every_proof_has_a_mutant_that_is_refuted(op: OpSpec) -> None:
    for law in (*op.laws, *op.properties, *(e.law for e in op.errata)):
        mutants = chain((shifted(op, change) for change in CHANGES), (last_flipped(op),))
        assert refuted(op, law, mutants), laws.label(law)


POINTED = [
    (s, law)
    for s in primitives()
    for law in s.laws
    if not s.id.endswith((".mul", ".mod")) and not isinstance(law, laws.DistributiveOver)
]


@pytest.mark.parametrize(("op", "law"), POINTED, ids=[f"{s.id}-{laws.label(law)}" for s, law in POINTED])
def test_one_wrong_input_refutes_the_law(op: OpSpec, law: laws.AlgebraicLaw) -> None:
    """A fault at one pair of operands out of 2^64, which no sample would meet."""
    mutants = (wrong_at(op, point, flip) for point in applied(law, op) for flip in (0x8000_0000, 1))
    assert refuted(op, law, mutants)


@pytest.mark.parametrize(
    ("op", "law", "smallest"),
    [
        ("primitive.math.sub", laws.Commutative(), (0, 1)),
        ("primitive.math.mul", laws.ZeroProduct(holds=True), (0x10000, 0x10000)),
        ("primitive.bitwise.xor", laws.DistributiveOver("primitive.bitwise.and"), None),
        ("primitive.logical.and", laws.Idempotent(), (2,)),
        ("primitive.bitwise.clz", laws.Monotone(), (0, 1)),
    ],
)
def test_a_false_law_is_refuted_at_its_smallest_operands(
    op: str, law: laws.AlgebraicLaw, smallest: tuple[int, ...] | None
) -> None:
    result = examine(law, spec(op), lookup, CACHE, role="non-law")
    assert result.best.kind is EvidenceKind.Refuted
    assert result.counterexample is not None
    assert smallest is None or result.counterexample == smallest
    values = [(bits,) for bits in result.counterexample]
    assert not all(holds(e, CONCRETE, values, lookup) for e in sides(law, spec(op)))


def test_the_term_comes_from_the_definition_itself() -> None:
    op = spec("primitive.math.add")
    equations = sides(laws.Commutative(), op)
    text = obligation(equations, lookup)
    assert "bvadd x0_0 x1_0" in text
    changed = replace(op, cpu_fn=spec("primitive.math.sub").cpu_fn)
    assert obligation(equations, replaced(changed)) != text
    assert prove(laws.Commutative(), changed, replaced(changed), CACHE).evidence.kind is EvidenceKind.Refuted


def test_a_solver_that_contradicts_plain_integers_is_reported() -> None:
    """A domain-dependent definition stands in for a wrong solver: its model does not replay."""
    op = spec("primitive.math.add")

    def two_faced(d: Any, a: Any, b: Any) -> Any:
        return d.add(a, b) if d is CONCRETE else d.sub(a, b)

    look = replaced(replace(op, cpu_fn=two_faced))
    with pytest.raises(VyreError, match="holds on plain integers"):
        prove(laws.Commutative(), op, look, CACHE)


def test_variables_must_be_numbered_without_gaps() -> None:
    equation = Equation(Variable(1), Variable(1))
    with pytest.raises(VyreError, match="gap"):
        prove_equations((equation,), lookup, CACHE)


def test_every_primitive_has_something_proved() -> None:
    assert all(s.laws or s.properties for s in primitives())
