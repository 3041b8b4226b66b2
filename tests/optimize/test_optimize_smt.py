"""The translation to bit-vectors says what the reference interpreter does, value by value."""

from __future__ import annotations

from random import Random

import pytest

from tests.optimize.optimize_replay import replay, type_over
from tests.optimize.optimize_solvers import ask_bitwuzla
from vyre.conform.generate.buffers import random_bits
from vyre.ir.expr import BinOp, Cast, Expr, Lane, MakeVec, Select, UnOp, Var
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import LANE_TYPES, DataType
from vyre.ir.typing import CAST_TABLE, CastRule, binary_type, unary_type
from vyre.optimize import smt
from vyre.optimize.fold import literal
from vyre.optimize.rewrite import instantiate
from vyre.reference.integers import BINARY, UNARY

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
    for t in (t for t in T if t is not T.Bytes):
        for condition in (T.U32, T.Bool):
            types = {"x": condition, "y": t, "z": t}
            found.append((f"select-{condition.value}-{t.value}", Select(x, y, z), types))
    return found


NODES = nodes()


def differs(expr: Expr, types: dict[str, DataType], rng: Random) -> bool:
    """True when the solver finds a sample on which translation and reference disagree."""
    samples = [{name: random_bits(rng, t) for name, t in types.items()} for _ in range(SAMPLES)]
    made = smt.Translation({})
    result = type_over(types, expr)
    wrong: list[str] = []
    for values in samples:
        known = {name: literal(t, values[name]) for name, t in types.items()}
        (expected,) = replay(types, values, [expr])
        wrong.append(f"(distinct {made.term(instantiate(expr, known))} (_ bv{expected} {smt.width(result)}))")
    verdict = ask_bitwuzla("\n".join([*made.lines, f"(assert (or {' '.join(wrong)}))"]), 20_000)
    assert verdict is not None
    return not verdict.proved


def test_every_operation_means_what_the_reference_says() -> None:
    rng = Random("translation")
    assert [name for name, expr, types in NODES if differs(expr, types, rng)] == []


@pytest.mark.parametrize(
    ("table", "op", "broken", "expr"),
    [
        ("_PLAIN", BinaryOp.Sub, "bvadd", x - y),
        ("_DIVIDE", BinaryOp.Mod, "bvudiv", x % y),
        ("_COMPARE", BinaryOp.Lt, "bvslt", x < y),
        ("_SHIFT", BinaryOp.Shr, "bvashr", x >> y),
        ("_LOGIC", BinaryOp.And, "or", x.and_(y)),
    ],
)
def test_a_wrong_translation_is_noticed(
    monkeypatch: pytest.MonkeyPatch, table: str, op: BinaryOp, broken: str, expr: Expr
) -> None:
    monkeypatch.setitem(getattr(smt, table), op, broken)
    assert differs(expr, {"x": T.U32, "y": T.U32}, Random(1))


@pytest.mark.parametrize("expr", [UnOp(UnaryOp.FSqrt, x), BinOp(BinaryOp.FAdd, x, x), Cast(T.F16, x)])
def test_what_has_no_translation_is_refused(expr: Expr) -> None:
    with pytest.raises(TypeError, match="no translation"):
        smt.Translation({"x": T.F32}).term(expr)


def test_an_expression_without_a_type_is_refused() -> None:
    with pytest.raises(TypeError, match="no type"):
        smt.Translation({"x": T.U64}).term(x + x)


def test_a_shared_expression_is_translated_once() -> None:
    shared: Expr = x
    for _ in range(100):
        shared = shared + shared
    made = smt.Translation({"x": T.U32})
    made.term(shared)
    assert len(made.lines) == 101
