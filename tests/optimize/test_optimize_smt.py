"""The translation to bit-vectors says what the reference interpreter does, value by value."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.optimize.optimize_replay import replay, type_over
from tests.optimize.optimize_solvers import decide
from vyre.conform.generate.buffers import random_bits
from vyre.errors import OpError
from vyre.ir.expr import BinOp, Cast, Expr, Lane, MakeVec, Select, UnOp, Var
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import LANE_TYPES, VALUE_TYPES, DataType
from vyre.ir.typing import CAST_TABLE, CastRule, binary_type, unary_type
from vyre.optimize.fold import literal
from vyre.optimize.rewrite import instantiate
from vyre.reference.integers import BINARY, UNARY
from vyre.semantics import operators, spellings
from vyre.semantics.solvers import Answer
from vyre.semantics.translate import Translation
from vyre.semantics.words import word_count

if TYPE_CHECKING:
    from vyre.semantics.evaluate import Definition
    from vyre.semantics.terms import SmtDomain

SAMPLES = 24
x, y, z, w = Var("x"), Var("y"), Var("z"), Var("w")
T = DataType
WORDS = (T.U32, T.I32, T.Bool)


def nodes() -> list[tuple[str, Expr, dict[str, DataType]]]:
    """One expression for every operation and choice of types that the translation must know."""
    found: list[tuple[str, Expr, dict[str, DataType]]] = []
    for t in WORDS:
        found += [
            (f"{op.value}-{t.value}", BinOp(op, x, y), {"x": t, "y": t})
            for op in BINARY
            if binary_type(op, t, t)
        ]
        found += [(f"{op.value}-{t.value}", UnOp(op, x), {"x": t}) for op in UNARY if unary_type(op, t)]
    for (source, target), how in CAST_TABLE.items():
        if how not in (CastRule.Widen, CastRule.Round) and source is not T.Bytes:
            found.append((f"{source.value}-to-{target.value}", Cast(target, x), {"x": source}))
    for t in sorted(LANE_TYPES, key=lambda t: t.value):
        found += [(f"lane-{i}-{t.value}", Lane(x, i), {"x": t}) for i in range(t.lanes)]
        lanes = (x, y, z, w)[: t.lanes]
        found.append((f"make-{t.value}", MakeVec(t, lanes), {v.name: T.U32 for v in lanes}))
    for t in VALUE_TYPES:
        for condition in (T.U32, T.Bool):
            types = {"x": condition, "y": t, "z": t}
            found.append((f"select-{condition.value}-{t.value}", Select(x, y, z), types))
    return found


NODES = nodes()


def differs(expr: Expr, types: dict[str, DataType], rng: Random) -> bool:
    """True when the solver finds a sample on which translation and reference disagree."""
    samples = [{name: random_bits(rng, t) for name, t in types.items()} for _ in range(SAMPLES)]
    made = Translation({})
    bits = 32 * word_count(type_over(types, expr))
    wrong: list[str] = []
    for values in samples:
        known = {name: literal(t, values[name]) for name, t in types.items()}
        (expected,) = replay(types, values, [expr])
        wrong.append(f"(distinct {made.term(instantiate(expr, known))} (_ bv{expected} {bits}))")
    found = decide("\n".join([*made.lines, f"(assert (or {' '.join(wrong)}))"]))
    return found.answer is Answer.Sat


def test_every_operation_means_what_the_reference_says() -> None:
    rng = Random("translation")
    assert [name for name, expr, types in NODES if differs(expr, types, rng)] == []


@pytest.mark.parametrize(
    ("op", "broken", "expr"),
    [
        (BinaryOp.Sub, operators.add, x - y),
        (BinaryOp.Mod, operators.div, x % y),
        (BinaryOp.Lt, operators.gt, x < y),
        (BinaryOp.Shr, operators.shl, x >> y),
        (BinaryOp.And, operators.logical_or, x.and_(y)),
    ],
)
def test_a_wrong_definition_is_noticed(
    monkeypatch: pytest.MonkeyPatch, op: BinaryOp, broken: Definition, expr: Expr
) -> None:
    monkeypatch.setitem(operators.BINARY, op, broken)
    assert differs(expr, {"x": T.U32, "y": T.U32}, Random(1))


@pytest.mark.parametrize("definition", spellings.DIRECT, ids=lambda d: d.__name__)
def test_a_wrong_spelling_is_noticed(monkeypatch: pytest.MonkeyPatch, definition: Definition) -> None:
    def wrong(d: SmtDomain, *operands: Any) -> Any:
        return operands[-1]

    expr = {
        **{known: BinOp(op, x, y) for op, known in operators.BINARY.items()},
        **{known: UnOp(op, x) for op, known in operators.UNARY.items()},
        operators.select: Select(x, y, z),
    }[definition]
    monkeypatch.setitem(spellings.DIRECT, definition, wrong)
    assert differs(expr, {"x": T.U32, "y": T.U32, "z": T.U32}, Random(1))


@pytest.mark.parametrize("expr", [UnOp(UnaryOp.FSqrt, x), BinOp(BinaryOp.FAdd, x, x), Cast(T.F16, x)])
def test_what_has_no_translation_is_refused(expr: Expr) -> None:
    with pytest.raises(OpError, match="no meaning"):
        Translation({"x": T.F32}).term(expr)


def test_an_expression_without_a_type_is_refused() -> None:
    with pytest.raises(OpError, match="no type"):
        Translation({"x": T.U64}).term(x + x)


def test_a_shared_expression_is_translated_once() -> None:
    shared: Expr = x
    for _ in range(100):
        shared = shared + shared
    made = Translation({"x": T.U32})
    made.term(shared)
    assert len(made.lines) == 101
