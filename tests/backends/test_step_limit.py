"""`step_limit=`: one turn of a loop is one step, and `reference` and `cpu` count alike."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import vyre
from vyre import Assign, Barrier, BufferDecl, DataType, If, InvocationId, Let, LitU32, Loop, Out, Program, Var
from vyre.backends import get
from vyre.errors import DispatchError, StepLimitExceeded, UnsupportedByBackend
from vyre.ir import Block, Expr, Node, Return, Store
from vyre.lower.counted import counted
from vyre.reference import run as interpret
from vyre.validate import check

ID = InvocationId(0)
OUT = BufferDecl.read_write("out", 0, DataType.U32)
DAYS = Program.from_text(
    "vyre 1\nworkgroup 64 1 1\nbuffer out: readwrite U32 @0\nentry { let s = 0\n"
    " for k in 0..4294967295 { for j in 0..4294967295 { s := s * 1664525 + k ^ j } }\n"
    " out[invocation.x] = s }"
)


def exceeds(program: Program, limit: int, backend: str, groups: int = 2) -> bool:
    out = np.zeros(program.workgroup_size[0] * groups, np.uint32)
    try:
        found = vyre.dispatch(program, {"out": out}, backend=backend, workgroups=groups, step_limit=limit)
    except StepLimitExceeded:
        return True
    free = vyre.dispatch(program, {"out": out}, backend=backend, workgroups=groups)
    assert np.array_equal(found["out"], free["out"]), "a run within its limit gives what it gives without"
    return False


def turns(program: Program) -> int:
    """The least limit that the program keeps, by the reference."""
    low, high = -1, 100_000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if exceeds(program, middle, "reference") else (low, middle)
    return high


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_exactly_the_turns_that_are_taken(backend: str) -> None:
    inner = Loop("j", LitU32(0), Var("k"), [Store("out", ID, OUT[ID] + 1)])
    triangle = Program([OUT], (4,), [Loop("k", LitU32(0), LitU32(5), [inner])])
    empty = Program([OUT], (4,), [Loop("k", LitU32(7), LitU32(7), []), Store("out", ID, LitU32(1))])
    bare = Program([OUT], (4,), [Loop("k", LitU32(3), LitU32(10), [])])
    backwards = Program([OUT], (4,), [Loop("k", LitU32(9), LitU32(3), [])])
    own = Program([OUT], (4,), [Loop("k", LitU32(0), ID, [])])
    for program, expected in ((triangle, 15), (empty, 0), (bare, 7), (backwards, 0), (own, 7)):
        assert not exceeds(program, expected, backend)
        if expected:
            assert exceeds(program, expected - 1, backend)


def loops(rng: Random, depth: int) -> list[Node]:
    """Statements with loops whose turns differ between invocations, and early returns."""
    body: list[Node] = []
    for _ in range(rng.randrange(1, 4)):
        name = f"v{rng.randrange(1 << 30)}"
        own: Expr = (ID ^ rng.randrange(8)) & rng.randrange(8)
        match rng.randrange(6 if depth else 4):
            case 0:
                body.append(Store("out", ID, OUT[ID] * 3 + 1))
            case 1:
                body.append(Assign("s", Var("s") * 5 + own))
            case 2:
                body.append(If(own.eq(rng.randrange(1, 8)), [Return()]))
            case 3:
                body.append(Block([Let(name, own), Assign("s", Var("s") ^ Var(name))]))
            case _:
                bounds = (LitU32(rng.randrange(3)), own + rng.randrange(4))
                body.append(Loop(name, *bounds, loops(rng, depth - 1)))
    return body


@pytest.mark.parametrize("seed", range(12))
def test_both_give_the_same_verdict(seed: int) -> None:
    rng = Random(seed)
    entry = [Let("s", ID), *loops(rng, 3), Loop("last", LitU32(0), ID & 3, []), Store("out", ID, Var("s"))]
    program = Program([OUT], (8,), entry)
    check(program)
    most = turns(program)
    for limit in {0, most // 2, max(0, most - 1), most, most + 1}:
        assert exceeds(program, limit, "cpu") == (limit < most), (seed, limit, most)


def test_loops_around_barriers_count_for_every_invocation() -> None:
    body = [Store("out", ID, OUT[ID] + 1), Barrier(), Loop("j", LitU32(0), ID & 1, [])]
    program = Program([OUT], (8,), [Loop("k", LitU32(0), LitU32(6), body)])
    most = turns(program)
    assert most == 12
    for limit in range(14):
        assert exceeds(program, limit, "cpu") == (limit < most)


@pytest.mark.parametrize("limit", [0, 1, 1000, 3_000_000])
def test_a_program_of_days_ends_on_the_processor(limit: int) -> None:
    with pytest.raises(StepLimitExceeded, match=rf"more than {limit} turns of its loops.*Fix:.*step_limit"):
        vyre.dispatch(DAYS, {"out": np.zeros(1 << 16, np.uint32)}, backend="cpu", step_limit=limit)


def test_a_barrier_in_a_loop_of_days() -> None:
    body = [Store("out", ID, OUT[ID] + 1), Barrier()]
    program = Program([OUT], (64,), [Loop("k", LitU32(0), LitU32(0xFFFFFFFF), body)])
    for backend, limit in (("cpu", 100_000), ("reference", 10)):
        with pytest.raises(StepLimitExceeded):
            vyre.dispatch(program, {"out": np.zeros(64, np.uint32)}, backend=backend, step_limit=limit)


def test_a_limit_takes_the_place_of_the_interpreters_budget() -> None:
    program = Program([OUT], (1,), [Loop("k", LitU32(0), LitU32(300), [Store("out", ID, OUT[ID] + 1)])])
    found = interpret(program, {"out": bytes(4)}, (1, 1, 1), step_budget=100, step_limit=300)
    assert found.buffers["out"] == (300).to_bytes(4, "little")


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_every_way_to_run_a_program(backend: str) -> None:
    @vyre.kernel
    def spin(n: vyre.u32, out: Out[vyre.u32]) -> None:
        total = vyre.u32(0)
        for k in range(n):
            total += k
        out[vyre.invocation_id(0)] = total

    assert spin(5, 3, backend=backend, step_limit=5).tolist() == [10, 10, 10]
    with pytest.raises(StepLimitExceeded):
        spin(6, 3, backend=backend, step_limit=5)
    compiled = vyre.compile_program(DAYS, backend=backend)
    held = vyre.device_zeros(2, np.uint32, backend=backend)
    for given in ({"out": np.zeros(2, np.uint32)}, {"out": held}):
        with pytest.raises(StepLimitExceeded):
            compiled(given, step_limit=10)
    few = Program([OUT], (1,), [Loop("k", LitU32(0), LitU32(3), [Store("out", ID, OUT[ID] + 1)])])
    ready = vyre.compile_program(few, backend=backend)
    assert ready({"out": held}, step_limit=3)["out"] is held
    assert held.numpy().tolist() == [3, 3]
    ready({"out": held})  # keeps its launch, which counts nothing
    with pytest.raises(StepLimitExceeded):
        ready({"out": held}, step_limit=2)


@pytest.mark.parametrize("name", ["wgpu", "dawn", "opencl", "cuda"])
def test_other_backends_refuse_it_by_name(name: str) -> None:
    try:
        get(name)
    except DispatchError as error:
        pytest.skip(str(error))
    with pytest.raises(
        UnsupportedByBackend, match=rf"step_limit= is not supported by the backend {name}.*'cpu'"
    ):
        vyre.dispatch(DAYS, {"out": np.zeros(1, np.uint32)}, backend=name, step_limit=5)


@pytest.mark.parametrize("given", [True, -1, 1.0, "3", 1 << 32, np.array([1, 2]), np.float32(1), ()])
def test_what_is_no_limit_is_refused(given: Any) -> None:
    with pytest.raises(DispatchError, match=r"is not a number of steps.*from 0 to 4294967295"):
        vyre.dispatch(DAYS, {"out": np.zeros(1, np.uint32)}, backend="cpu", step_limit=given)


def test_ordinary_kernels_count_nothing() -> None:
    backend: Any = get("cpu")
    assert "steps" not in backend.compile(DAYS).source.text
    assert "steps" in backend.compile(counted(DAYS)).source.text
