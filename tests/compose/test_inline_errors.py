"""Calls that cannot be inlined are named, with a place and an action."""

from __future__ import annotations

import pytest

from tests.compose.sample_ops import REGISTRY, op
from vyre.compose import Category, Op, Param, Registry, inline, inline_op
from vyre.errors import Diagnostic, SourceLocation, ValidationError
from vyre.ir import (
    Assign,
    Barrier,
    DataType,
    Expr,
    If,
    InvocationId,
    Let,
    LitU32,
    Load,
    Node,
    Program,
    Return,
    Store,
    Var,
)
from vyre.ir.expr import call

U32 = DataType.U32
A = Var("a")


def diagnostics(expr: Expr, *ops: Op) -> tuple[Diagnostic, ...]:
    with pytest.raises(ValidationError) as caught:
        inline(Program([], (1,), [Let("r", expr)]), REGISTRY.extend(ops))
    return caught.value.diagnostics


def test_an_unknown_op_asks_to_be_registered() -> None:
    (found,) = diagnostics(call("primitive.bitwise.xor", A, A))
    assert (found.code, found.path) == ("V016", "entry[0].value")
    assert found.fix == "register an Op with id primitive.bitwise.xor before lowering."


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_wrong_number_of_arguments_names_the_right_one(count: int) -> None:
    (found,) = diagnostics(call("t.xor", *[A] * count))
    assert found.code == "V027"
    assert found.fix == "pass 2 arguments to t.xor."


def test_a_hardware_op_cannot_be_inlined() -> None:
    hardware = Op("t.rcp", (Param("x", U32),), U32, None, category=Category.C)
    assert [d.code for d in diagnostics(call("t.rcp", A), hardware)] == ["V020"]


def test_a_composition_without_a_result_cannot_be_inlined() -> None:
    empty = Op("t.empty", (), U32, None)
    assert [d.code for d in diagnostics(call("t.empty"), empty)] == ["V029"]


def test_recursion_is_refused_with_the_circle() -> None:
    ping = op("t.ping", "x", call("t.pong", Var("x")))
    pong = op("t.pong", "x", call("t.ping", Var("x")))
    (found,) = diagnostics(call("t.ping", A), ping, pong)
    assert found.code == "V017"
    assert "t.ping calls t.pong calls t.ping" in found.message
    assert "Loop" in found.fix


def test_an_op_that_calls_itself_is_refused_by_inline_op_too() -> None:
    with pytest.raises(ValidationError, match="V017"):
        inline_op(op("t.self", "x", call("t.self", Var("x"))), REGISTRY)


def chain(levels: int) -> list[Op]:
    first = op("t.level1", "x", Var("x") + 1)
    return [first, *(op(f"t.level{k}", "x", call(f"t.level{k - 1}", Var("x"))) for k in range(2, levels + 1))]


def test_calls_nest_32_levels_and_no_more() -> None:
    program = Program([], (1,), [Let("r", call("t.level32", A))])
    assert inline(program, Registry(chain(32))).entry == (Let("r", A + 1),)
    (found,) = diagnostics(call("t.level33", A), *chain(33))
    assert found.code == "V017"


def test_a_chain_of_thousands_of_ops_is_refused_without_recursion() -> None:
    assert [d.code for d in diagnostics(call("t.level5000", A), *chain(5000))] == ["V017"]


def test_a_fault_inside_a_callee_is_reported_at_the_call() -> None:
    outer = op("t.outer", "x", call("t.inner", Var("x")))
    inner = op("t.inner", "x", call("t.missing", Var("x")))
    (found,) = diagnostics(call("t.outer", A), outer, inner)
    assert (found.code, found.path) == ("V016", "entry[0].value")
    assert "inside t.inner" in found.message


@pytest.mark.parametrize("expr", [Load("buffer", LitU32(0)), InvocationId(0)])
def test_an_op_sees_no_buffer_and_no_invocation(expr: Expr) -> None:
    (found,) = diagnostics(call("t.peek", A), op("t.peek", "x", Var("x") + expr))
    assert found.code == "V031"
    assert found.fix == "expose the required value as an argument or compose at Program level."


@pytest.mark.parametrize("node", [Store("o", LitU32(0), LitU32(1)), Barrier(), Return()])
def test_an_op_has_no_statement_of_a_program(node: Node) -> None:
    nested = If(Var("x"), (node,))
    assert [d.code for d in diagnostics(call("t.act", A), op("t.act", "x", Var("x"), nested))] == ["V038"]


@pytest.mark.parametrize(
    "definition",
    [op("t.free", "x", Var("a")), op("t.free", "x", Var("x"), Assign("a", Var("x")))],
)
def test_an_op_cannot_capture_a_variable_of_its_caller(definition: Op) -> None:
    assert [d.code for d in diagnostics(call("t.free", A), definition)] == ["V006"]


def test_all_faults_come_at_once_with_their_source_locations() -> None:
    entry = [If(call("t.gone"), (Let("r", call("t.xor", A)),)), Let("s", call("t.gone"))]
    location = SourceLocation("kernel.py", 3, 5)
    program = Program([], (1,), entry, locations={"entry[0].then[0]": location})
    with pytest.raises(ValidationError) as caught:
        inline(program, REGISTRY)
    found = caught.value.diagnostics
    places = ["entry[0].condition", "entry[0].then[0].value", "entry[1].value"]
    assert [d.code for d in found] == ["V016", "V027", "V016"]
    assert [d.path for d in found] == places
    assert [d.location for d in found] == [None, location, None]


def test_a_program_beyond_the_node_limit_is_refused_before_it_is_expanded() -> None:
    expr: Expr = call("t.none")
    for _ in range(100):
        expr = expr + expr
    assert [d.code for d in diagnostics(expr)] == ["V019"]


def doubling(*body: Node) -> Registry:
    first = op("t.d0", "x", Var("temp") if body else Var("x") + 1, *body)
    chained = [op(f"t.d{k}", "x", call(f"t.d{k - 1}", call(f"t.d{k - 1}", Var("x")))) for k in range(1, 31)]
    return Registry([first, *chained])


@pytest.mark.parametrize("body", [(), (Let("temp", Var("x") + 1),)])
def test_ops_that_double_at_each_level_meet_a_bound(body: tuple[Node, ...]) -> None:
    registry = doubling(*body)
    with pytest.raises(ValidationError, match="expand to more than") as caught:
        inline(Program([], (1,), (Let("r", call("t.d30", A)),)), registry)
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [("V043", "entry[0].value")]
    assert inline(Program([], (1,), (Let("r", call("t.d9", A)),)), registry).size > 2**9


def test_many_calls_of_a_large_op_meet_the_same_bound() -> None:
    expr: Expr = call("t.d12", A)
    for _ in range(10):
        expr = expr + expr
    with pytest.raises(ValidationError, match="the calls of the program expand to more than"):
        inline(Program([], (1,), (Let("r", expr),)), doubling())
