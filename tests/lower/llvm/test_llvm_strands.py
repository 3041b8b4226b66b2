"""Several elements an invocation: which statements part, which loops are one, what keeps them together."""

from __future__ import annotations

import re

import pytest

from tests.lower.llvm.llvm_programs import I, function, program, source_of
from vyre.engines import elementwise
from vyre.ir import (
    Assign,
    BufLen,
    DataType,
    Expr,
    If,
    InvocationId,
    Let,
    LitU32,
    Load,
    LocalId,
    Loop,
    Node,
    Return,
    Store,
    UnaryOp,
    UnOp,
    Var,
    WorkgroupId,
)
from vyre.lower.llvm import emit
from vyre.lower.llvm.affine import Ranges
from vyre.lower.llvm.regions import RegionPlan, Repeat, Run, plan_regions
from vyre.lower.llvm.strands import plan_strands
from vyre.lower.prepare import prepare

WIDTH = 64
G, L = WorkgroupId(0), LocalId(0)
AT = Var("i")
NINE = LitU32(9)
HEAD = Let("i", G * 256 + L)
PLACES: list[Expr] = [AT + k * WIDTH for k in range(4)]


def plan(*entry: Node, width: int = WIDTH) -> RegionPlan:
    prepared = prepare(program(entry, size=(width,)))
    return plan_strands(plan_regions(prepared), Ranges(prepared, flat=False))


def copies(*entry: Node, width: int = WIDTH) -> list[int]:
    """How many strands each loop over the invocations does."""
    items = plan(*entry, width=width).items
    return [item.copies for item in items if isinstance(item, Run)]


def each(value: Expr, *more: Node) -> list[Node]:
    """`out[i] = a[i] + value` for four elements."""
    return [HEAD, *(Store("out", at, Load("a", at) + value) for at in PLACES), *more]


def test_equal_elements_are_one_loop() -> None:
    assert copies(*each(LitU32(1))) == [4]


def test_loads_before_all_stores_and_conditions_with_lengths_are_no_obstacle() -> None:
    loads = [Let(f"x{k}", Load("a", at)) for k, at in enumerate(PLACES)]
    stores = [Store("out", at, Var(f"x{k}") * 3) for k, at in enumerate(PLACES)]
    inside = (PLACES[3] < BufLen("out")).and_(BufLen("a") > PLACES[3])
    at_the_end = Loop("k", LitU32(0), LitU32(4), (Store("out", AT + Var("k"), LitU32(0)),))
    assert copies(HEAD, If(inside, (*loads, *stores), (at_the_end,))) == [4]
    outside = (PLACES[3] < BufLen("out")).and_(Load("a", LitU32(3)))
    assert copies(HEAD, If(outside, (*loads, *stores))) == [1], "the condition is not known"


@pytest.mark.parametrize(
    "value", [L, InvocationId(0), AT, Load("b", L), Load("b", G * 64 + (L & 7))], ids=repr
)
def test_a_position_that_is_used_otherwise_keeps_elements_apart(value: Expr) -> None:
    assert copies(*each(value)) in ([1], [1, 1, 1, 1])


@pytest.mark.parametrize(
    "value", [G, WorkgroupId(1), Load("b", G), Load("b", LitU32(3)), BufLen("b")], ids=repr
)
def test_what_is_the_same_for_the_workgroup_does_not(value: Expr) -> None:
    assert copies(*each(value)) == [4]


def test_different_elements_are_loops_of_their_own() -> None:
    stores = [Store("out", at, Load("a", at) + k) for k, at in enumerate(PLACES)]
    assert copies(HEAD, *stores) == [1, 1, 1, 1]
    assert copies(HEAD, *stores, width=16) == [1], "too short to be worth several loops"


def test_places_that_may_be_the_same_stay_together() -> None:
    assert copies(HEAD, Store("out", AT, LitU32(1)), Store("out", AT + 63, LitU32(2))) == [1]
    assert copies(HEAD, Store("out", AT, LitU32(1)), Store("out", AT + 64, LitU32(2))) == [1, 1]
    assert copies(HEAD, Store("out", AT, LitU32(1)), Store("out", G + L + 999, LitU32(2))) == [1]
    assert copies(HEAD, Store("out", AT, LitU32(1)), Store("b", AT + 64, Load("out", Load("a", AT)))) == [1]


