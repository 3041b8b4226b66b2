"""The optimiser leaves hardware instructions where they are: none is dropped, repeated, merged or moved."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from vyre.ir import BufferDecl, DataType, InvocationId, LocalId, Program
from vyre.ir.expr import Call, Expr, LitU32, Select, Var
from vyre.ir.node import Assign, Barrier, If, Let, Loop, Node, Store
from vyre.optimize import optimize
from vyre.reference import run

U32 = DataType.U32
OUT = BufferDecl.read_write("out", 0, U32)
IN = BufferDecl.read("data", 1, U32)
UN = BufferDecl.uniform("un", 2, U32, count=4)
SHARED = BufferDecl.workgroup("shared", U32, 64)
ID = InvocationId(0)


def add(value: Expr) -> Call:
    return Call("intrinsic.subgroup8.reduce_add", (value,))


def shape(nodes: tuple[Node, ...]) -> list[object]:
    """Calls, barriers and stores in the order in which they happen, nested as they are."""
    found: list[object] = []
    for node in nodes:
        for root in node.exprs:
            found += [x.op_id for x in _occurrences(root) if isinstance(x, Call)]
        if isinstance(node, Barrier | Store):
            found.append(type(node).__name__)
        found += [shape(body) for body in node.bodies]
    return found


def _occurrences(root: Expr) -> list[Expr]:
    return [x for child in root.children for x in _occurrences(child)] + [root]


PROGRAMS: dict[str, list[Node]] = {
    "unused": [Let("a", add(IN[ID])), Store("out", ID, LitU32(1))],
    "overwritten": [Let("a", add(IN[ID])), Assign("a", add(ID)), Store("out", ID, Var("a"))],
    "equal calls": [Store("out", ID, add(IN[ID]) + add(IN[ID]))],
    "times zero": [Store("out", ID, add(IN[ID]) * 0)],
    "masked away": [Store("out", ID, (add(IN[ID]) & 0) | IN[ID])],
    "minus itself": [Let("v", IN[ID]), Store("out", ID, add(Var("v")) - add(Var("v")))],
    "compared with itself": [Let("v", IN[ID]), Store("out", ID, add(Var("v")).eq(add(Var("v"))))],
    "same arms": [Store("out", ID, Select(IN[ID] & 1, add(IN[ID]), add(IN[ID])))],
    "moved literal": [Store("out", ID, LitU32(3) + add(LitU32(4)))],
    "empty branch": [If(add(IN[ID]), ())],
    "empty loop": [Loop("k", LitU32(0), add(IN[ID] & 1), ())],
    "around a barrier": [
        Let("a", add(IN[ID])),
        Store("shared", LocalId(0), Var("a")),
        Barrier(),
        Let("b", add(SHARED[LocalId(0) ^ 1])),
        Store("out", ID, Var("b")),
    ],
    "uniform branch": [
        If(UN[LitU32(0)], (Store("out", ID, add(IN[ID])),), (Store("out", ID, add(~IN[ID])),))
    ],
    "in a loop": [
        Let("x", IN[ID]),
        Loop("k", LitU32(0), LitU32(3), (Assign("x", Var("x") + add(LitU32(7))),)),
        Store("out", ID, Var("x")),
    ],
}


@pytest.mark.parametrize("entry", PROGRAMS.values(), ids=PROGRAMS)
def test_they_stay_as_they_are(entry: list[Node]) -> None:
    program = Program([OUT, IN, UN, SHARED], (64,), entry)
    after = optimize(program)
    assert shape(after.entry) == shape(program.entry)
    data = np.random.default_rng(1).integers(0, 1 << 32, 64, dtype=np.uint32).tobytes()
    buffers = {"out": bytes(256), "data": data, "un": bytes(16)}
    before = run(program, buffers, (1, 1, 1))
    assert run(after, buffers, (1, 1, 1), check=False).buffers == before.buffers


def test_a_branch_that_is_never_taken_takes_its_calls_along() -> None:
    entry = [If(LitU32(0), (Store("out", ID, add(IN[ID])),)), Store("out", ID, LitU32(1) + LitU32(2))]
    after = optimize(Program([OUT, IN], (64,), entry))
    assert after.entry == (Store("out", ID, LitU32(3)),)


def test_operands_are_still_simplified() -> None:
    after = optimize(Program([OUT], (64,), [Store("out", ID, add(ID * 1 + 0))]))
    (store,) = after.entry
    assert isinstance(store, Store)
    assert store.value == add(ID)
    assert Counter(shape(after.entry))["Store"] == 1
