"""Ops: their bodies, their results, who calls whom, and where the errors are reported."""

from __future__ import annotations

import pytest

from vyre.compose import Category, Op, Param, Registry, default_registry
from vyre.ir import AtomicOp, DataType, Expr, LitU32, Program, ReduceOp, ReduceOrder, Var
from vyre.ir import expr as e
from vyre.ir.buffers import BufferDecl
from vyre.ir.limits import MAX_CALL_DEPTH
from vyre.ir.node import Assign, Barrier, Let, Loop, Return, Store
from vyre.text import parse_op, parse_program
from vyre.validate import validate, validate_op

U32 = DataType.U32
X = (Param("x", U32),)


def chain(levels: int) -> Registry:
    """`levels` ops, each of which calls the next."""
    ops = [Op(f"acme.level{i}", X, U32, e.call(f"acme.level{i + 1}", Var("x"))) for i in range(levels - 1)]
    return Registry([*ops, Op(f"acme.level{levels - 1}", X, U32, Var("x"))])


def calling(*calls: e.Expr) -> Program:
    out = BufferDecl.read_write("out", 0, U32)
    return Program([out], (1, 1, 1), [out.store(i, call) for i, call in enumerate(calls)])


def codes(op: Op, registry: Registry | None = None) -> list[str]:
    return [d.code for d in validate_op(op, registry=registry)]


def test_thirty_two_levels_are_allowed_and_no_more() -> None:
    program = calling(e.call("acme.level0", 1))
    assert validate(program, registry=chain(MAX_CALL_DEPTH)) == []
    found = validate(program, registry=chain(MAX_CALL_DEPTH + 1))
    assert [(d.code, d.path) for d in found] == [("V017", "entry[0].value")]
    assert validate(calling(e.call("acme.level1", 1)), registry=chain(MAX_CALL_DEPTH + 1)) == []


def test_an_op_counts_its_own_level() -> None:
    registry = chain(MAX_CALL_DEPTH)
    assert codes(Op("acme.top", X, U32, e.call("acme.level0", Var("x"))), registry) == ["V017"]
    assert codes(Op("acme.top", X, U32, e.call("acme.level1", Var("x"))), registry) == []


def test_a_very_long_chain_takes_no_stack() -> None:
    found = validate(calling(e.call("acme.level0", 1)), registry=chain(5_000))
    assert [d.code for d in found] == ["V017"]


def test_recursion_is_reported_once_where_the_circle_closes() -> None:
    ops = [
        Op("acme.a", X, U32, e.call("acme.b", Var("x"))),
        Op("acme.b", X, U32, e.call("acme.c", Var("x")) + e.call("acme.d", Var("x"))),
        Op("acme.c", X, U32, e.call("acme.a", Var("x"))),
        Op("acme.d", X, U32, Var("x")),
    ]
    program = calling(e.call("acme.a", 1), e.call("acme.d", 1), e.call("acme.c", 1))
    found = validate(program, registry=Registry(ops))
    assert [(d.code, d.path) for d in found] == [("V017", "ops[acme.c].result")]
    assert "acme.a -> acme.b -> acme.c -> acme.a" in found[0].message


def test_an_op_that_calls_itself_is_recursive_before_it_is_registered() -> None:
    assert codes(Op("acme.loop", X, U32, e.call("acme.loop", Var("x"))), Registry()) == ["V017"]


def test_every_op_of_the_standard_library_is_valid() -> None:
    registry = default_registry()
    assert len(registry) > 30
    for op in registry:
        assert validate_op(op, registry=registry) == [], op.id


def test_a_broken_op_is_reported_once_at_the_place_of_its_first_call() -> None:
    op = Op("acme.broken", X, U32, Var("y") + 1)
    text = """\
vyre 1
workgroup 1 1 1
buffer out: readwrite U32 @0
entry {
  out[0] = 1
  out[1] = call acme.broken(1)
  out[2] = call acme.broken(2)
}
"""
    (found,) = validate(parse_program(text), registry=Registry([op]))
    assert (found.code, found.path) == ("V006", "ops[acme.broken].result.left")
    assert found.location is not None
    assert found.location.line == 6


