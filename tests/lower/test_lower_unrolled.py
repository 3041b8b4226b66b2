"""Loops that CUDA's compiler is told to unroll, and those that it is not."""

from __future__ import annotations

import pytest

from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Call, Expr, LitU32, LocalId, Var
from vyre.ir.node import Assign, Barrier, Break, If, Let, Loop, Node, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.lower.cuda import emit
from vyre.lower.prepare import prepare
from vyre.lower.unrolled import is_unrolled

A = BufferDecl.read("a", 0, DataType.U32)
OUT = BufferDecl.read_write("out", 1, DataType.U32)
K = Var("k")
STEPS: list[Node] = [Assign(f"x{number}", Var(f"x{number}") * K) for number in range(20)]


def loop(body: list[Node], *, start: int = 0, stop: Expr = LitU32(8)) -> Loop:  # noqa: B008 - a node is a value
    return Loop("k", LitU32(start), stop, body)


def test_few_turns_of_many_plain_statements_are_unrolled() -> None:
    assert is_unrolled(loop(STEPS))
    assert is_unrolled(loop([*STEPS, Store("out", K, A[K])], start=2, stop=LitU32(18)))
    assert is_unrolled(loop([If(K.eq(0), STEPS)]))


@pytest.mark.parametrize(
    "kept",
    [
        loop(STEPS[:4]),
        loop(STEPS, stop=LitU32(17)),
        loop(STEPS, stop=LitU32(1)),
        loop(STEPS, stop=Var("n")),
        loop(STEPS * 40),
        loop([*STEPS, Barrier()]),
        loop([*STEPS, If(K.eq(0), [Break()])]),
        loop([*STEPS, Assign("x0", Call("float.f32.exp", (K,)))]),
    ],
    ids=["short", "long", "once", "unknown", "large", "barrier", "break", "call"],
)
def test_other_loops_are_left_to_the_compiler(kept: Loop) -> None:
    assert not is_unrolled(kept)


@pytest.mark.parametrize(("stop", "told"), [(8, True), (20, False)])
def test_the_text_says_so(stop: int, told: bool) -> None:
    lane = LocalId(0)
    entry: list[Node] = [Let(f"x{number}", A[lane + LitU32(number)]) for number in range(20)]
    entry.append(Loop("k", LitU32(0), LitU32(stop), STEPS))
    entry += [OUT.store(lane + LitU32(number), Var(f"x{number}")) for number in range(20)]
    text = emit(prepare(Program([A, OUT], [32], entry))).text
    assert ("#pragma unroll\n" in text) is told
