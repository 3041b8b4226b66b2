"""The shared limits, and text or programs made to break a parser."""

from __future__ import annotations

import sys

import pytest

from vyre.compose import Op
from vyre.errors import ParseError, PrintError
from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.limits import MAX_EXPR_DEPTH, MAX_NESTING, MAX_NODES
from vyre.ir.operators import BinaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.text import parse_expr, parse_op, parse_program, print_expr, print_op, print_program

X = e.Var("x")
HEAD = "vyre 1\nworkgroup 1\nentry {\n"


def chain(depth: int, shape: str) -> e.Expr:
    expr: e.Expr = X
    for _ in range(depth - 1):
        match shape:
            case "left":
                expr = expr + X
            case "right":
                expr = X - expr
            case "prefix":
                expr = -expr
            case "lane":
                expr = e.Lane(expr, 0)
            case "call":
                expr = e.Call("a.b", (expr,))
            case "mixed":
                expr = (e.Lane(expr, 1), -expr, X * expr)[expr.depth % 3]
            case _:
                expr = e.Load("b", expr)
    return expr


@pytest.mark.parametrize("shape", ["left", "right", "prefix", "lane", "call", "mixed", "load"])
def test_the_deepest_expression_prints_and_parses(shape: str) -> None:
    assert sys.getrecursionlimit() <= 1000
    expr = chain(MAX_EXPR_DEPTH, shape)
    assert parse_expr(print_expr(expr)) is expr


@pytest.mark.parametrize("shape", ["left", "right", "prefix", "lane", "call", "load"])
def test_one_level_more_is_v034_both_ways(shape: str) -> None:
    expr = chain(MAX_EXPR_DEPTH + 1, shape)
    with pytest.raises(PrintError, match="V034"):
        print_expr(expr)
    inner = print_expr(chain(MAX_EXPR_DEPTH, shape))
    text = {
        "left": f"{inner} + x",
        "right": f"x - ({inner})",
        "prefix": f"-{inner}",
        "lane": f"{inner}.0",
        "call": f"call a.b({inner})",
        "load": f"b[{inner}]",
    }[shape]
    with pytest.raises(ParseError, match="V034"):
        parse_expr(text)


def test_v034_names_the_statement() -> None:
    deep = chain(MAX_EXPR_DEPTH + 1, "left")
    program = Program([], (1,), [n.Barrier(), n.If(X, (), (n.Let("y", deep),))])
    with pytest.raises(PrintError) as caught:
        print_program(program)
    assert caught.value.place == "entry[1].orelse[0]"
    with pytest.raises(PrintError, match="V034") as caught:
        print_op(Op("a.b", (), DataType.U32, deep))
    assert caught.value.place == "result"


def test_a_chain_of_100000_levels_is_refused_at_once() -> None:
    with pytest.raises(PrintError, match="V034"):
        print_expr(chain(100_000, "prefix"))


def test_shared_parts_are_counted_as_a_tree() -> None:
    expr: e.Expr = X
    for _ in range(100):
        expr = expr + expr
    node: n.Node = n.Barrier()
    for _ in range(60):
        node = n.Block((node, node))
    for refused in (
        lambda: print_expr(expr),
        lambda: print_program(Program([], (1,), [n.Let("y", expr)])),
        lambda: print_program(Program([], (1,), [node])),
        lambda: print_op(Op("a.b", (), DataType.U32, expr)),
    ):
        with pytest.raises(PrintError, match="V019"):
            refused()


def test_the_node_limit_is_exact() -> None:
    most = Program([], (1,), [n.Barrier()] * MAX_NODES)
    text = print_program(most)
    assert parse_program(text) == most
    with pytest.raises(PrintError, match="V019"):
        print_program(Program([], (1,), [n.Barrier()] * (MAX_NODES + 1)))
    with pytest.raises(ParseError, match="V019") as caught:
        parse_program(text[:-2] + "  barrier\n}\n")
    assert caught.value.line == MAX_NODES + 4
    wide = e.Call("a.b", (X,) * (MAX_NODES - 1))
    assert parse_expr(print_expr(wide)) is wide
    with pytest.raises(ParseError, match="V019"):
        parse_expr("-" + print_expr(wide))
    with pytest.raises(ParseError, match="V019"):
        parse_op(f"op a.b() -> U32 {{ return => {print_expr(wide)} }}")


def nested(levels: int, shape: str) -> n.Node:
    node: n.Node = n.Barrier()
    for _ in range(levels):
        match shape:
            case "block":
                node = n.Block((node,))
            case "if":
                node = n.If(X, (node,))
            case "else":
                node = n.If(X, (n.Return(),), (node,))
            case _:
                node = n.Loop("i", X, X, (node, n.Return()))
    return node


@pytest.mark.parametrize("shape", ["block", "if", "else", "loop"])
def test_the_nesting_limit_is_exact(shape: str) -> None:
    most = Program([], (1,), [nested(MAX_NESTING, shape)])
    text = print_program(most)
    assert parse_program(text) == most
    with pytest.raises(PrintError, match="V018"):
        print_program(Program([], (1,), [nested(MAX_NESTING + 1, shape)]))
    with pytest.raises(ParseError, match="V018"):
        parse_program(text.replace("barrier", "if x { barrier }"))


def test_10000_nested_blocks_are_v018() -> None:
    with pytest.raises(PrintError, match="V018"):
        print_program(Program([], (1,), [nested(10_000, "block")]))


HOSTILE = [
    "(" * 100_000,
    "-" * 100_000,
    "b[" * 100_000,
    "f(" * 100_000,
    "fadd(" * 100_000,
    "f32(" * 100_000,
    "x" + "+x" * 100_000,
    "x" + ".1" * 100_000,
    "x<" * 100_000,
    "x" * 1_000_000,
    "9" * 1_000_000,
    "0x" + "F" * 1_000_000,
    "9" * 1_000_000 + "x",
    "9" * 1_000_000 + "i",
    "f32(" + "9" * 1_000_000 + ".0)",
    "f64(1e999999999)",
    "f64(1.0e-999999999)",
    "/*" + "*" * 1_000_000,
    "/ *" * 50_000,
    "`" + "\\" * 1_000_001,
    "`" + "x" * 1_000_000,
    '"' + "\\x" * 300_000 + '"',
    "call " + "a." * 100_000,
    "call a@" * 50_000,
    "\n" * 1_000_000,
    "\0" * 1_000_000,
    "\ud800",
    "١",
    "cast<" * 100_000,
    "make<U32>(" * 30_000,
    "if x {" * 30_000,
    "if x {} else " * 30_000,
    "}" * 100_000,
    "return;" * 150_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_hostile_text_is_a_parse_error(text: str) -> None:
    """At these sizes a recursive parser overflows and a quadratic one takes minutes."""
    for whole in (text, HEAD + text, f"{HEAD}let y = {text}"):
        with pytest.raises(ParseError) as caught:
            parse_program(whole)
        assert len(str(caught.value)) < 600


def test_any_cut_of_a_program_is_a_parse_error() -> None:
    text = f"{HEAD}if a[1] < 2 {{ b[3] = f32(1.5) }} else {{ let `x y` = fma(a, -5i, c.1) }}\n}}"
    parse_program(text)
    for end in range(len(text)):
        with pytest.raises(ParseError):
            parse_program(text[:end])


def test_wide_expressions_keep_every_operand() -> None:
    expr: e.Expr = X
    for i in range(1000):
        expr = e.BinOp(BinaryOp.Add, expr, e.LitU32(i))
    assert print_expr(expr).count("+") == 1000
