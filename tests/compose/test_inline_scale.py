"""Inlining is linear and never recurses: counted in nodes, not in seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.compose.sample_ops import REGISTRY, op
from vyre.compose import Registry, inline
from vyre.compose.plan import InlinePlan
from vyre.ir import Block, Call, Expr, Let, LitU32, Load, Node, Program, Var
from vyre.ir.expr import call
from vyre.ir.limits import MAX_EXPR_DEPTH
from vyre.ir.walk import expressions

if TYPE_CHECKING:
    from collections.abc import Callable


def program(*entry: Node) -> Program:
    return Program([], (1,), entry)


def no_calls(result: Program) -> bool:
    return not any(isinstance(x, Call) for x in expressions(result.entry))


@pytest.mark.parametrize("calls", [100, 10_000])
def test_the_size_of_the_result_grows_with_the_number_of_calls(calls: int) -> None:
    entry = [Let(f"r{k}", call("t.local", Load("a", LitU32(k)))) for k in range(calls)]
    result = inline(program(*entry), REGISTRY)
    assert no_calls(result)
    assert len(result.entry) == 3 * calls
    assert result.size == 11 * calls


def test_each_op_is_expanded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Expr] = []
    original = InlinePlan.__init__

    def counting(self: InlinePlan, body: tuple[Node, ...], result: Expr) -> None:
        made.append(result)
        original(self, body, result)

    monkeypatch.setattr(InlinePlan, "__init__", counting)
    registry = Registry(list(REGISTRY))
    entry = [Let(f"r{k}", call("t.deeper", LitU32(k), LitU32(1))) for k in range(50)]
    inline(program(*entry), registry)
    inline(program(*entry), registry)
    assert len(made) == 7


def test_a_parameter_used_twice_at_every_level_does_not_double_the_program() -> None:
    expr: Expr = Load("a", LitU32(0))
    for _ in range(1_000):
        expr = call("t.twice", expr)
    assert inline(program(Let("r", expr)), REGISTRY).size < 10_000


def test_a_parameter_used_twice_by_ops_that_call_ops_does_not_double_them() -> None:
    ops = [op("t.d0", "x", Var("x") + Var("x"))]
    ops += [op(f"t.d{k}", "x", call(f"t.d{k - 1}", Var("x") + Var("x"))) for k in range(1, 30)]
    assert inline(program(Let("r", call("t.d29", Var("a")))), Registry(ops)).size < 1_000


@pytest.mark.parametrize("op_id", ["t.xor", "t.late", "t.swapped"])
def test_chains_of_calls_far_beyond_any_stack_stay_within_the_depth_limit(op_id: str) -> None:
    expr: Expr = Load("a", LitU32(0))
    for k in range(20_000):
        expr = call(op_id, expr, LitU32(k))
    result = inline(program(Let("r", expr)), REGISTRY)
    assert no_calls(result)
    assert max(x.depth for node in result.entry for x in node.exprs) <= MAX_EXPR_DEPTH


def xor_call(left: Expr, right: Expr) -> Expr:
    return call("t.xor", left, right)


def xor_operator(left: Expr, right: Expr) -> Expr:
    return left ^ right


@pytest.mark.parametrize("join", [xor_call, xor_operator])
def test_splitting_a_deep_expression_keeps_the_order_of_loads(join: Callable[[Expr, Expr], Expr]) -> None:
    expr: Expr = call("t.xor", Load("b", LitU32(0)), LitU32(1))
    for k in range(3 * MAX_EXPR_DEPTH):
        expr = join(Load("a", LitU32(k)), expr)
    result = inline(program(Let("r", expr)), REGISTRY)
    assert max(x.depth for node in result.entry for x in node.exprs) <= MAX_EXPR_DEPTH
    loads: list[int] = []
    for node in result.entry:
        stack = list(reversed(node.exprs))
        while stack:
            found = stack.pop()
            if isinstance(found, Load) and found.buffer == "a" and isinstance(found.index, LitU32):
                loads.append(found.index.value)
            stack.extend(reversed(found.children))
    assert loads == list(reversed(range(3 * MAX_EXPR_DEPTH)))


def test_ten_thousand_nested_blocks() -> None:
    node: Node = Let("r", call("t.local", Var("a")))
    for _ in range(10_000):
        node = Block((node,))
    result = inline(program(node), REGISTRY)
    assert result.entry[0].size == 10_000 + 4 + 4


def test_shared_statements_without_calls_cost_nothing() -> None:
    node: Node = Let("r", LitU32(1))
    for _ in range(100):
        node = Block((node, node))
    shared = program(node)
    assert inline(shared, REGISTRY) is shared


def test_shared_call_free_operands_are_not_walked_as_trees() -> None:
    expr: Expr = Load("a", LitU32(0))
    for _ in range(14):
        expr = expr + expr
    result = inline(program(Let("r", expr + call("t.none"))), REGISTRY)
    assert result.entry == (Let("r", expr + LitU32(7)),)
