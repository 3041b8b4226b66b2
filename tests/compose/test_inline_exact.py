"""What inlining gives, statement by statement."""

from __future__ import annotations

import pytest

from tests.compose.sample_ops import REGISTRY, SAMPLES, op
from vyre.compose import Registry, inline, inline_op
from vyre.ir import (
    Assign,
    BinaryOp,
    BinOp,
    Block,
    Expr,
    If,
    InvocationId,
    Let,
    LitU32,
    Load,
    Loop,
    Node,
    Program,
    Return,
    Select,
    Store,
    UnaryOp,
    UnOp,
    Var,
)
from vyre.ir.expr import call

IDX, A, B = Var("idx"), Var("a"), Var("b")


def inlined(*entry: Node, registry: Registry | None = REGISTRY) -> tuple[Node, ...]:
    return inline(Program([], (1,), entry), registry).entry


def load(buffer: str, index: Expr | int = 0) -> Load:
    return Load(buffer, index if isinstance(index, Expr) else LitU32(index))


def test_xor_of_two_loads_becomes_exactly_its_operator() -> None:
    expr = call("primitive.bitwise.xor", load("left", IDX), load("right", IDX))
    expected = BinOp(BinaryOp.BitXor, load("left", IDX), load("right", IDX))
    assert inlined(Let("x", expr), registry=None) == (Let("x", expected),)


def test_popcount_of_xor_composes_into_one_expression() -> None:
    xor = call("primitive.bitwise.xor", load("a", IDX), load("b", IDX))
    expected = UnOp(UnaryOp.Popcount, BinOp(BinaryOp.BitXor, load("a", IDX), load("b", IDX)))
    node = Store("out", IDX, call("primitive.bitwise.popcount", xor))
    assert inlined(node, registry=None) == (Store("out", IDX, expected),)


def test_a_program_without_calls_is_returned_as_it_is() -> None:
    program = Program([], (1,), [Let("x", LitU32(1))])
    assert inline(program, REGISTRY) is program


def test_a_pure_argument_used_twice_is_bound_once() -> None:
    assert inlined(Let("r", call("t.twice", A + B))) == (
        Let("__call0_x", A + B),
        Let("r", Var("__call0_x") + Var("__call0_x")),
    )


@pytest.mark.parametrize("leaf", [Var("m"), LitU32(3), InvocationId(0)])
def test_a_leaf_argument_is_substituted_however_often_it_is_used(leaf: Expr) -> None:
    assert inlined(Let("r", call("t.twice", leaf))) == (Let("r", leaf + leaf),)


def test_a_load_used_twice_is_loaded_once() -> None:
    assert inlined(Let("r", call("t.twice", load("a")))) == (
        Let("__call0_x", load("a")),
        Let("r", Var("__call0_x") + Var("__call0_x")),
    )


def test_an_unused_pure_argument_vanishes_and_an_unused_load_stays() -> None:
    assert inlined(Let("r", call("t.ignored", A + B, load("a")))) == (
        Let("__call0_y", load("a")),
        Let("r", LitU32(9)),
    )


def test_an_unused_load_is_evaluated_after_the_loads_before_it() -> None:
    assert inlined(Let("r", load("a") + call("t.first", load("b"), load("c")) + load("d"))) == (
        Let("__call0_operand", load("a")),
        Let("__call1_x", load("b")),
        Let("__call1_y", load("c")),
        Let("r", Var("__call0_operand") + Var("__call1_x") + load("d")),
    )


def test_swapped_parameters_bind_only_what_would_be_overtaken() -> None:
    assert inlined(Let("r", call("t.swapped", load("a"), load("b")))) == (
        Let("__call0_x", load("a")),
        Let("r", load("b") - Var("__call0_x")),
    )


def test_swapped_pure_arguments_stay_in_place() -> None:
    assert inlined(Let("r", call("t.swapped", A + 1, B + 2))) == (Let("r", (B + 2) - (A + 1)),)


def test_an_effect_before_a_hoisted_pure_body_stays_in_place() -> None:
    assert inlined(Let("r", load("a") + call("t.local", A))) == (
        Let("__call0_temp", A + 1),
        Let("r", load("a") + Var("__call0_temp") * A),
    )


def test_effects_before_a_hoisted_effect_are_bound_in_order() -> None:
    expr = load("a", 1) + call("t.local", load("b", 2)) * load("c", 3)
    assert inlined(Let("r", expr)) == (
        Let("__call0_operand", load("a", 1)),
        Let("__call1_x", load("b", 2)),
        Let("__call1_temp", Var("__call1_x") + 1),
        Let("r", Var("__call0_operand") + Var("__call1_temp") * Var("__call1_x") * load("c", 3)),
    )


def test_a_store_evaluates_its_index_before_its_value() -> None:
    assert inlined(Store("out", load("a"), call("t.twice", load("b")))) == (
        Let("__call0_operand", load("a")),
        Let("__call1_x", load("b")),
        Store("out", Var("__call0_operand"), Var("__call1_x") + Var("__call1_x")),
    )


def test_callee_names_never_meet_those_of_the_caller_or_of_another_call() -> None:
    expr = call("t.local", Var("temp")) + call("t.local", Var("x"))
    assert inlined(Let("temp", LitU32(1)), Let("x", LitU32(2)), Let("r", expr))[2:] == (
        Let("__call0_temp", Var("temp") + 1),
        Let("__call1_temp", Var("x") + 1),
        Let("r", Var("__call0_temp") * Var("temp") + Var("__call1_temp") * Var("x")),
    )


