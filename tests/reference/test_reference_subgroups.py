"""Subgroup instructions in the reference: their meaning, under every schedule, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre import BufferDecl, DataType, InvocationId, Program
from vyre.compose import BackendAvailability, Category, Op, Param, default_registry, inline
from vyre.errors import InterpreterError, UnsupportedByBackend
from vyre.ir.expr import Call, LitU32, LocalId, Var, WorkgroupId
from vyre.ir.node import Assign, Barrier, If, Let, Loop, Node, Return, Store
from vyre.ops.intrinsics.subgroup import NAMES, WIDTHS, op_id
from vyre.reference import Schedule, all_schedules, run
from vyre.reference.subgroups import exchange_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from vyre.ir.expr import Expr

    Words = NDArray[np.uint32]

U32 = DataType.U32
VALUE = BufferDecl.read("value", 0, U32)
OTHER = BufferDecl.read("other", 1, U32)
OUT = BufferDecl.read_write("out", 2, U32)
ID = Var("i")


def gathered(lane: Callable[[int, int, int], int]) -> Callable[[list[int], list[int]], list[int]]:
    """Lane k gets the value of lane `lane(k, operand, width)`, or its own where there is no such lane."""

    def function(value: list[int], other: list[int]) -> list[int]:
        found = dict(enumerate(value))
        return [found.get(lane(k, other[k], len(value)), value[k]) for k in range(len(value))]

    return function


def joined(text: str) -> Callable[[list[int], list[int]], list[int]]:
    """What NumPy's function of that name makes of all values."""
    function: Any = getattr(np, text)
    return lambda value, _: [int(function.reduce(np.array(value, np.uint32), dtype=np.uint32))] * len(value)


ORACLE: dict[str, Callable[[list[int], list[int]], list[int]]] = {
    "shuffle": gathered(lambda k, other, width: other & (width - 1)),
    "shuffle_xor": gathered(lambda k, other, width: k ^ (other & (width - 1))),
    "shuffle_up": gathered(lambda k, other, width: k - (other & (width - 1))),
    "shuffle_down": gathered(lambda k, other, width: k + (other & (width - 1))),
    "ballot": lambda v, _: [int("".join("01"[x != 0] for x in reversed(v)), 2)] * len(v),
    "reduce_add": joined("add"),
    "reduce_min": joined("minimum"),
    "reduce_max": joined("maximum"),
    "reduce_and": joined("bitwise_and"),
    "reduce_or": joined("bitwise_or"),
    "reduce_xor": joined("bitwise_xor"),
}
"""The instructions once more, written without a look at the reference."""


def oracle(name: str, width: int, value: Words, other: Words) -> Words:
    rows = zip(value.reshape(-1, width).tolist(), other.reshape(-1, width).tolist(), strict=True)
    return np.array([x for v, o in rows for x in ORACLE[name](v, o)], np.uint32)


def call(name: str, width: int, *args: Expr) -> Call:
    return Call(op_id(width, name), args[: 2 if name.startswith("shuffle") else 1])


def linear(shape: tuple[int, int, int]) -> list[Node]:
    x, y, z = shape
    return [Let("i", WorkgroupId(0) * (x * y * z) + LocalId(0) + LocalId(1) * x + LocalId(2) * (x * y))]


def execute(
    body: Sequence[Node],
    *,
    shape: tuple[int, int, int] = (64, 1, 1),
    groups: int = 2,
    schedule: Schedule | None = None,
    check: bool = True,
) -> tuple[list[int], Words, Words]:
    rng = np.random.default_rng(7)
    count = groups * int(np.prod(shape))
    value = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    value[rng.integers(0, 3, count) == 0] = 0
    other = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    other[::2] %= np.uint32(40)
    program = Program([VALUE, OTHER, OUT], shape, [*linear(shape), *body])
    buffers = {"value": value.tobytes(), "other": other.tobytes(), "out": bytes(4 * count)}
    result = run(program, buffers, (groups, 1, 1), schedule=schedule, check=check, detect=True)
    assert not result.report.races
    return list(memoryview(result.buffers["out"]).cast("I")), value, other


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_the_meaning_is_that_of_the_oracle(name: str, width: int) -> None:
    got, value, other = execute([Store("out", ID, call(name, width, VALUE[ID], OTHER[ID]))])
    assert got == oracle(name, width, value, other).tolist()


def test_the_oracle_tells_every_pair_of_instructions_apart() -> None:
    """Otherwise two could be swapped and nobody would see it."""
    _, value, other = execute([Store("out", ID, LitU32(0))])
    seen = {oracle(name, 8, value, other).tobytes() for name in NAMES}
    assert len(seen) == len(NAMES)


