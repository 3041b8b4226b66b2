"""Every op that a program can call is specified, and every spec declares something or says why not."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from tests.ops.integer_formulas import FORMULAS
from tests.ops.quantised_formulas import CODES
from vyre.conform.generate.cases import cases
from vyre.conform.registry import collectives, every_own_spec, own_specs, spec
from vyre.conform.registry.lawless import Lawless, covered, declares, reason
from vyre.conform.registry.library import table
from vyre.conform.spec.compositions import CASES, is_composed
from vyre.conform.spec.op import LanesForm, OpSpec
from vyre.conform.suite.plan import make_plan
from vyre.conform.suite.units import graph_of
from vyre.conform.verify.cases import kinds
from vyre.conform.verify.stages.subgroups import STAGE as SUBGROUPS
from vyre.ops import standard_ops
from vyre.ops.intrinsics import intrinsic_ops, matrix
from vyre.reference.subgroups import exchange_of
from vyre.semantics.domain import CONCRETE
from vyre.semantics.proof_cache import ProofCache
from vyre.semantics.solvers import Answer
from vyre.semantics.terms import SmtDomain
from vyre.semantics.words import to_bits, word_count

LIBRARY = table.specs()
CONVERSIONS = [s for s in own_specs() if s.id.startswith("float.convert.")]


def test_every_op_has_a_spec_and_every_spec_says_something_or_why_not() -> None:
    specified = {s.id: s for s in every_own_spec()}
    assert len(specified) == len(every_own_spec())
    # An op of a matrix instruction is one of its several results; a stage tries the instruction as a whole.
    results = {op.id for op in matrix.ops()}
    plan = make_plan("cpu", stages=("subgroups",))
    assert results <= {SUBGROUPS.subject(k) for k in range(SUBGROUPS.count(plan))}
    for op in (*standard_ops(), *intrinsic_ops()):
        if op.id in results:
            continue
        found = specified[op.id]
        assert found.category == op.category.value
        if op.lanes == 1:
            assert found.signature == op.signature
    for found in specified.values():
        assert declares(found) != (reason(found) is not None), found.id
    assert {reason(s) for s in specified.values()} == {None, *Lawless}, "every reason is needed"


def test_the_counts_tell_of_a_spec_that_nothing_excuses() -> None:
    add, sin = spec("primitive.math.add"), spec("float.sin")
    assert covered([add]) == "1 specs, all with laws or properties."
    told = covered([add, sin])
    assert told == f"2 specs, 1 with laws or properties; without: 1 {Lawless.Function.value}."
    assert "1 for no stated reason" in covered([sin, replace(add, laws=(), properties=())])


def test_every_composition_of_the_library_has_its_row() -> None:
    composed = [op.id for op in standard_ops() if not op.id.startswith(("primitive.", "float."))]
    assert sorted(s.id for s in LIBRARY) == sorted(composed)
    assert all(map(is_composed, composed))
    assert not any(is_composed(s.id) for s in own_specs() if s not in LIBRARY and s.id not in composed)


def rows(found: OpSpec, count: int) -> list[tuple[int, ...]]:
    chosen: list[tuple[int, ...]] = []
    for kind in ("boundary", "equivalence", "random"):
        stream = cases(kind, found, 5)
        length = min(stream.length or count, 1 << 16)
        chosen += [stream.case(k) for k in range(0, length, max(1, length // count))]
    return chosen


@pytest.mark.parametrize("found", LIBRARY, ids=lambda s: s.id)
def test_a_definition_of_the_library_agrees_with_its_formula(found: OpSpec) -> None:
    formula = (FORMULAS | CODES)[found.id]
    for words in rows(found, 60):
        operands: list[int] = []
        at = 0
        for of in found.signature.inputs:
            operands.append(to_bits(words[at : at + word_count(of)]))
            at += word_count(of)
        wanted = formula(*operands) % (1 << found.signature.output.bits)
        assert found.evaluate(*operands) == (wanted,), operands


def test_compositions_have_fewer_cases() -> None:
    plan = make_plan("cpu", ops=["integer.min", "wide.u64.add", "primitive.math.add"])
    counts = {op: {k.name: k.count for k in kinds(graph_of(op), plan)} for op in plan.ops}
    assert counts["integer.min"]["random"] == counts["wide.u64.add"]["random"] == CASES
    assert counts["primitive.math.add"]["random"] == plan.cases
    assert "u8x3" in counts["primitive.math.add"]
    assert "u8x3" not in counts["integer.min"]


@pytest.mark.parametrize("found", collectives(), ids=lambda s: s.id)
def test_an_exchange_agrees_with_the_reference(found: OpSpec) -> None:
    assert isinstance(found.form, LanesForm)
    width, exchange = found.form.width, exchange_of(found.hardware)
    assert exchange is not None
    rng = Random(found.id)
    for _ in range(8):
        words = [rng.choice((0, 1, rng.randrange(40), rng.getrandbits(32))) for _ in range(found.words)]
        lanes = [tuple(words[k::width]) for k in range(width)]
        assert list(found.evaluate(*words)) == exchange(lanes)


@pytest.mark.parametrize("found", CONVERSIONS, ids=lambda s: s.id)
def test_the_theory_of_conversions_is_the_oracle(found: OpSpec) -> None:
    """What solvers are told a conversion is, against results that do not come from them."""
    d = SmtDomain()
    wrong: list[str] = []
    stream = cases("boundary", found, 3)
    length = stream.length or 0
    for k in range(0, length, max(1, length // 40)):
        words = stream.case(k)
        (given,) = found.apply(d, *(d.const(w) for w in words))
        (wanted,) = found.apply(CONCRETE, *words)
        wrong += [f"(distinct {g.name} {d.const(w).name})" for g, w in zip(given, wanted, strict=True)]
    assert ProofCache(None).solve(d.query(f"(or {' '.join(wrong)})")).answer is Answer.Unsat
