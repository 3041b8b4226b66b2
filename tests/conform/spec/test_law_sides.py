"""Laws as equations, and equations as programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from vyre import reference
from vyre.conform.generate.cases import law_cases
from vyre.conform.registry import lookup, primitives, spec, specs
from vyre.conform.spec import law as laws
from vyre.conform.spec.evaluate import evaluate
from vyre.conform.spec.op import ExpressionForm
from vyre.conform.spec.program import OpKernel, Result, application, kernel, memory_program, stages
from vyre.conform.spec.sides import sides
from vyre.conform.spec.term import Apply, Constant, Equation, Relation, Variable, variables
from vyre.conform.spec.words import split, to_words
from vyre.errors import OpError
from vyre.semantics.arrays import NUMPY
from vyre.validate import validate

if TYPE_CHECKING:
    from vyre.conform.registry.build import Func
    from vyre.conform.spec.op import OpSpec
    from vyre.conform.spec.term import Term

ADD, AND, OR, NOT = (
    "primitive.math.add",
    "primitive.bitwise.and",
    "primitive.bitwise.or",
    "primitive.bitwise.not",
)


def said(law: laws.AlgebraicLaw, op: str) -> list[str]:
    return [str(e) for e in sides(law, spec(op))]


@pytest.mark.parametrize(
    ("law", "op", "equations"),
    [
        (laws.Commutative(), ADD, ["math.add(a, b) = math.add(b, a)"]),
        (laws.Identity(0), ADD, ["math.add(a, 0) = a", "math.add(0, a) = a"]),
        (laws.LeftIdentity(0), ADD, ["math.add(0, a) = a"]),
        (laws.RightAbsorbing(0), AND, ["bitwise.and(a, 0) = 0"]),
        (laws.SelfInverse(0), "primitive.math.sub", ["math.sub(a, a) = 0"]),
        (laws.Idempotent(), AND, ["bitwise.and(a, a) = a"]),
        (laws.Involution(), NOT, ["bitwise.not(bitwise.not(a)) = a"]),
        (
            laws.DeMorgan(AND, OR),
            NOT,
            ["bitwise.not(bitwise.and(a, b)) = bitwise.or(bitwise.not(a), bitwise.not(b))"],
        ),
        (laws.Bounded(1, 9), ADD, ["1 <= math.add(a, b)", "math.add(a, b) <= 9"]),
        (laws.Complement(laws.IDENTITY, 7), NOT, ["bitwise.not(a) = math.sub(7, a)"]),
        (laws.LatticeAbsorption(OR), AND, ["bitwise.and(a, bitwise.or(a, b)) = a"]),
        (laws.InverseOf(NOT), NOT, ["bitwise.not(bitwise.not(a)) = a"]),
        (
            laws.Monotone(),
            "primitive.math.div",
            ["compare.le(a, b) => math.div(a, c) <= math.div(b, c)"],
        ),
    ],
    ids=lambda v: laws.kind(v) if not isinstance(v, str | list) else "",
)
def test_a_law_is_its_equations(law: laws.AlgebraicLaw, op: str, equations: list[str]) -> None:
    assert said(law, op) == equations


def test_a_false_zero_product_is_its_witness() -> None:
    first, *rest = sides(laws.ZeroProduct(holds=False), spec("primitive.math.mul"))
    assert str(first) == "math.mul(0x10000, 0x10000) = 0"
    assert [e.relation for e in rest] == [Relation.Lt, Relation.Lt]
    assert variables((first, *rest)) == ()


def test_a_custom_law_builds_its_own_equation() -> None:
    def twice(f: Func, a: Term) -> Equation:
        return Equation(f(a, a), laws.ap(OR, a, a))

    assert said(laws.Custom("twice", twice), AND) == ["bitwise.and(a, a) = bitwise.or(a, a)"]


@pytest.mark.parametrize(
    ("law", "op"), [(laws.Involution(), ADD), (laws.Commutative(), NOT), (laws.Identity(0), "value.select")]
)
def test_a_law_of_another_arity_is_refused(law: laws.AlgebraicLaw, op: str) -> None:
    with pytest.raises(OpError, match="operands"):
        sides(law, spec(op))


def test_the_op_under_test_is_on_the_left_of_every_declared_law() -> None:
    for found in primitives():
        for law in found.laws:
            assert any(isinstance(e.lhs, Apply) or isinstance(e.rhs, Apply) for e in sides(law, found)), (
                laws.label(law)
            )


Columns = list[tuple[np.ndarray, ...]]


def run(made: OpKernel, values: Columns, earlier: list[dict[str, bytes]]) -> dict[str, bytes]:
    """A kernel on the reference, its buffers filled as its inputs say."""
    count = len(values[0][0]) if values else 1
    buffers: dict[str, bytes] = {}
    for need in made.inputs:
        match need.source:
            case Variable(index=index):
                buffers[need.buffer] = np.stack(values[index], axis=1).astype("<u4").tobytes()
            case Constant(bits=bits, type=of):
                # A constant read per element must be as long as a variable; a literal one is one element.
                words = np.asarray(to_words(of, bits), "<u4").tobytes()
                buffers[need.buffer] = words
            case Result(stage=stage, buffer=buffer):
                buffers[need.buffer] = earlier[stage][buffer]
    out = made.program.buffer("out")
    assert out is not None
    buffers["out"] = bytes(out.element.stride * count)
    assert validate(made.program) == []
    return reference.run(made.program, buffers, (-(-count // 64), 1, 1)).buffers


def expected(term: Term, values: Columns) -> np.ndarray:
    count = len(values[0][0]) if values else 1
    words = evaluate(term, NUMPY, values, lookup)
    return np.stack([np.broadcast_to(w, count) for w in words], axis=1)


LAWS = [(s, law) for s in primitives() for law in s.laws]


@pytest.mark.parametrize(("op", "law"), LAWS, ids=[f"{s.id}-{laws.label(law)}" for s, law in LAWS])
def test_each_side_runs_as_programs_and_over_arrays_alike(op: OpSpec, law: laws.AlgebraicLaw) -> None:
    equations = sides(law, op)
    types = [v.type for v in variables(equations)]
    values = list(split(types, law_cases("adversarial", law, op, 5).block(0, 40)))
    for equation in equations:
        for side in (equation.lhs, equation.rhs):
            if not isinstance(side, Apply):
                continue
            wanted = expected(side, values)
            whole = run(kernel(side, lookup), values, [])["out"]
            assert np.array_equal(np.frombuffer(whole, "<u4").reshape(wanted.shape), wanted)
            done: list[dict[str, bytes]] = []
            for stage in stages(side, lookup):
                done.append(run(stage, values, done))
            assert np.array_equal(np.frombuffer(done[-1]["out"], "<u4").reshape(wanted.shape), wanted)


def test_a_kernel_reads_every_use_from_a_buffer_of_its_own() -> None:
    (equation,) = sides(laws.SelfInverse(0), spec("primitive.math.sub"))
    made = kernel(equation.lhs, lookup)
    assert [i.source for i in made.inputs] == [Variable(0), Variable(0)]
    assert len({i.buffer for i in made.inputs}) == 2


def test_stages_apply_one_op_each_and_share_equal_ones() -> None:
    (equation,) = sides(laws.Involution(), spec(NOT))
    first, second = stages(equation.lhs, lookup)
    assert [i.source for i in second.inputs] == [Result(0, "out")]
    assert "len" in first.program.to_text()
    shared = Apply(ADD, (Apply(NOT, (Variable(0),)), Apply(NOT, (Variable(0),))))
    assert len(stages(shared, lookup)) == 2


@pytest.mark.parametrize("found", [s for s in specs() if s.id.startswith("atomic.")], ids=lambda s: s.id)
def test_an_atomic_changes_its_cell_and_returns_the_old_value(found: OpSpec) -> None:
    made = application(found)
    assert made.results == ("cells", "out")
    words = [np.asarray(column, np.uint32) for column in ([5, 9, 9], [7, 7, 9], [5, 4, 9])][: found.arity]
    values: Columns = [(column,) for column in words]
    got = run(made, values, [])
    for k in range(3):
        new, returned = found.evaluate(*(int(column[k]) for column in words))
        assert int.from_bytes(got["cells"][4 * k : 4 * k + 4], "little") == new
        assert int.from_bytes(got["out"][4 * k : 4 * k + 4], "little") == returned


def test_memory_ops_have_programs_of_their_own() -> None:
    load, store = spec("memory.load.u32"), spec("memory.store.u32")
    index = np.asarray([0, 2, 3, 0xFFFF_FFFF], "<u4").tobytes()
    memory = np.asarray([10, 11, 12], "<u4").tobytes()
    program = memory_program(load)
    assert validate(program) == []
    got = reference.run(program, {"index": index, "memory": memory, "out": bytes(16)}, (1, 1, 1)).buffers
    assert np.frombuffer(got["out"], "<u4").tolist() == [10, 12, 0, 0]
    value = np.asarray([1, 2, 3, 4], "<u4").tobytes()
    got = reference.run(
        memory_program(store), {"index": index, "memory": memory, "value": value}, (1, 1, 1)
    ).buffers
    assert np.frombuffer(got["memory"], "<u4").tolist() == [1, 11, 2]
    for wrong in (lambda: application(load), lambda: memory_program(spec(ADD))):
        with pytest.raises(OpError):
            wrong()


def test_an_atomic_cannot_stand_inside_an_expression() -> None:
    with pytest.raises(OpError, match="touches memory"):
        kernel(Apply("atomic.add", (Variable(0), Variable(1))), lookup)


def test_every_application_is_a_valid_program() -> None:
    for found in specs():
        if isinstance(found.form, ExpressionForm):
            assert validate(application(found).program) == [], found.id
