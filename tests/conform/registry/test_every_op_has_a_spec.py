"""Every op that a program can call is specified, and every spec declares something or says why not."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.ops.integer_formulas import FORMULAS
from tests.ops.quantised_formulas import CODES
from vyre.conform.generate.cases import cases
from vyre.conform.registry import collectives, every_own_spec, own_specs, replaced, spec
from vyre.conform.registry.lawless import Lawless, covered, declares, reason
from vyre.conform.registry.library import table
from vyre.conform.spec.compositions import CASES, is_composed
from vyre.conform.spec.evaluate import holds
from vyre.conform.spec.op import LanesForm, OpSpec, as_tuple
from vyre.conform.spec.sides import sides
from vyre.conform.spec.term import variables
from vyre.conform.suite.plan import make_plan
from vyre.conform.suite.units import graph_of
from vyre.conform.verify.cases import kinds
from vyre.ir.types import DataType
from vyre.ops import standard_ops
from vyre.ops.intrinsics import intrinsic_ops
from vyre.reference import run
from vyre.reference.subgroups import exchange_of
from vyre.semantics.domain import CONCRETE
from vyre.semantics.proof_cache import ProofCache
from vyre.semantics.solvers import Answer
from vyre.semantics.terms import SmtDomain
from vyre.semantics.words import to_bits, to_words, word_count
from vyre.validate import validate

LIBRARY = table.specs()
MATRICES = [s for s in collectives() if s.id.startswith("intrinsic.mma_")]
CONVERSIONS = [s for s in own_specs() if s.id.startswith("float.convert.")]


def test_every_op_has_a_spec_and_every_spec_says_something_or_why_not() -> None:
    specified = {s.id: s for s in every_own_spec()}
    assert len(specified) == len(every_own_spec())
    for op in (*standard_ops(), *intrinsic_ops()):
        found = specified[op.id]
        assert found.category == op.category.value
        types = tuple(t for t in op.signature.inputs for _ in range(op.lanes))
        assert (found.signature.inputs, found.outputs) == (types, (op.output,) * op.lanes)
    for found in specified.values():
        assert declares(found) != (reason(found) is not None), found.id
    assert {reason(s) for s in specified.values()} == {None, *Lawless}, "every reason is needed"


def test_the_counts_tell_of_a_spec_that_nothing_excuses() -> None:
    add, sin = spec("primitive.math.add"), spec("float.sin")
    assert covered([add]) == "1 spec, all with laws or properties."
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
        bits = [_drawn(rng, of) for of in found.signature.inputs]
        lanes = [tuple(bits[k::width]) for k in range(width)]
        assert list(found.evaluate(*bits)) == exchange(lanes)


def _drawn(rng: Random, of: DataType) -> int:
    """Any bits; of doubles mostly numbers whose products add up, in which an order shows."""
    if of is DataType.F64 and rng.randrange(8):
        return (rng.choice((0, 1)) << 63) | (rng.randrange(1015, 1031) << 52) | rng.getrandbits(52)
    return rng.choice((0, 1, rng.randrange(40), rng.getrandbits(of.bits)))


@pytest.mark.parametrize("found", MATRICES, ids=lambda s: s.id)
def test_the_twin_of_a_matrix_instruction_is_its_definition(found: OpSpec) -> None:
    assert isinstance(found.form, LanesForm)
    width, twin = found.form.width, found.form.twin
    assert twin is not None
    assert validate(twin) == []
    rng = Random(found.id)
    bits = [_drawn(rng, of) for of in found.signature.inputs]
    stride = found.signature.output.stride
    data = b"".join(value.to_bytes(stride, "little") for k in range(width) for value in bits[k::width])
    made = run(twin, {"data": data, "out": bytes(width * stride)}, (1, 1, 1)).buffers["out"]
    results = [int.from_bytes(made[k : k + stride], "little") for k in range(0, len(made), stride)]
    assert results == list(found.evaluate(*bits))


@pytest.mark.parametrize("found", [MATRICES[0], MATRICES[-2], MATRICES[-1]], ids=lambda s: s.id)
def test_the_laws_of_a_matrix_instruction_see_another_row_and_another_sum(found: OpSpec) -> None:
    def turned(d: Any, *words: Any) -> Any:
        return found.cpu_fn(d, *words[2:], *words[:2])

    def changed(d: Any, *words: Any) -> Any:
        first, *rest = as_tuple(found.cpu_fn(d, *words))
        return (d.xor(first, d.const(1)), *rest)

    rng = Random(found.id)
    for law in found.properties:
        equations = sides(law, found)
        drawn = [to_words(v.type, _drawn(rng, v.type)) for v in variables(equations)]
        values = [list(words) for words in drawn]
        assert all(holds(e, CONCRETE, values, spec) for e in equations)
        for wrong in (turned, changed):
            look = replaced(replace(found, cpu_fn=wrong))
            assert not all(holds(e, CONCRETE, values, look) for e in equations), law


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
