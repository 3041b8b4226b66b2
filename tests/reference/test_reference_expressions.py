"""Every expression kind has its meaning, evaluated once per place, left to right."""

from __future__ import annotations

import random

import pytest

from tests.reference.reference_programs import OUT, evaluate, words
from vyre.compose import Op, Param, Registry
from vyre.errors import InterpreterError
from vyre.ir import (
    Approx,
    ApproxOp,
    Atomic,
    AtomicOp,
    BinaryOp,
    BinOp,
    BufferDecl,
    BufLen,
    Call,
    Cast,
    Convert,
    DataType,
    Expr,
    FMulAdd,
    FReduce,
    FReduceApprox,
    InvocationId,
    Lane,
    Let,
    LitBool,
    Literal,
    LitI32,
    LitU32,
    Load,
    LocalId,
    MakeVec,
    Program,
    ReduceOp,
    ReduceOrder,
    RoundMode,
    Select,
    UnaryOp,
    UnOp,
    Var,
    WorkgroupId,
)
from vyre.ir.expr import EXPR_KINDS, f32
from vyre.ir.operators import INTEGER_BINARY_OPS, INTEGER_UNARY_OPS
from vyre.reference import integers, run
from vyre.reference.compile import MAX_CODE_NODES, compile_program

T = DataType
ONE, TWO, THREE = 0x3F800000, 0x40000000, 0x40400000
FLOATS = BufferDecl.read("floats", 1, T.F32)
COUNTER = BufferDecl.read_write("counter", 2, T.U32, count=1)

CASES: list[tuple[Expr, DataType, int]] = [
    (LitU32(5), T.U32, 5),
    (LitI32(-1), T.I32, 0xFFFFFFFF),
    (LitBool(True), T.Bool, 1),
    (Literal(T.U128, 1 << 100), T.U128, 1 << 100),
    (Var("x"), T.U32, 11),
    (Load("floats", LitU32(1)), T.F32, TWO),
    (BufLen("floats"), T.U32, 3),
    (InvocationId(2), T.U32, 0),
    (WorkgroupId(1), T.U32, 0),
    (LocalId(0), T.U32, 0),
    (BinOp(BinaryOp.Sub, LitU32(2), LitU32(3)), T.U32, 0xFFFFFFFF),
    (BinOp(BinaryOp.FAdd, f32(1.0), f32(2.0)), T.F32, THREE),
    (BinOp(BinaryOp.FLt, f32(1.0), f32(2.0)), T.U32, 1),
    (UnOp(UnaryOp.Clz, LitU32(1)), T.U32, 31),
    (UnOp(UnaryOp.FNeg, f32(1.0)), T.F32, 0xBF800000),
    (Select(LitBool(False), LitU32(1), LitU32(2)), T.U32, 2),
    (Select(LitU32(7), LitU32(1), LitU32(2)), T.U32, 1),
    (Cast(T.U32, f32(1.0)), T.U32, ONE),
    (Convert(T.U32, RoundMode.Truncate, f32(2.9)), T.U32, 2),
    (Convert(T.I32, RoundMode.Floor, f32(-2.5)), T.I32, 0xFFFFFFFD),
    (Convert(T.F32, RoundMode.Nearest, LitI32(-2)), T.F32, 0xC0000000),
    (Lane(Literal(T.U64, 0x00000009_00000008), 1), T.U32, 9),
    (
        MakeVec(T.Vec4U32, (LitU32(1), LitU32(2), LitU32(3), LitU32(4))),
        T.Vec4U32,
        0x4_00000003_00000002_00000001,
    ),
    (FMulAdd(f32(1.0), f32(2.0), f32(1.0)), T.F32, THREE),
    (Atomic(AtomicOp.Add, "counter", LitU32(0), LitU32(4)), T.U32, 100),
    (FReduce(ReduceOrder.Strict, ReduceOp.Add, "floats", LitU32(0), LitU32(2)), T.F32, THREE),
    (FReduce(ReduceOrder.TreeBinary, ReduceOp.Max, "floats", LitU32(0), LitU32(3)), T.F32, THREE),
    (FReduceApprox(ReduceOp.Add, "floats", LitU32(0), LitU32(2), 1), T.F32, THREE),
    (Approx(ApproxOp.FExpApprox, f32(0.0), 4), T.F32, ONE),
]


