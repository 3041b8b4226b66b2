"""Ops of Category C: what they declare, how their calls survive inlining, and which ops need other lanes."""

from __future__ import annotations

from typing import Any

import pytest

from vyre import BufferDecl, DataType, InvocationId, Program
from vyre.compose import (
    BackendAvailability,
    Category,
    Op,
    Param,
    Registry,
    default_registry,
    inline,
    inline_op,
)
from vyre.compose.hardware import Collectives, instructions
from vyre.errors import OpError, ValidationError
from vyre.ir.expr import Atomic, Call, Expr, LitU32, Select, Var
from vyre.ir.node import Let, Loop, Node, Store
from vyre.ir.operators import AtomicOp
from vyre.ir.walk import expressions
from vyre.ops.intrinsics import intrinsic_ops

U32 = DataType.U32
OUT = BufferDecl.read_write("out", 0, U32)
IN = BufferDecl.read("data", 1, U32)
ID = InvocationId(0)
X = (Param("x", U32),)
HERE = BackendAvailability(("mine",), "a good day")
BALLOT = "intrinsic.subgroup8.ballot"


def sample(**changes: Any) -> Op:
    given: dict[str, Any] = {"hardware": "unit.rcp", "backend_availability": HERE, "category": Category.C}
    return Op("acme.rcp", X, U32, None, **(given | changes))


def ballot(value: Expr) -> Call:
    return Call(BALLOT, (value,))


def program(*entry: Node) -> Program:
    return Program([OUT, IN], (64,), entry)


def calls(flat: Program) -> list[str]:
    """The calls of a program as a tree, so that a node that stands twice counts twice."""
    found: list[str] = []
    stack: list[Node] = list(flat.entry)[::-1]
    while stack:
        node = stack.pop()
        exprs = list(node.exprs)[::-1]
        while exprs:
            expr = exprs.pop()
            exprs.extend(reversed(expr.children))
            if isinstance(expr, Call):
                found.append(expr.op_id)
        stack.extend(child for body in reversed(node.bodies) for child in reversed(body))
    return found


def test_availability_is_data_and_a_predicate() -> None:
    assert HERE.backends == ("mine",)
    assert HERE("mine")
    assert not HERE("cpu")


def test_every_instruction_declares_what_it_is() -> None:
    for op in intrinsic_ops():
        assert op.category is Category.C
        assert op.result is None
        assert op.hardware == op.id.removeprefix("intrinsic.")
        assert op.backend_availability is not None
        assert op.backend_availability("reference")
        assert not op.backend_availability("cpu")
        assert op.backend_availability("cuda") == (op.lanes in (1, 32))
        assert default_registry()[op.id] == op


@pytest.mark.parametrize(
    "changes",
    [
        {"category": Category.A},
        {"hardware": ""},
        {"backend_availability": None},
        {"lanes": 0},
        {"lanes": 12},
        {"lanes": 64},
        {"hardware": "", "backend_availability": None, "lanes": 8},
    ],
)
def test_half_a_declaration_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(OpError, match=r"acme\.rcp"):
        sample(**changes)


def test_an_instruction_has_no_software_fallback() -> None:
    with pytest.raises(OpError, match="not an instruction"):
        Op("acme.rcp", X, U32, Var("x"), (), Category.C, "", "unit.rcp", HERE)


def test_hardware_that_is_not_named_still_cannot_be_called() -> None:
    nameless = Op("acme.rcp", X, U32, None, category=Category.C)
    with pytest.raises(ValidationError) as caught:
        inline(program(Store("out", ID, Call("acme.rcp", (ID,)))), default_registry().extend([nameless]))
    assert [d.code for d in caught.value.diagnostics] == ["V020"]


def test_calls_of_instructions_stay_and_are_known_afterwards() -> None:
    before = program(Store("out", ID, Call("integer.min", (ballot(IN[ID]), LitU32(3)))))
    flat = inline(before)
    assert calls(flat) == [BALLOT]
    assert inline(flat) == flat
    assert list(instructions(flat.entry)) == [BALLOT]
    registry = default_registry().extend([sample()])
    own = inline(program(Store("out", ID, Call("acme.rcp", (ID,)))), registry)
    assert instructions(own.entry, registry) == {"acme.rcp": sample()}


