"""Every statement kind: bindings, branches, loops, scopes, early return."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.reference.reference_programs import LID, OUT, block, elements, loop, outputs, when, words
from vyre.errors import InterpreterError, StepBudgetExceeded
from vyre.ir import (
    Assign,
    BufferDecl,
    DataType,
    Expr,
    FReduce,
    InvocationId,
    Let,
    LitBool,
    LitI32,
    LitU32,
    Node,
    Program,
    ReduceOp,
    ReduceOrder,
    Return,
    Store,
    Var,
)
from vyre.reference import run
from vyre.reference.code import Place

if TYPE_CHECKING:
    from collections.abc import Sequence

U = LitU32
TOP = 0xFFFFFFFF


def one(entry: Sequence[Node]) -> int:
    return outputs(entry, count=1, size=1)[0]


def test_let_copies_the_value_of_a_variable() -> None:
    entry = [Let("a", U(1)), Let("b", Var("a")), Assign("a", U(5)), OUT.store(0, Var("a") * 10 + Var("b"))]
    assert one(entry) == 51


def test_assign_reads_the_old_value_of_its_own_variable() -> None:
    assert one([Let("a", U(3)), Assign("a", Var("a") * Var("a") + Var("a")), OUT.store(0, Var("a"))]) == 12


@pytest.mark.parametrize(
    ("condition", "result"), [(U(0), 2), (U(1), 1), (U(2), 1), (LitBool(False), 2), (LitBool(True), 1)]
)
def test_if_takes_exactly_one_branch(condition: Expr, result: int) -> None:
    assert one([when(condition, [OUT.store(0, OUT[0] + 1)], [OUT.store(0, OUT[0] + 2)])]) == result


def test_if_without_else_goes_on_after_it() -> None:
    entry = [when(LID.eq(3), [OUT.store(LID, U(9))]), OUT.store(LID, OUT[LID] + 1)]
    assert outputs(entry, count=5, size=5) == [1, 1, 1, 10, 1]


@pytest.mark.parametrize(
    ("start", "stop", "rounds"),
    [(0, 5, 5), (3, 5, 2), (5, 5, 0), (6, 5, 0), (TOP - 2, TOP, 2), (TOP, 0, 0), (TOP, TOP, 0)],
)
def test_a_loop_runs_from_start_up_to_but_without_stop(start: int, stop: int, rounds: int) -> None:
    entry = [
        Let("n", U(0)),
        loop("i", U(start), U(stop), [Assign("n", Var("n") + 1), OUT.store(1, Var("i"))]),
        OUT.store(0, Var("n")),
    ]
    last = stop - 1 if rounds else 0
    assert outputs(entry, count=2, size=1) == [rounds, last]


def test_loop_bounds_are_evaluated_once() -> None:
    entry = [
        Let("limit", U(3)),
        Let("n", U(0)),
        loop("i", Var("n"), Var("limit"), [Assign("limit", U(100)), Assign("n", Var("n") + 10)]),
        OUT.store(0, Var("n")),
    ]
    assert one(entry) == 30


def test_nested_loops_restart_the_inner_one() -> None:
    inner = loop("j", Var("i"), U(4), [Assign("n", Var("n") * 3 + Var("i") * Var("j") + 1)])
    entry = [Let("n", U(0)), loop("i", U(0), U(4), [inner]), OUT.store(0, Var("n"))]
    expected = 0
    for i in range(4):
        for j in range(i, 4):
            expected = (expected * 3 + i * j + 1) & TOP
    assert one(entry) == expected


def test_a_binding_in_a_loop_is_fresh_in_every_round() -> None:
    fresh = [Let("t", U(1)), Assign("t", Var("t") + Var("i")), Assign("n", Var("n") + Var("t"))]
    assert one([Let("n", U(0)), loop("i", U(0), U(3), fresh), OUT.store(0, Var("n"))]) == 1 + 2 + 3


def test_a_block_ends_its_bindings_and_keeps_its_effects() -> None:
    entry = [
        Let("a", U(1)),
        block([Let("b", U(2)), Assign("a", Var("a") + Var("b"))]),
        block([Let("b", U(30)), Assign("a", Var("a") + Var("b"))]),
        OUT.store(0, Var("a")),
    ]
    assert one(entry) == 33


def test_a_binding_is_gone_after_its_block() -> None:
    program = Program([OUT], (1,), [block([Let("b", U(2))]), OUT.store(0, Var("b"))])
    with pytest.raises(InterpreterError, match=r"entry\[1\]"):
        run(program, {"out": words(0)}, (1, 1, 1), check=False)


def test_return_ends_one_invocation_and_no_other() -> None:
    entry = [when(LID.eq(1), [Return()]), OUT.store(LID, U(7))]
    assert outputs(entry, count=3, size=3) == [7, 0, 7]


def test_return_leaves_every_loop_around_it() -> None:
    inner = loop(
        "j", U(0), U(9), [when((Var("i") * 9 + Var("j")).eq(12), [Return()]), OUT.store(0, OUT[0] + 1)]
    )
    assert one([loop("i", U(0), U(9), [inner]), OUT.store(0, U(99))]) == 12


def test_statements_after_a_return_never_run() -> None:
    assert one([OUT.store(0, U(1)), Return(), OUT.store(0, U(2))]) == 1


def test_ten_thousand_nested_blocks_cost_no_stack() -> None:
    node: Node = OUT.store(0, U(5))
    for _ in range(10_000):
        node = block([node])
    program = Program([OUT], (1,), [node])
    assert run(program, {"out": words(0)}, (1, 1, 1), check=False).buffers["out"] == words(5)


def test_a_place_spells_its_path_from_the_entry() -> None:
    assert str(Place("then[0]", Place("body[1]", Place("entry[2]")))) == "entry[2].body[1].then[0]"


@pytest.mark.parametrize(
    "entry",
    [
        [Assign("a", U(1))],
        [Let("a", U(1)), Assign("a", LitI32(1))],
        [loop("i", U(0), U(2), [Assign("i", U(5))])],
        [loop("i", LitI32(0), U(2), [])],
        [when(LitI32(1), [])],
        [Store("out", LitI32(0), U(1))],
        [Store("out", U(0), LitI32(1))],
        [Store("nothing", U(0), U(1))],
        [Store("given", U(0), U(1))],
    ],
)
def test_a_statement_without_a_meaning_is_refused_with_its_place(entry: Sequence[Node]) -> None:
    given = BufferDecl.read("given", 1, DataType.U32)
    program = Program([OUT, given], (1,), entry)
    with pytest.raises(InterpreterError, match=r"entry\[\d\].*Fix:"):
        run(program, {"out": words(0), "given": words(0)}, (1, 1, 1), check=False)


def test_an_invalid_program_is_refused_before_it_runs() -> None:
    from vyre.errors import ValidationError

    with pytest.raises(ValidationError):
        run(Program([OUT], (1,), [Assign("a", U(1))]), {"out": words(0)}, (1, 1, 1))


def test_the_step_budget_stops_a_long_loop_and_names_itself() -> None:
    entry = [loop("i", U(0), U(TOP), [OUT.store(0, Var("i"))])]
    with pytest.raises(StepBudgetExceeded, match=r"1000 steps.*step_budget"):
        run(Program([OUT], (1,), entry), {"out": words(0)}, (1, 1, 1), step_budget=1_000)


def test_the_step_budget_counts_the_elements_of_a_reduction() -> None:
    floats = BufferDecl.read("floats", 1, DataType.F32)
    out = BufferDecl.read_write("out", 0, DataType.F32, count=1)
    whole = FReduce(ReduceOrder.Strict, ReduceOp.Add, "floats", U(0), U(100_000))
    program = Program([out, floats], (1,), [out.store(0, whole)])
    assert run(program, {"floats": b""}, (1, 1, 1)).steps > 100_000
    with pytest.raises(StepBudgetExceeded, match="step budget"):
        run(program, {"floats": b""}, (1, 1, 1), step_budget=99_999)


def test_a_dispatch_with_more_invocations_than_steps_is_refused_at_once() -> None:
    with pytest.raises(StepBudgetExceeded, match="invocations"):
        run(Program([OUT], (64,), []), {"out": words(0)}, (1 << 26, 1 << 16, 1))


def test_steps_do_not_depend_on_the_schedule() -> None:
    from vyre.reference import all_schedules

    entry = [loop("i", U(0), LID + 2, [OUT.store(InvocationId(0), OUT[InvocationId(0)] + Var("i"))])]
    program = Program([OUT], (4,), entry)
    results = [run(program, {"out": bytes(32)}, (2, 1, 1), schedule=s) for s in all_schedules()]
    assert len({r.steps for r in results}) == 1
    assert run(program, {"out": bytes(32)}, (2, 1, 1), step_budget=results[0].steps).steps == results[0].steps
    with pytest.raises(StepBudgetExceeded):
        run(program, {"out": bytes(32)}, (2, 1, 1), step_budget=results[0].steps - 1)


def test_no_workgroups_change_nothing() -> None:
    program = Program([OUT], (4,), [OUT.store(0, U(1))])
    for groups in [(0, 1, 1), (1, 0, 1), (1, 1, 0)]:
        assert elements(run(program, {"out": words(8)}, groups).buffers["out"]) == [8]
