"""V044 and V045: where instructions that a subgroup executes together may stand."""

from __future__ import annotations

import pytest

from vyre.compose import BackendAvailability, Category, Op, Param, default_registry
from vyre.ir import BufferDecl, DataType, LocalId, Program
from vyre.ir.expr import Call, LitU32, Select, Var
from vyre.ir.node import Assign, If, Let, Loop, Node, Store
from vyre.text import parse_program
from vyre.validate import validate, validate_op

U32 = DataType.U32
X = (Param("x", U32),)
BALLOT = "intrinsic.subgroup8.ballot"
HEADER = """\
vyre 1
workgroup {size}
buffer ro: readonly U32 @0
buffer un: uniform U32[4] @1
buffer rw: readwrite U32 @2
entry {{
{body}
}}
"""

ACCEPTED = {
    "plain": "rw[invocation.x] = call intrinsic.subgroup8.ballot(local.x)",
    "uniform condition": "if un[0] < 3 { rw[0] = call intrinsic.subgroup8.ballot(local.x) }",
    "uniform loop": "for k in 0..ro[2] { rw[k] = call intrinsic.subgroup8.ballot(local.x + k) }",
    "uniform return": "if workgroup.x == 3 { return }\nrw[0] = call intrinsic.subgroup8.ballot(1)",
    "as a bound": "for k in 0..call intrinsic.subgroup8.ballot(1) { rw[k] = k }",
    "as a condition": "if call intrinsic.subgroup8.ballot(local.x) { rw[0] = 1 }",
    "divergence that has met again": (
        "if local.x < 3 { rw[0] = 1 }\nrw[1] = call intrinsic.subgroup8.ballot(1)"
    ),
    "one in another": (
        "rw[0] = call intrinsic.subgroup8.ballot(call intrinsic.subgroup16.reduce_add(local.x))"
    ),
}
DIVERGENT = {
    "condition": "if local.x < 3 { rw[0] = call intrinsic.subgroup8.ballot(1) }",
    "memory": "if rw[0] { rw[0] = call intrinsic.subgroup8.ballot(1) }",
    "bound": "for k in 0..local.x { rw[0] = call intrinsic.subgroup8.ballot(1) }",
    "return": "if local.x < 3 { return }\nrw[0] = call intrinsic.subgroup8.ballot(1)",
    "its own result": "if call intrinsic.subgroup8.ballot(1) { rw[0] = call intrinsic.subgroup8.ballot(2) }",
    "through a variable": (
        "let b = call intrinsic.subgroup8.shuffle(1, 2)\nif b { rw[0] = call intrinsic.subgroup8.ballot(2) }"
    ),
    "inner bound": "if local.x < 3 { for k in 0..call intrinsic.subgroup8.ballot(1) { rw[k] = k } }",
    "inner condition": "if local.x < 3 { if call intrinsic.subgroup8.ballot(1) { rw[0] = 1 } }",
}


def program(body: str, size: str = "64 1 1") -> Program:
    return parse_program(HEADER.format(size=size, body=body))


@pytest.mark.parametrize("body", ACCEPTED.values(), ids=ACCEPTED)
def test_uniform_places_are_accepted(body: str) -> None:
    assert validate(program(body)) == []


@pytest.mark.parametrize("body", DIVERGENT.values(), ids=DIVERGENT)
def test_divergent_places_are_refused(body: str) -> None:
    found = validate(program(body))
    assert {d.code for d in found} == {"V045"}
    assert all("intrinsic.subgroup8.ballot" in d.message for d in found)


def test_the_message_says_where_and_why() -> None:
    (found,) = validate(program(DIVERGENT["bound"]))
    assert found.path == "entry[0].body[0]"
    assert "intrinsic.subgroup8.ballot" in found.message
    assert "LocalId" in found.message


