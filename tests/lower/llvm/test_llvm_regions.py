"""Splitting at barriers: regions, uniform control, and where variables live."""

from __future__ import annotations

from tests.lower.llvm.llvm_programs import TILE, I, program
from vyre.ir import (
    Assign,
    Barrier,
    Block,
    BufLen,
    If,
    Let,
    LitU32,
    Load,
    LocalId,
    Loop,
    Node,
    Return,
    Store,
    Var,
    WorkgroupId,
)
from vyre.lower.llvm.regions import Choice, Once, RegionPlan, Repeat, Run, plan_regions
from vyre.lower.prepare import prepare

L = LocalId(0)


def plan(*entry: Node) -> RegionPlan:
    return plan_regions(prepare(program(entry, TILE)))


def store(value: int | Var = 1) -> Node:
    return Store("out", I, LitU32(value) if isinstance(value, int) else value)


def test_a_program_without_barriers_is_one_region() -> None:
    found = plan(Let("n", BufLen("a")), Let("x", Load("a", I)), store(), If(I, (Return(),)))
    assert [type(item) for item in found.items] == [Run]
    assert (found.crossing, found.derived, found.mortal) == ((), {}, False)


def test_regions_end_at_barriers_wherever_they_stand() -> None:
    inner = Block((store(2), Barrier(), store(3)))
    found = plan(store(), inner, Loop("k", LitU32(0), LitU32(2), (store(4), Barrier())), store(5))
    first, second, loop, last = found.items
    assert isinstance(first, Run)
    assert len(first.body) == 2
    assert isinstance(second, Run)
    assert isinstance(loop, Repeat)
    assert [type(item) for item in loop.body] == [Run]
    assert isinstance(last, Run)


def test_a_conditional_barrier_is_a_choice_of_the_workgroup() -> None:
    found = plan(If(WorkgroupId(0), (Barrier(), store()), (store(2),)))
    (choice,) = found.items
    assert isinstance(choice, Choice)
    assert len(choice.then) == len(choice.orelse) == 1


def test_where_variables_live() -> None:
    found = plan(
        Let("loaded", Load("out", I)),
        Let("here", Load("a", I)),
        Store("out", I, Var("here")),
        Let("local", L + 1),
        Let("uniform", Load("a", BufLen("b"))),
        Barrier(),
        store(Var("loaded")),
        store(Var("local")),
        store(Var("uniform")),
    )
    assert found.crossing == ("loaded",)
    assert set(found.derived) == {"local"}
    assert sum(isinstance(item, Once) for item in found.items) == 1


def test_what_a_derived_variable_needs_is_derived_too() -> None:
    found = plan(Let("l", L), Let("twice", Var("l") * 2), Barrier(), store(Var("twice")))
    assert set(found.derived) == {"l", "twice"}


def test_a_variable_assigned_under_a_divergent_condition_is_not_uniform() -> None:
    found = plan(
        Let("x", LitU32(1)), Barrier(), If(L > 2, (Assign("x", LitU32(2)),)), Barrier(), store(Var("x"))
    )
    assert found.crossing == ("x",)
    spread = plan(
        Let("x", LitU32(1)), Let("y", L), Barrier(), Assign("x", Var("y")), Barrier(), store(Var("x"))
    )
    assert spread.crossing == ("x",)


def test_a_region_of_the_first_invocations_is_narrowed() -> None:
    found = plan(
        Let("n", BufLen("a")),
        Barrier(),
        If(LocalId(0) < Var("n"), (store(),)),
        Barrier(),
        If(L < L + 1, (store(),)),
    )
    runs = [item for item in found.items if isinstance(item, Run)]
    assert [run.below for run in runs] == [Var("n"), None]
    assert runs[0].body == (store(),)


def test_the_dead_are_marked_only_where_a_region_follows() -> None:
    leave = If(WorkgroupId(0), (Return(),))
    assert plan(store(), leave, Barrier(), store()).mortal
    assert not plan(store(), Barrier(), store()).mortal