def test_an_op_that_is_not_called_is_not_checked() -> None:
    assert validate(calling(LitU32(1)), registry=Registry([Op("acme.broken", X, U32, Var("y"))])) == []


@pytest.mark.parametrize(
    "result",
    [
        e.Load("out", LitU32(0)),
        e.BufLen("out"),
        e.InvocationId(0),
        e.LocalId(9),
        e.WorkgroupId(0),
        e.Atomic(AtomicOp.Add, "out", LitU32(0), LitU32(1)),
        e.FReduce(ReduceOrder.Strict, ReduceOp.Add, "out", LitU32(0), LitU32(1)),
        e.FReduceApprox(ReduceOp.Add, "out", LitU32(0), LitU32(1), 4),
    ],
)
def test_an_op_sees_only_its_arguments(result: Expr) -> None:
    found = validate_op(Op("acme.peek", X, U32, result), registry=Registry())
    assert [d.code for d in found] == ["V031"]
    assert found[0].fix == "expose the required value as an argument or compose at Program level."


@pytest.mark.parametrize("node", [Return(), Barrier(), Store("out", LitU32(0), LitU32(1))])
def test_kernel_statements_have_no_place_in_an_op(node: Return | Barrier | Store) -> None:
    nested = Loop("k", LitU32(0), LitU32(2), (node,))
    found = validate_op(Op("acme.act", X, U32, Var("x"), (nested,)), registry=Registry())
    assert [(d.code, d.path) for d in found] == [("V038", "ops[acme.act].body[0].body[0]")]


def test_bodies_have_scopes_and_types() -> None:
    body = (Let("y", Var("x") + 1), Assign("x", Var("y")), Let("x", LitU32(1)), Assign("y", e.f32(1.0)))
    found = validate_op(Op("acme.mix", X, U32, Var("y"), body), registry=Registry())
    assert [(d.code, d.path) for d in found] == [
        ("V008", "ops[acme.mix].body[2]"),
        ("V036", "ops[acme.mix].body[3].value"),
    ]


def test_parameters() -> None:
    params = (Param("x", U32), Param("x", U32), Param("__y", U32), Param("z", DataType.Bytes))
    found = validate_op(Op("acme.params", params, U32, Var("z") + 1), registry=Registry())
    assert [d.code for d in found] == ["V008", "V032", "V013"]


def test_a_bytes_value_may_only_be_cast_to_itself() -> None:
    op = Op("acme.raw", (Param("x", DataType.Bytes),), DataType.Bytes, e.Cast(DataType.Bytes, Var("x")))
    assert [(d.code, d.path) for d in validate_op(op, registry=Registry())] == [
        ("V013", "ops[acme.raw].params[0]"),
        ("V013", "ops[acme.raw].output"),
    ]


def test_results() -> None:
    assert codes(Op("acme.none", X, U32, None)) == ["V029"]
    assert codes(Op("acme.none", X, U32, None, category=Category.C)) == []
    assert codes(Op("acme.float", X, DataType.F32, Var("x"))) == ["V030"]
    assert codes(Op("acme.float", X, DataType.F32, Var("missing")), Registry()) == ["V006"]


def test_a_call_of_an_op_without_result_is_one_error() -> None:
    registry = Registry([Op("acme.none", X, U32, None)])
    assert [d.code for d in validate(calling(e.call("acme.none", 1)), registry=registry)] == ["V029"]


def test_the_type_of_a_call_is_the_declared_output() -> None:
    registry = Registry([Op("acme.float", X, DataType.F32, e.Cast(DataType.F32, Var("x")))])
    found = validate(calling(e.call("acme.float", 1)), registry=registry)
    assert [(d.code, d.path) for d in found] == [("V036", "entry[0].value")]


def test_calls_inside_ops_are_checked_like_calls_in_programs() -> None:
    op = parse_op(
        "op acme.calls(x: U32) -> U32 {\n  => call acme.none(x) + call primitive.math.add(x, true)\n}"
    )
    found = validate_op(op)
    assert [(d.code, d.path) for d in found] == [
        ("V016", "ops[acme.calls].result.left"),
        ("V028", "ops[acme.calls].result.right.args[1]"),
    ]