@pytest.mark.parametrize(
    ("size", "codes"), [("64 1 1", []), ("4 2 1", []), ("2 2 3", ["V044"]), ("7 1 1", ["V044"])]
)
def test_workgroups_are_made_of_whole_subgroups(size: str, codes: list[str]) -> None:
    found = validate(program(ACCEPTED["plain"], size))
    assert [d.code for d in found] == codes


def test_a_workgroup_of_nothing_is_one_error() -> None:
    assert [d.code for d in validate(program(ACCEPTED["plain"], "0 1 1"))] == ["V003"]


def test_arguments_are_checked_like_those_of_any_op() -> None:
    found = validate(program("rw[0] = call intrinsic.subgroup8.ballot(1i)"))
    assert [d.code for d in found] == ["V028"]
    found = validate(program("rw[0] = call intrinsic.subgroup8.ballot(1, 2)"))
    assert [d.code for d in found] == ["V027"]


def op(body: list[Node], op_id: str = "t.collective") -> Op:
    return Op(op_id, X, U32, Var("r"), (Let("r", LitU32(0)), *body))


def ballot(value: int = 1) -> Assign:
    return Assign("r", Call(BALLOT, (LitU32(value),)))


def test_an_op_may_hold_collectives_where_no_argument_decides() -> None:
    fixed = op([Loop("k", LitU32(0), LitU32(3), (ballot(),)), If(LitU32(1), (ballot(),))])
    assert validate_op(fixed) == []
    steered = op([Let("c", Var("x") + 1), If(Var("c"), (ballot(),))])
    (found,) = validate_op(steered)
    assert (found.code, found.path) == ("V045", "ops[t.collective].body[2].then[0]")
    assert "the parameter x" in found.message
    bound = op([Loop("k", LitU32(0), Var("x"), (ballot(),))])
    assert [d.code for d in validate_op(bound)] == ["V045"]
    by_result = op([ballot(), If(Var("r"), (ballot(),))])
    assert [d.code for d in validate_op(by_result)] == ["V045"]


def test_a_call_of_an_op_that_holds_one_counts_as_one() -> None:
    inner = op([ballot()])
    outer = Op("t.outer", X, U32, Call("t.collective", (Var("x"),)))
    registry = default_registry().extend([inner, outer])
    rw = BufferDecl.read_write("rw", 0, U32)
    store = Store("rw", LocalId(0), Call("t.outer", (LocalId(0),)))

    def codes(size: int, *entry: Node) -> list[str]:
        return [d.code for d in validate(Program([rw], (size,), entry), registry=registry)]

    assert codes(64, store) == []
    assert codes(63, store) == ["V044"]
    assert codes(64, If(LocalId(0) < 3, (store,))) == ["V045"]


def test_an_instruction_of_one_lane_may_stand_anywhere() -> None:
    here = BackendAvailability(("mine",))
    rcp = Op("acme.rcp", X, U32, None, category=Category.C, hardware="unit.rcp", backend_availability=here)
    rw = BufferDecl.read_write("rw", 0, U32)
    entry = [If(LocalId(0) < 3, (Store("rw", LocalId(0), Call("acme.rcp", (LocalId(0),))),))]
    assert validate(Program([rw], (63,), entry), registry=default_registry().extend([rcp])) == []


def test_shared_expressions_are_looked_at_once() -> None:
    value = Call(BALLOT, (LocalId(0),)) & 1
    for _ in range(12):
        value = Select(value, value, value)
    rw = BufferDecl.read_write("rw", 0, U32)
    entry = [If(LocalId(0) < 3, (Store("rw", LitU32(0), value),))]
    assert [d.code for d in validate(Program([rw], (64,), entry))][-1:] == ["V019"]
    small = Select(Call(BALLOT, (LocalId(0),)), LitU32(1), LitU32(2))
    shown = validate(Program([rw], (64,), [If(LocalId(0) < 3, (Store("rw", LitU32(0), small + small),))]))
    assert [d.code for d in shown] == ["V045"]