@pytest.mark.parametrize("schedule", all_schedules(seed=3), ids=lambda s: f"{s.order.value} {s.interleave}")
@pytest.mark.parametrize("shape", [(64, 1, 1), (4, 4, 4), (2, 16, 1)])
def test_every_schedule_and_shape_gives_the_same(schedule: Schedule, shape: tuple[int, int, int]) -> None:
    shuffled = call("shuffle", 16, Var("x"), OTHER[ID] + Var("r"))
    step = Assign("x", shuffled + call("reduce_add", 4, Var("x")))
    body: list[Node] = [
        Let("x", VALUE[ID]),
        Loop("r", LitU32(0), LitU32(3), (step,)),
        Store("out", ID, Var("x")),
    ]
    got, value, other = execute(body, shape=shape, schedule=schedule)
    x = value
    for r in range(3):
        added = oracle("reduce_add", 4, x, other)
        x = oracle("shuffle", 16, x, other + np.uint32(r)) + added
    assert got == x.tolist()


def test_interpreting_a_call_is_interpreting_its_inlined_form() -> None:
    step = Assign("sum", Var("sum") + call("shuffle_up", 8, Var("sum"), Var("k")))
    body = (Let("sum", Var("x")), Loop("k", LitU32(0), LitU32(3), (step,)))
    scan = Op("t.scan", (Param("x", U32),), U32, Var("sum"), body)
    registry = default_registry().extend([scan])
    entry = [*linear((64, 1, 1)), Store("out", ID, Call("t.scan", (Call("t.scan", (VALUE[ID],)),)))]
    program = Program([VALUE, OUT], (64,), entry)
    buffers = {"value": np.arange(64, dtype=np.uint32).tobytes(), "out": bytes(256)}
    called = run(program, buffers, (1, 1, 1), registry=registry)
    inlined = run(inline(program, registry), buffers, (1, 1, 1))
    assert called.buffers == inlined.buffers


def test_an_exchange_orders_no_memory() -> None:
    """A shuffle is not a barrier: a neighbour's store before it is still a race with a load behind it."""
    shared = BufferDecl.workgroup("shared", U32, 8)
    out = BufferDecl.read_write("out", 0, U32, count=8)
    local = LocalId(0)
    entry = [
        Store("shared", local, local),
        Let("s", call("shuffle", 8, local, LitU32(0))),
        Store("out", local, shared[local ^ 1] + Var("s")),
    ]
    assert run(Program([out, shared], (8,), entry), {}, (1, 1, 1), detect=True).report.races
    with_barrier = [entry[0], Barrier(), *entry[1:]]
    assert not run(Program([out, shared], (8,), with_barrier), {}, (1, 1, 1), detect=True).report.races


@pytest.mark.parametrize(
    "body",
    [
        [If(LocalId(0) < 5, (Store("out", ID, call("ballot", 8, ID)),))],
        [If(LocalId(0) < 5, (Return(),)), Store("out", ID, call("ballot", 8, ID))],
        [Loop("k", LitU32(0), LocalId(0), (Store("out", ID, call("ballot", 8, ID)),))],
        [If(LocalId(0) < 5, (Let("a", call("ballot", 8, ID)),), (Let("b", call("ballot", 8, ID)),))],
        [If(LocalId(0) < 5, (Let("a", call("ballot", 8, ID)),), (Barrier(),))],
        [If(LocalId(0) < 4, (Let("a", call("ballot", 8, ID)),), (Let("b", call("ballot", 4, ID)),))],
    ],
    ids=["branch", "return", "loop", "two places", "barrier", "two widths"],
)
def test_lanes_that_part_ways_are_seen(body: list[Node]) -> None:
    with pytest.raises(InterpreterError, match="divergent"):
        execute(body, check=False)


def test_lanes_may_arrive_by_different_widths() -> None:
    """Narrow exchanges of some lanes finish before the wide one that all make."""
    narrow = Let("a", call("ballot", 4, ID))
    body: list[Node] = [If(LocalId(0) < 4, (narrow,)), Store("out", ID, call("reduce_min", 8, ID))]
    got, _, _ = execute(body, check=False)
    assert got == [k // 8 * 8 for k in range(128)]


def test_a_workgroup_of_broken_subgroups_is_refused() -> None:
    program = Program([OUT], (12,), [Store("out", InvocationId(0), call("ballot", 8, InvocationId(0)))])
    with pytest.raises(InterpreterError, match="subgroups of 8"):
        run(program, {"out": bytes(48)}, (1, 1, 1), check=False)


def test_hardware_that_nobody_defined_is_refused_by_name() -> None:
    here = BackendAvailability(("mine",))
    ray = Op("acme.ray", (Param("x", U32),), U32, None, (), Category.C, "", "rt.hit", here)
    program = Program([OUT], (64,), [Store("out", InvocationId(0), Call("acme.ray", (InvocationId(0),)))])
    with pytest.raises(UnsupportedByBackend) as caught:
        run(program, {"out": bytes(256)}, (1, 1, 1), registry=default_registry().extend([ray]))
    assert (caught.value.op, caught.value.backend) == ("acme.ray", "reference")
    assert exchange_of("rt.hit") is exchange_of("subgroup.shuffle") is exchange_of("subgroup8.fly") is None