def test_a_long_stretch_reaches_beyond_its_neighbour() -> None:
    wide, inner, far = AT + L * 3, AT + 10, AT + 200
    stores = [Store("out", at, LitU32(k)) for k, at in enumerate((wide, inner, far))]
    assert copies(HEAD, *stores) == [1]


def test_a_variable_keeps_its_users_together() -> None:
    entry = [HEAD, Let("x", Load("b", AT)), *(Store("out", at, Var("x") + k) for k, at in enumerate(PLACES))]
    assert copies(*entry) == [1]
    assigned: list[Node] = [HEAD, Let("x", LitU32(0))]
    for at in PLACES:
        assigned += [Assign("x", Var("x") + 1), Store("out", at, Var("x"))]
    assert copies(*assigned) == [1]


def test_an_invocation_that_may_end_is_not_divided() -> None:
    leave = If(Load("a", AT) > 3, (Return(),))
    assert copies(HEAD, leave, *each(LitU32(1))[1:]) == [1]


def loop(index: Expr, *more: Node, stop: Expr = NINE) -> RegionPlan:
    body = (Let("at", index), Store("out", Var("at"), Load("a", Var("at"))), *more)
    return plan(Loop("k", LitU32(0), stop, body))


def test_a_loop_whose_steps_are_apart_is_the_workgroups() -> None:
    for step in (64, 70):
        (item,) = loop(G * 900 + Var("k") * step + L).items
        assert isinstance(item, Repeat), step
        assert [type(x) for x in item.body] == [Run]


@pytest.mark.parametrize(
    ("index", "more"),
    [
        (G * 900 + Var("k") * 63 + L, ()),
        (I * 9 + Var("k"), ()),
        (G * 900 + L, ()),
        (G * 900 + Var("k") * 64 + L, (Store("out", G * 900 + L, LitU32(1)),)),
        (G * 900 + Var("k") * 64 + L, (Store("out", Load("b", Var("at")), LitU32(1)),)),
        (G * 900 + Var("k") * 64 + L, (Store("out", G * 901 + Var("k") * 64 + L, LitU32(1)),)),
    ],
    ids=["overlap", "neighbours", "same", "first step again", "anywhere", "other workgroups"],
)
def test_other_loops_stay_inside(index: Expr, more: tuple[Node, ...]) -> None:
    (item,) = loop(index, *more).items
    assert isinstance(item, Run)


def test_a_loop_of_unknown_length_stays_inside() -> None:
    (item,) = loop(G * 900 + Var("k") * 64 + L, stop=BufLen("b")).items
    assert isinstance(item, Run)


def test_the_fast_version_of_an_elementwise_program_is_that_of_one_element() -> None:
    def tripled(value: Expr) -> Expr:
        return value * 3

    made = elementwise(tripled, DataType.U32, output=DataType.U32, lanes=256, items=4)
    fast = function(emit(prepare(made)).text, "workgroups_in_range")
    assert fast.count("= load i32") == fast.count("store i32") == 1
    assert re.findall(r"icmp \w+ \w+ (\S+) (\S+)", fast) == [
        ("%first,", "%last"),
        ("%at_x.next,", "1024"),
        ("%group.next,", "%last"),
    ]


def test_functions_are_copied_into_the_rolled_loop_alone() -> None:
    def power(value: Expr) -> Expr:
        return UnOp(UnaryOp.FExp, value)

    for items, calls in ((1, 0), (4, 5)):
        made = elementwise(power, DataType.F32, output=DataType.F32, items=items)
        text = emit(prepare(made)).text
        assert len(re.findall(r"= call .*\) #2", text)) == calls, "four elements, and the loop at the end"
        assert len(re.findall(r"= call .*\) #2", text.partition("_in_range(")[2])) == 0


@pytest.mark.parametrize(
    ("width", "index", "unit"),
    [
        (64, I, "invocations"),
        (64, I * 4 + 1, "invocations"),
        (64, G * 256 + L, "workgroups"),
        (64, G, "workgroups"),
        (64, L, "workgroups"),
        (4, G * 256 + L, "invocations"),
        (1, G, "invocations"),
    ],
    ids=repr,
)
def test_workgroups_are_walked_where_they_are_wide_and_jump(width: int, index: Expr, unit: str) -> None:
    text = source_of([Store("out", index, LitU32(1))], size=(width,)).text
    assert f"@{unit}_guarded" in text


def test_a_workgroup_of_one_is_its_invocation() -> None:
    text = source_of([Store("out", G * 2, Load("a", G))], size=(1,)).text
    assert "icmp ult i32" not in function(text, "invocations_in_range")
