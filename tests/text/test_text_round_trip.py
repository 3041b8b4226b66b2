"""`parse(print(p)) == p`, for everything that can be constructed within the limits."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vyre.compose import Category, Op, Param
from vyre.errors import ParseError
from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.operators import ApproxOp, AtomicOp, BinaryOp, ReduceOp, ReduceOrder, RoundMode, UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import WIDE_LITERAL_TYPES, DataType
from vyre.ir.walk import expressions, statements
from vyre.text import parse_expr, parse_op, parse_program, print_expr, print_op, print_program

if TYPE_CHECKING:
    from enum import Enum

X, Y, Z = e.Var("x"), e.Var("y"), e.Var("z")

EVERY_FORM: list[e.Expr] = [
    *(e.BinOp(op, X, Y) for op in BinaryOp),
    *(e.UnOp(op, X) for op in UnaryOp),
    *(e.Cast(t, X) for t in DataType),
    *(e.Convert(t, mode, X) for t in DataType for mode in RoundMode),
    *(e.MakeVec(t, lanes) for t in DataType for lanes in ((), (X,), (X, Y, Z, X))),
    *(e.Literal(t, bits) for t in DataType if t in WIDE_LITERAL_TYPES for bits in (0, 1, (1 << t.bits) - 1)),
    *(e.Atomic(op, "b", X, Y) for op in AtomicOp if op is not AtomicOp.CompareExchange),
    e.Atomic(AtomicOp.CompareExchange, "b", X, Y, Z),
    *(e.FReduce(order, op, "b", X, Y) for order in ReduceOrder for op in ReduceOp),
    *(e.FReduceApprox(op, "b", X, Y, ulps) for op in ReduceOp for ulps in (1, 0xFFFF_FFFF)),
    *(e.Approx(op, X, ulps) for op in ApproxOp for ulps in (1, 0xFFFF_FFFF)),
    *(kind(axis) for kind in (e.InvocationId, e.WorkgroupId, e.LocalId) for axis in (0, 1, 2, 3, 255)),
    *(e.Lane(value, 1) for value in (X, e.LitU32(5), e.LitI32(-5), e.LitI32(5), X + Y, -X, e.Lane(X, 2))),
    *(e.LitU32(v) for v in (0, 1, 0xFFFF_FFFF)),
    *(e.LitI32(v) for v in (0, 5, -5, -(1 << 31), (1 << 31) - 1)),
    e.LitBool(True),
    e.LitBool(False),
    e.Load("b", X),
    e.BufLen("b"),
    e.Select(X, Y, Z),
    e.FMulAdd(X, Y, Z),
]


def test_arbitrary_programs_come_back_equal(programs: list[Program]) -> None:
    for program in programs:
        assert parse_program(print_program(program)) == program


def test_the_arbitrary_programs_hold_every_kind_of_everything(
    programs: list[Program], odd_names: set[str], odd_op_ids: set[str]
) -> None:
    nodes = [node for p in programs for _, node in statements(p.entry)]
    exprs = [x for p in programs for x in expressions(p.entry)]
    assert {type(x) for x in exprs} == set(e.EXPR_KINDS)
    assert {type(x) for x in nodes} == set(n.NODE_KINDS)
    assert {b.access for p in programs for b in p.buffers} == set(BufferAccess)
    assert {b.element for p in programs for b in p.buffers} == set(DataType)
    assert {x.name for x in exprs if isinstance(x, e.Var)} == odd_names
    assert {x.op_id for x in exprs if isinstance(x, e.Call)} == odd_op_ids
    for kind, ops in (
        (e.BinOp, BinaryOp),
        (e.UnOp, UnaryOp),
        (e.Atomic, AtomicOp),
        (e.FReduce, ReduceOp),
        (e.FReduceApprox, ReduceOp),
        (e.Approx, ApproxOp),
    ):
        used: set[Enum] = {x.op for x in exprs if isinstance(x, kind)}
        assert used == set(ops)


@pytest.mark.parametrize("expr", EVERY_FORM, ids=print_expr)
def test_every_form_comes_back_equal(expr: e.Expr) -> None:
    assert parse_expr(print_expr(expr)) is expr


def test_every_pair_of_forms_nests_without_loss() -> None:
    """Parentheses: each form as the operand of each operator, on either side."""
    for inner in EVERY_FORM:
        for outer in (
            *(e.BinOp(op, inner, Y) for op in BinaryOp),
            *(e.BinOp(op, X, inner) for op in BinaryOp),
            *(e.UnOp(op, inner) for op in UnaryOp),
            e.Lane(inner, 3),
            e.Load("b", inner),
        ):
            text = print_expr(outer)
            assert parse_expr(text) is outer, text


def test_negations_and_negative_literals_stay_apart() -> None:
    texts = {
        "-5": e.UnOp(UnaryOp.Negate, e.LitU32(5)),
        "-5i": e.LitI32(-5),
        "-(5i)": e.UnOp(UnaryOp.Negate, e.LitI32(5)),
        "-(-5i)": e.UnOp(UnaryOp.Negate, e.LitI32(-5)),
        "--x": e.UnOp(UnaryOp.Negate, e.UnOp(UnaryOp.Negate, X)),
        "x - -5i": X - e.LitI32(-5),
        "x - 5i": X - e.LitI32(5),
        "x - -5": X - (-e.LitU32(5)),
        "~-5i": ~e.LitI32(-5),
        "-x.1": -e.Lane(X, 1),
        "(-x).1": e.Lane(-X, 1),
        "(-5i).1": e.Lane(e.LitI32(-5), 1),
    }
    for text, expr in texts.items():
        assert print_expr(expr) == text
        assert parse_expr(text) is expr


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=())))
def test_every_string_is_a_name(name: str) -> None:
    program = Program(
        [BufferDecl.workgroup(name, DataType.U32, 1)],
        (1,),
        [
            n.Let(name, e.Call(name, (e.Var(name), e.BufLen(name)))),
            n.Loop(name, e.Load(name, X), e.Atomic(AtomicOp.Add, name, X, Y), ()),
            n.Store(name, X, e.FReduce(ReduceOrder.Strict, ReduceOp.Add, name, X, Y)),
            n.Assign(name, e.FReduceApprox(ReduceOp.Add, name, X, Y, 1)),
        ],
    )
    text = print_program(program)
    assert text.encode().decode() == text
    assert parse_program(text) == program


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=())), st.sampled_from(Category), st.booleans())
def test_ops_come_back_equal(doc: str, category: Category, has_result: bool) -> None:
    op = Op(
        "acme.let.mix@12",
        (Param("a", DataType.U32), Param("in", DataType.F32)),
        DataType.U64,
        X + Y if has_result else None,
        (n.Let("t", e.Var("a")), n.If(X, (n.Assign("t", Y),), (n.Return(),))),
        category,
        doc,
    )
    assert parse_op(print_op(op)) == op


@pytest.mark.parametrize("name", ["doc", "category"])
def test_an_op_may_begin_with_a_variable_named_like_a_heading(name: str) -> None:
    for first in (n.Assign(name, X), n.Store(name, X, Y)):
        op = Op("a.b", (), DataType.U32, None, (first,))
        assert parse_op(print_op(op)) == op


def test_a_program_without_a_workgroup_size_has_size_one() -> None:
    program = Program([], (), [])
    assert program.workgroup_size == (1, 1, 1)
    assert parse_program(print_program(program)) == program


def test_damaged_text_is_a_parse_error_or_another_program(programs: list[Program]) -> None:
    random = Random(7)
    scraps = [
        *'(){}[]<>;:=.,@-`"\\/*i5x\n ',
        "..",
        "else",
        "if ",
        "let ",
        "0x",
        "/*",
        "*/",
        "1.5",
        "\\u{",
        "=>",
    ]
    read = 0
    for _ in range(3000):
        text = print_program(random.choice(programs[:60]))
        for _ in range(random.randrange(1, 4)):
            at = random.randrange(len(text))
            text = text[:at] + random.choice(scraps) * random.randrange(2) + text[at + random.randrange(3) :]
        try:
            program = parse_program(text)
        except ParseError:
            continue
        read += 1
        assert parse_program(print_program(program)) == program
    assert read > 100
