"""What the parser accepts beyond what the printer writes, and where statements came from."""

from __future__ import annotations

import pytest

from vyre.compose import Category
from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.operators import UnaryOp
from vyre.ir.program import Program
from vyre.text import parse_expr, parse_op, parse_program

A, B, C = e.Var("a"), e.Var("b"), e.Var("c")


@pytest.mark.parametrize(
    ("text", "expr"),
    [
        ("a + b * c", A + B * C),
        ("a * b + c", A * B + C),
        ("a - b - c", (A - B) - C),
        ("a << b + c", A << (B + C)),
        ("a & b == c", (A & B).eq(C)),
        ("a | b ^ c & a << b", A | (B ^ (C & (A << B)))),
        ("a < b && b < c || c", (A < B).and_(B < C).or_(C)),
        ("a || b && c", A.or_(B.and_(C))),
        ("-a * b", (-A) * B),
        ("!a == b", e.UnOp(UnaryOp.LogicalNot, A).eq(B)),
        ("~-a", ~-A),
        ("-a.1", -e.Lane(A, 1)),
        ("- 5i", e.UnOp(UnaryOp.Negate, e.LitI32(5))),
        ("a -5i", A - e.LitI32(5)),
        ("a--5i", A - e.LitI32(-5)),
        ("((((a))))", A),
        ("0x_ff", e.LitU32(255)),
        ("0XFF", e.LitU32(255)),
        ("1_000", e.LitU32(1000)),
        ("u64(5)", e.u64(5)),
        ("invocation.0", e.InvocationId(0)),
        ("`a`", A),
        ("`\\u{61}`", A),
        ("len", e.Var("len")),
        ("popcount", e.Var("popcount")),
        ("x1.1", e.Lane(e.Var("x1"), 1)),
        ("a /* b */ + // c\n b", A + B),
        ("call let.if(a)", e.Call("let.if", (A,))),
        ("a<b", A < B),
        ("a>>b>c", (A >> B) > C),
        ("\ufeff a", A),
    ],
)
def test_expressions_mean_what_they_look_like(text: str, expr: e.Expr) -> None:
    assert parse_expr(text) is expr


def test_layout_carries_no_meaning() -> None:
    tidy = parse_program(
        "vyre 1\nworkgroup 8 1 1\nbuffer b: readwrite U32 @0\nentry {\n  let x = a\n  b[x] = 1\n"
        "  if x {\n    barrier\n  } else {\n    if a {\n      return\n    }\n  }\n}\n"
    )
    dense = parse_program(
        "vyre 1 workgroup 8 buffer b:readwrite U32@0 entry{let x=a;b[x]=1;;if x{barrier}else if a{return}}"
    )
    airy = parse_program(
        "// head\nvyre\n1 workgroup 8\n1 buffer b : readwrite U32 @ 0 entry\n{ let x\n=\na b[x]\n=\n1\n"
        "if x /* yes */ { barrier }\r\nelse\nif a { return ; } else { } }  // end"
    )
    assert tidy == dense == airy
    assert tidy.entry[2] == n.If(e.Var("x"), (n.Barrier(),), (n.If(A, (n.Return(),)),))


def test_a_chain_of_else_if_nests_to_the_right() -> None:
    program = parse_program(
        "vyre 1 workgroup 1 entry {"
        "if a { } else if b { return } else if c { barrier } else { return } barrier }"
    )
    last = n.If(C, (n.Barrier(),), (n.Return(),))
    assert program.entry == (n.If(A, (), (n.If(B, (n.Return(),), (last,)),)), n.Barrier())


def test_statements_know_where_they_came_from() -> None:
    text = "vyre 1\nworkgroup 1\nentry {\n  let x = 1\n  if x { return } else if a {\n    b[0] = 1 }\n}\n"
    program = parse_program(text, file="k.vyre")
    assert {path: str(place) for path, place in program.locations.items()} == {
        "entry[0]": "k.vyre:4:3",
        "entry[1]": "k.vyre:5:3",
        "entry[1].then[0]": "k.vyre:5:10",
        "entry[1].orelse[0]": "k.vyre:5:24",
        "entry[1].orelse[0].then[0]": "k.vyre:6:5",
    }
    assert program.locations["entry[0]"].text == "  let x = 1"


def test_programs_that_cannot_be_valid_are_still_read() -> None:
    program = parse_program(
        "vyre 1 workgroup 0 -1 4294967296\n"
        "buffer a: readonly U32 buffer a: workgroup F16[-5] @-1 entry { x := y }"
    )
    assert program.workgroup_size == (0, -1, 1 << 32)
    assert [(b.name, b.binding, b.count) for b in program.buffers] == [("a", None, 0), ("a", -1, -5)]


def test_program_methods_use_the_text_form() -> None:
    program = Program([], (4, 2), [n.Let("x", A + 1)])
    assert Program.from_text(program.to_text()) == program
    assert str(program) == program.to_text()


def test_an_op_on_one_line() -> None:
    op = parse_op("op acme.mix(a: U32, b: U32,) -> U32 { let t = a ^ b; => t * 3; }")
    assert op.id == "acme.mix"
    assert op.category is Category.A
    assert op.body == (n.Let("t", A ^ B),)
    assert op.result is e.Var("t") * 3
