"""What the printer writes: few parentheses, one statement a line, always the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from vyre.compose import Category, Op, Param
from vyre.errors import PrintError
from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.expr import f32
from vyre.ir.operators import UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.text import print_expr, print_op, print_program

A, B, C = e.Var("a"), e.Var("b"), e.Var("c")


def test_a_program_reads_like_this() -> None:
    a = BufferDecl.read("a", 0, DataType.U32)
    out = BufferDecl.read_write("out", 1, DataType.U32, count=1024)
    tile = BufferDecl.workgroup("tile", DataType.U32, 64, atomic=True)
    i = e.Var("i")
    program = Program(
        [a, out, tile],
        (64,),
        [
            n.Let("i", e.InvocationId(0)),
            n.Let("acc", e.LitU32(0)),
            n.Loop("k", e.LitU32(0), tile.length, (n.Assign("acc", e.Var("acc") + tile[e.Var("k")]),)),
            n.Barrier(),
            n.If(
                i < out.length,
                (out.store(i, a[i] ^ 5),),
                (n.If(i.eq(7), (n.Return(),), (n.Block((n.Let("let", f32(1.0)),)),)),),
            ),
            n.If(i, (), (n.Return(), n.Return())),
        ],
    )
    assert print_program(program) == (
        "vyre 1\n"
        "workgroup 64 1 1\n"
        "buffer a: readonly U32 @0\n"
        "buffer out: readwrite U32[1024] @1\n"
        "buffer tile: workgroup_atomic U32[64]\n"
        "entry {\n"
        "  let i = invocation.x\n"
        "  let acc = 0\n"
        "  for k in 0..len(tile) {\n"
        "    acc := acc + tile[k]\n"
        "  }\n"
        "  barrier\n"
        "  if i < len(out) {\n"
        "    out[i] = a[i] ^ 5\n"
        "  } else if i == 7 {\n"
        "    return\n"
        "  } else {\n"
        "    block {\n"
        "      let `let` = f32(0x3F800000 /* 1.0 */)\n"
        "    }\n"
        "  }\n"
        "  if i {\n"
        "  } else {\n"
        "    return\n"
        "    return\n"
        "  }\n"
        "}\n"
    )


def test_an_op_reads_like_this() -> None:
    body = (n.Let("t", A ^ B),)
    op = Op(
        "acme.mix",
        (Param("a", DataType.U32), Param("b", DataType.U32)),
        DataType.U32,
        e.Var("t") * 3,
        body,
        Category.C,
        'Two\n"lines".',
    )
    assert print_op(op) == (
        "op acme.mix(a: U32, b: U32) -> U32 {\n"
        "  category C\n"
        '  doc "Two\\n"\n'
        '      "\\"lines\\"."\n'
        "  let t = a ^ b\n"
        "  => t * 3\n"
        "}\n"
    )


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (A + B * C, "a + b * c"),
        ((A + B) * C, "(a + b) * c"),
        (A - B - C, "a - b - c"),
        (A - (B - C), "a - (b - c)"),
        (A << B + C, "a << b + c"),
        (A & B | C ^ A, "a & b | c ^ a"),
        ((A < B).eq(C), "(a < b) == c"),
        (A.eq(B < C), "a == (b < c)"),
        ((A < B).and_(B < C).or_(C), "a < b && b < c || c"),
        (A.and_(B.or_(C)), "a && (b || c)"),
        ((A | B) < C, "a | b < c"),
        (-(A + B), "-(a + b)"),
        (~A + B, "~a + b"),
        (e.UnOp(UnaryOp.LogicalNot, A.eq(B)), "!(a == b)"),
        (e.Lane(A + B, 1), "(a + b).1"),
        (e.Lane(e.Lane(A, 1), 2), "a.1.2"),
        (e.Lane(e.LitU32(5), 1), "(5).1"),
        (e.InvocationId(7), "invocation.7"),
        (e.Call("primitive.math.add", (A, B)), "call primitive.math.add(a, b)"),
        (e.Call("odd id", ()), "call `odd id`()"),
        (e.mul_hi(A, 3), "mul_hi(a, 3)"),
        (e.u64(5), "u64(0x0000000000000005)"),
        (e.f64(0.1), "f64(0x3FB999999999999A /* 0.1 */)"),
        (e.Literal(DataType.F16, 0xFC00), "f16(0xFC00 /* -inf */)"),
        (e.Literal(DataType.BF16, 0x7FC1), "bf16(0x7FC1 /* nan */)"),
        (e.Var("a`b\n"), "`a\\`b\\n`"),
        (e.Var("\u202ex"), "`\\u{202E}x`"),
        (e.Var("größe"), "`größe`"),
    ],
)
def test_expressions_have_only_the_parentheses_they_need(expr: e.Expr, text: str) -> None:
    assert print_expr(expr) == text


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Strange(e.Expr):
    def __post_init__(self) -> None:
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Odd(n.Node):
    def __post_init__(self) -> None:
        self._seal()


ANY: Any = object()
NO_SUCH_PROGRAMS: list[tuple[str, Program]] = [
    ("workgroup_size", Program([], (ANY,), [])),
    ("buffers[0]", Program([ANY], (1,), [])),
    ("buffers[0]", Program([BufferDecl(ANY, 0, BufferAccess.ReadOnly, DataType.U32)], (1,), [])),
    ("buffers[0]", Program([BufferDecl("a", ANY, BufferAccess.ReadOnly, DataType.U32)], (1,), [])),
    ("buffers[0]", Program([BufferDecl("a", 0, ANY, DataType.U32)], (1,), [])),
    ("buffers[0]", Program([BufferDecl("a", 0, BufferAccess.ReadOnly, ANY)], (1,), [])),
    ("buffers[0]", Program([BufferDecl("a", 0, BufferAccess.ReadOnly, DataType.U32, ANY)], (1,), [])),
    ("entry[1]", Program([], (1,), [n.Barrier(), ANY])),
    ("entry[1].then[0]", Program([], (1,), [n.Barrier(), n.If(A, (n.Let(ANY, A),))])),
    ("entry[0].body[0]", Program([], (1,), [n.Block((n.Assign(ANY, A),))])),
    ("entry[0]", Program([], (1,), [n.Store(ANY, A, A)])),
    ("entry[0]", Program([], (1,), [n.Loop(ANY, A, A, ())])),
    ("entry[0]", Program([], (1,), [n.Let("x", Strange())])),
    ("entry[0]", Program([], (1,), [Odd()])),
]


@pytest.mark.parametrize(("place", "program"), NO_SUCH_PROGRAMS)
def test_what_the_language_does_not_have_is_refused_with_its_place(place: str, program: Program) -> None:
    with pytest.raises(PrintError) as caught:
        print_program(program)
    assert caught.value.place == place
    assert "Fix: " in str(caught.value)


def test_an_op_with_such_a_statement_is_refused_too() -> None:
    with pytest.raises(PrintError) as caught:
        print_op(Op("a.b", (), DataType.U32, None, (n.Let(ANY, A),)))
    assert caught.value.place == "body[0]"