@pytest.mark.parametrize(("expr", "kind", "bits"), CASES)
def test_expression_kinds(expr: Expr, kind: DataType, bits: int) -> None:
    data = {"floats": words(ONE, TWO, THREE), "counter": words(100)}
    lets = [Let("x", LitU32(11))]
    assert evaluate(expr, kind, lets=lets, inputs=[FLOATS, COUNTER], buffers=data) == bits


def test_every_expression_kind_has_a_case() -> None:
    assert {type(expr) for expr, _, _ in CASES} == set(EXPR_KINDS) - {Call}


def test_a_call_runs_its_op() -> None:
    twice = Op("test.twice", (Param("a", T.U32),), T.U32, Var("a") + Var("a"))
    program = Program([OUT], (1,), [OUT.store(0, Call("test.twice", (LitU32(21),)))])
    result = run(program, {"out": words(0)}, (1, 1, 1), registry=Registry([twice]))
    assert result.buffers["out"] == words(42)


def test_a_call_that_was_not_inlined_is_refused() -> None:
    program = Program([OUT], (1,), [OUT.store(0, Call("test.twice", (LitU32(21),)))])
    with pytest.raises(InterpreterError, match=r"entry\[0\].*Call"):
        compile_program(program, {"out": 1})


def _bump() -> Atomic:
    return Atomic(AtomicOp.Add, "counter", LitU32(0), LitU32(1))


def test_operands_are_evaluated_left_to_right() -> None:
    ordered = _bump() * 100 + _bump() * 10 + _bump()
    assert evaluate(ordered, inputs=[COUNTER]) == 0 * 100 + 1 * 10 + 2


def test_one_expression_object_in_two_places_is_evaluated_in_both() -> None:
    bump = _bump()
    assert evaluate(bump * 10 + bump, inputs=[COUNTER]) == 1


@pytest.mark.parametrize(
    "expr",
    [
        Select(LitU32(0), _bump(), _bump()),
        LitU32(0).and_(_bump()) + _bump(),
        LitU32(1).or_(_bump()) + _bump(),
    ],
)
def test_select_and_logic_evaluate_all_operands(expr: Expr) -> None:
    entry = [Let("unused", expr)]
    assert evaluate(Load("counter", LitU32(0)), lets=entry, inputs=[COUNTER]) == 2


def test_store_evaluates_its_index_before_its_value() -> None:
    out = BufferDecl.read_write("out", 0, T.U32, count=2)
    program = Program([out, COUNTER], (1,), [out.store(_bump(), _bump() + 10)])
    assert run(program, {}, (1, 1, 1)).buffers["out"] == words(11, 0)


def test_atomic_operands_run_in_the_order_index_value_expected() -> None:
    cells = BufferDecl.read_write("cells", 3, T.U32, count=4)
    swap = Atomic(AtomicOp.CompareExchange, "cells", _bump(), _bump() + 50, _bump())
    out = BufferDecl.read_write("out", 0, T.U32, count=1)
    program = Program([out, COUNTER, cells], (1,), [out.store(0, swap)])
    result = run(program, {"cells": words(2, 2, 2, 2)}, (1, 1, 1))
    assert result.buffers["cells"] == words(51, 2, 2, 2)
    assert result.buffers["out"] == words(2)


def test_a_reduction_reads_zero_beyond_the_end_and_nothing_from_an_empty_range() -> None:
    data = {"floats": words(ONE, TWO, THREE)}

    def fold(op: ReduceOp, start: int, stop: int) -> int:
        expr = FReduce(ReduceOrder.Strict, op, "floats", LitU32(start), LitU32(stop))
        return evaluate(expr, T.F32, inputs=[FLOATS], buffers=data)

    assert fold(ReduceOp.Max, 5, 9) == 0
    assert fold(ReduceOp.Min, 2, 4) == 0
    assert fold(ReduceOp.Mul, 3, 3) == ONE
    assert fold(ReduceOp.Max, 2, 1) == 0xFF800000