def test_an_argument_that_is_an_instruction_is_evaluated_once() -> None:
    """Used twice, never, or in a loop; operands without memory, so that only the call itself is at stake."""
    unused = Op("t.unused", (Param("x", U32), Param("y", U32)), U32, Var("y"))
    loop = Loop("k", LitU32(0), LitU32(4), (Let("t", Var("x")),))
    looped = Op("t.looped", X, U32, Var("s"), (Let("s", LitU32(0)), loop))
    registry = default_registry().extend([unused, looped])
    for op_id, arguments in (("integer.min", 2), ("t.unused", 2), ("t.looped", 1)):
        args = (ballot(ID), ballot(ID + 1))[:arguments]
        flat = inline(program(Store("out", ID, Call(op_id, args))), registry)
        assert calls(flat) == [BALLOT] * arguments
        loops = [node for node in flat.entry if isinstance(node, Loop)]
        assert not any(isinstance(x, Call) for loop in loops for x in expressions(loop.body))


def test_order_with_atomics_is_kept() -> None:
    atomic = Atomic(AtomicOp.Add, "out", LitU32(0), LitU32(1))
    entry = Store("out", ID, Call("integer.min", (atomic + ballot(atomic), atomic)))
    flat = inline(program(entry))
    order = [x for node in flat.entry for x in _evaluated(node) if isinstance(x, Atomic | Call)]
    assert [type(x).__name__ for x in order] == ["Atomic", "Atomic", "Call", "Atomic"]


def _evaluated(node: Node) -> list[Expr]:
    """Every occurrence in a statement, operands first."""
    done: list[Expr] = []
    stack = [(x, False) for x in reversed(node.exprs)]
    while stack:
        expr, ready = stack.pop()
        if ready:
            done.append(expr)
        else:
            stack.append((expr, True))
            stack.extend((child, False) for child in reversed(expr.children))
    return done


def test_an_op_made_of_instructions_inlines_like_any_op() -> None:
    result = Select(Var("b"), ballot(Var("x") + 1), Var("b"))
    composed = Op("t.both", X, U32, result, (Let("b", ballot(Var("x"))),))
    registry = default_registry().extend([composed])
    flat = inline(program(Store("out", ID, Call("t.both", (IN[ID],)))), registry)
    assert calls(flat) == [BALLOT, BALLOT]
    assert inline_op(composed, registry) == composed
    assert inline_op(default_registry()[BALLOT]) == default_registry()[BALLOT]


def test_what_calls_a_collective_is_one() -> None:
    inner = Op("t.inner", X, U32, Call("intrinsic.subgroup16.reduce_add", (ballot(Var("x")),)))
    outer = Op("t.outer", X, U32, Call("t.inner", (Call("integer.abs_diff", (Var("x"), Var("x"))),)))
    single = sample()
    circle = Op("t.circle", X, U32, Call("t.circle", (ballot(Var("x")),)))
    found = Collectives(default_registry().extend([inner, outer, single, circle]).get)
    assert found.lanes("t.outer") == {8, 16}
    assert found.lanes("t.inner") == {8, 16}
    assert found.lanes("t.circle") == {8}
    assert found.lanes("acme.rcp") == frozenset()
    assert found.lanes("integer.min") == frozenset()
    assert found.lanes("no.such.op") == frozenset()
    assert found.among(["t.outer", "integer.min", BALLOT]) == {"t.outer": {8, 16}, BALLOT: {8}}


def test_a_long_chain_of_ops_is_followed_without_recursion() -> None:
    ops = [Op("t.l0", X, U32, ballot(Var("x")))]
    ops += [Op(f"t.l{k}", X, U32, Call(f"t.l{k - 1}", (Var("x"),))) for k in range(1, 3000)]
    registry = Registry([*intrinsic_ops(), *ops])
    assert Collectives(registry.get).lanes("t.l2999") == {8}