def test_numbers_start_above_those_of_names_already_there() -> None:
    first, second = Let("__call4_temp", LitU32(0)), Let("r", call("t.local", A))
    assert inlined(first, second)[1] == Let("__call5_temp", A + 1)


def test_an_assigned_parameter_gets_a_variable_of_its_own() -> None:
    assert inlined(Let("r", call("t.assigned", A, B))) == (
        Let("__call0_x", A),
        Assign("__call0_x", Var("__call0_x") * 5),
        If(B & 1, (Assign("__call0_x", Var("__call0_x") + 1),)),
        Let("r", Var("__call0_x") + B),
    )


def test_an_argument_used_inside_a_loop_is_computed_before_it() -> None:
    found = inlined(Let("r", call("t.loop", A, A * B)))
    assert found[0] == Let("__call0_y", A * B)
    assert found[2] == Loop(
        "__call0_i",
        LitU32(0),
        A & 3,
        (
            Let("__call0_step", Var("__call0_y") * Var("__call0_i")),
            Assign("__call0_temp", Var("__call0_temp") + Var("__call0_step")),
        ),
    )


def test_calls_in_a_loop_body_stay_in_it_and_calls_in_its_bounds_leave_it() -> None:
    loop = Loop("i", call("t.twice", A + 1), call("t.local", B), (Store("o", Var("i"), call("t.local", A)),))
    assert inlined(loop) == (
        Let("__call0_x", A + 1),
        Let("__call1_temp", B + 1),
        Loop(
            "i",
            Var("__call0_x") + Var("__call0_x"),
            Var("__call1_temp") * B,
            (Let("__call2_temp", A + 1), Store("o", Var("i"), Var("__call2_temp") * A)),
        ),
    )


def test_a_call_in_a_condition_is_hoisted_before_the_if_and_branches_keep_theirs() -> None:
    branch = Store("o", LitU32(0), call("t.local", B))
    assert inlined(If(call("t.local", A), (branch,), (Return(),))) == (
        Let("__call0_temp", A + 1),
        If(
            Var("__call0_temp") * A,
            (Let("__call1_temp", B + 1), Store("o", LitU32(0), Var("__call1_temp") * B)),
            (Return(),),
        ),
    )


def test_both_arms_of_a_select_are_evaluated_in_order() -> None:
    expr = Select(load("c"), call("t.twice", load("a")), call("t.twice", load("b")))
    assert inlined(Let("r", expr)) == (
        Let("__call0_operand", load("c")),
        Let("__call1_x", load("a")),
        Let("__call2_x", load("b")),
        Let(
            "r",
            Select(
                Var("__call0_operand"),
                Var("__call1_x") + Var("__call1_x"),
                Var("__call2_x") + Var("__call2_x"),
            ),
        ),
    )


def test_one_expression_object_in_two_places_is_evaluated_in_both() -> None:
    shared = call("t.twice", load("a"))
    assert inlined(Let("r", shared + shared)) == (
        Let("__call0_x", load("a")),
        Let("__call1_x", load("a")),
        Let("r", (Var("__call0_x") + Var("__call0_x")) + (Var("__call1_x") + Var("__call1_x"))),
    )


def test_nested_calls_keep_one_number_per_call() -> None:
    outer = op("t.outer", "x", Var("temp") + call("t.local", Var("temp")), Let("temp", Var("x") * 2))
    found = inlined(Let("r", call("t.outer", A)), registry=REGISTRY.extend([outer]))
    assert found == (
        Let("__call0_temp", A * 2),
        Let("__call1_temp", Var("__call0_temp") + 1),
        Let("r", Var("__call0_temp") + Var("__call1_temp") * Var("__call0_temp")),
    )


def test_names_within_the_length_limit_stay_within_it_and_apart() -> None:
    long = "n" * 127
    body = (Let(long + "a", Var("x") * 2), Let(long + "b", Var("x") * 3))
    wide = op("t.long", "x", Var(long + "a") + Var(long + "b"), *body)
    found = inlined(Let("r", call("t.long", A)), registry=Registry([wide]))
    names = [node.name for node in found if isinstance(node, Let)]
    assert len(set(names)) == 3
    assert max(map(len, names)) <= 128


def test_blocks_are_expanded_in_place() -> None:
    assert inlined(Block((Block((Let("r", call("t.local", A)),)),))) == (
        Block((Block((Let("__call0_temp", A + 1), Let("r", Var("__call0_temp") * A))),)),
    )


def test_inline_op_expands_an_op_and_keeps_the_rest() -> None:
    nested = REGISTRY["t.nested"]
    expanded = inline_op(nested, REGISTRY)
    assert (expanded.id, expanded.params, expanded.output) == (nested.id, nested.params, nested.output)
    assert inline_op(expanded, REGISTRY) == expanded
    entry = [Let("r", call("t.nested", load("a"), load("b")))]
    again = Registry([expanded if o.id == "t.nested" else o for o in SAMPLES])
    assert inlined(*entry, registry=again) == inlined(*entry)


def test_inline_op_takes_an_op_that_is_not_registered_or_differs_from_the_registered_one() -> None:
    assert inline_op(op("t.new", "x", call("t.xor", Var("x"), LitU32(1))), REGISTRY).result == Var("x") ^ 1
    other = op("t.twice", "x", call("t.xor", Var("x"), LitU32(2)))
    assert inline_op(other, REGISTRY).result == Var("x") ^ 2
    assert inlined(Let("r", call("t.twice", A))) == (Let("r", A + A),)