def test_ids_are_linear_in_workgroup_and_place() -> None:
    out = BufferDecl.read_write("out", 0, T.Vec4U32, count=24)
    x, y, z = (InvocationId(axis) for axis in range(3))
    at = x + y * 4 + z * 12
    where = LocalId(0) + LocalId(1) * 10 + WorkgroupId(0) * 100 + WorkgroupId(2) * 1000
    program = Program([out], (2, 3, 1), [out.store(at, MakeVec(T.Vec4U32, (x, y, z, where)))])
    data = run(program, {}, (2, 1, 2)).buffers["out"]
    rows = [data[i : i + 16] for i in range(0, len(data), 16)]
    assert rows[3 + 2 * 4 + 12] == words(3, 2, 1, 1 + 20 + 100 + 1000)
    assert rows == [
        words(i % 4, i // 4 % 3, i // 12, i % 2 + i // 4 % 3 * 10 + i % 4 // 2 * 100 + i // 12 * 1000)
        for i in range(24)
    ]


def test_a_chain_at_the_depth_limit_runs_under_the_default_recursion_limit() -> None:
    left: Expr = LitU32(0)
    right: Expr = LitU32(0)
    for _ in range(1_023):
        left = left + 1
        right = 1 + right
    assert evaluate(left) == evaluate(right) == 1_023


def test_depth_beyond_every_limit_costs_no_stack() -> None:
    deep: Expr = LitU32(0)
    for _ in range(20_000):
        deep = 1 + deep
    assert evaluate(deep, check=False) == 20_000


def test_a_tree_too_large_to_expand_is_refused_by_its_size() -> None:
    doubled: Expr = LitU32(1)
    for _ in range(100):
        doubled = doubled + doubled
    with pytest.raises(InterpreterError, match=f"{MAX_CODE_NODES} nodes"):
        evaluate(doubled, check=False)


@pytest.mark.parametrize(
    "expr",
    [
        Var("nobody"),
        Load("nothing", LitU32(0)),
        BufLen("nothing"),
        InvocationId(3),
        LitU32(1) + LitI32(1),
        LitI32(1) < LitI32(2),
        Cast(T.Vec4U32, Literal(T.U64, 1)),
        Lane(LitU32(1), 0),
        Atomic(AtomicOp.Add, "floats", LitU32(0), LitU32(1)),
    ],
)
def test_what_has_no_meaning_is_refused_with_its_place(expr: Expr) -> None:
    with pytest.raises(InterpreterError, match=r"entry\[0\]"):
        evaluate(expr, inputs=[FLOATS], buffers={"floats": words(ONE)}, check=False)


def _random_tree(rng: random.Random, depth: int) -> tuple[Expr, int]:
    """An expression over two variables and a buffer, with its value by direct recursion."""
    if depth == 0 or rng.random() < 0.1:
        value = rng.choice([0, 1, 31, 0x80000000, rng.getrandbits(32)])
        return rng.choice([(LitU32(value), value), (Var("x"), 11), (Var("y"), 0xFFFFFFF0)])
    a, x = _random_tree(rng, depth - 1)
    b, y = _random_tree(rng, depth - 1)
    match rng.randrange(5):
        case 0:
            c, z = _random_tree(rng, depth - 1)
            return Select(a, b, c), y if x else z
        case 1:
            op = rng.choice(INTEGER_UNARY_OPS)
            return UnOp(op, a), integers.unary(op, x)
        case 2:
            lane = rng.randrange(2)
            return Lane(MakeVec(T.Vec2U32, (a, b)), lane), (x, y)[lane]
        case 3:
            return Cast(T.U32, Load("floats", a % 4)), [ONE, TWO, THREE, 0][x % 4]
        case _:
            op = rng.choice(INTEGER_BINARY_OPS)
            return BinOp(op, a, b), integers.binary(op, x, y)


@pytest.mark.parametrize("seed", range(60))
def test_registers_of_a_random_tree_never_collide(seed: int) -> None:
    expr, value = _random_tree(random.Random(seed), 6)
    lets = [Let("x", LitU32(11)), Let("y", Var("x") - 27)]
    data = {"floats": words(ONE, TWO, THREE)}
    program = [*lets, Let("z", Select(LitU32(1), Cast(T.U32, Cast(T.F32, expr)), Var("y")))]
    assert evaluate(Var("z"), lets=program, inputs=[FLOATS], buffers=data) == value
