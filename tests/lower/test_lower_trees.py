"""Tree reductions on a stack: the bits of those in variables, in a fraction of the code."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.cpu.compiling import native_ways
from vyre.backends.execute import run_bytes
from vyre.ir import (
    Barrier,
    BinaryOp,
    BinOp,
    BufferDecl,
    DataType,
    FReduce,
    InvocationId,
    LitU32,
    Load,
    LocalId,
    Loop,
    Program,
    ReduceOp,
    ReduceOrder,
    Store,
    Var,
)
from vyre.ir.float_formats import FORMATS
from vyre.lower import reductions
from vyre.lower.llvm import emit
from vyre.lower.prepare import prepare
from vyre.reference import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir import Expr, Node

T = DataType
I = InvocationId(0)  # noqa: E741
FLOATS = (T.F32, T.F64, T.F16, T.BF16)
LENGTHS = (*range(20), 31, 32, 33, 63, 64, 65, 127, 200, 255)
START, STOP = BufferDecl.read("start", 1, T.U32), BufferDecl.read("stop", 2, T.U32)


def tree(op: ReduceOp, start: Expr, stop: Expr, *, of: str = "a") -> FReduce:
    return FReduce(ReduceOrder.TreeBinary, op, of, start, stop)


def elements(t: DataType, count: int, seed: int) -> bytes:
    """Finite numbers about 1, a few zeros, and here and there a NaN with a payload or an infinity."""
    form, rng = FORMATS[t], np.random.default_rng(seed)
    dtype = np.dtype(f"u{t.stride}")
    bits = (np.uint64(form.one) ^ rng.integers(0, form.one >> 6, count, np.uint64)).astype(dtype)
    bits |= np.where(rng.random(count) < 0.5, np.uint64(form.sign), np.uint64(0)).astype(dtype)
    for chance, word in ((0.02, 0), (0.004, form.infinity), (0.004, form.nan | 1), (0.02, form.sign)):
        bits = np.where(rng.random(count) < chance, dtype.type(word), bits)
    return bits.tobytes()


def ranges(t: DataType, op: ReduceOp, pairs: Sequence[tuple[int, int]]) -> tuple[Program, dict[str, bytes]]:
    """One fold for each pair of a start and a stop."""
    a, out = BufferDecl.read("a", 0, t), BufferDecl.read_write("out", 3, t)
    entry = (Store("out", I, tree(op, Load("start", I), Load("stop", I))),)
    starts, stops = (np.array(x, np.uint32).tobytes() for x in zip(*pairs, strict=True))
    inputs = {
        "a": elements(t, 600, len(pairs)),
        "start": starts,
        "stop": stops,
        "out": bytes(len(pairs) * t.stride),
    }
    return Program((a, START, STOP, out), (1, 1, 1), entry), inputs


def outputs(program: Program, inputs: dict[str, bytes], count: int, *, stacks: bool) -> dict[str, bytes]:
    backend = CpuBackend(canaries=False, threads=1)
    made = backend.compile(program, ways=replace(native_ways(), stacks=stacks))
    return run_bytes(made, program, inputs, (count, 1, 1))


def agree(program: Program, inputs: dict[str, bytes], count: int) -> bool:
    expected = run(program, inputs, (count, 1, 1), check=False).buffers
    found = [outputs(program, inputs, count, stacks=stacks) for stacks in (False, True)]
    return all(x[name] == expected[name] for x in found for name in x)


@pytest.mark.parametrize("t", FLOATS)
@pytest.mark.parametrize("op", ReduceOp)
def test_every_length_from_several_starts(t: DataType, op: ReduceOp) -> None:
    pairs = [(start, start + length) for start in (0, 3, 300) for length in LENGTHS]
    beyond = [(590, 640), (700, 720), (9, 4), (0xFFFF_FFF0, 5), (0xFFFF_FFF0, 0xFFFF_FFFF)]
    assert agree(*ranges(t, op, [*pairs, *beyond]), len(pairs) + len(beyond))


def test_a_stack_serves_several_folds_and_yields_to_a_buffer_of_its_name() -> None:
    a, own = BufferDecl.read("a", 0, T.F32), BufferDecl.private("trees_f32", T.F32, 2)
    out = BufferDecl.read_write("out", 1, T.F32)
    both = BinOp(BinaryOp.FSub, tree(ReduceOp.Add, I, I + 77), tree(ReduceOp.Mul, I + 1, I + 12))
    entry = (Store("trees_f32", LitU32(1), Load("a", I)), Store("out", I, both), mixed("out", "trees_f32"))
    inputs = {"a": elements(T.F32, 200, 5), "out": bytes(4 * 30)}
    assert agree(Program((a, out, own), (3, 1, 1), entry), inputs, 10)


def mixed(out: str, own: str) -> Node:
    return Store(out, I, BinOp(BinaryOp.FMax, Load(out, I), Load(own, LitU32(1))))


def test_between_barriers_and_in_a_loop_of_the_workgroup() -> None:
    a, out = BufferDecl.read("a", 0, T.F32), BufferDecl.read_write("out", 1, T.F32)
    tile = BufferDecl.workgroup("tile", T.F32, 8)
    turn = (
        Store("tile", LocalId(0), tree(ReduceOp.Add, I * 3 + Var("k"), I * 5 + 40)),
        Barrier(),
        Store("out", I, BinOp(BinaryOp.FAdd, Load("out", I), tree(ReduceOp.Max, LitU32(0), I + 9))),
        Store("out", I, BinOp(BinaryOp.FAdd, Load("out", I), Load("tile", LitU32(7) - LocalId(0)))),
        Barrier(),
    )
    entry = (Loop("k", LitU32(0), LitU32(5), turn),)
    inputs = {"a": elements(T.F32, 600, 6), "out": bytes(4 * 32)}
    assert agree(Program((a, out, tile), (8, 1, 1), entry), inputs, 4)


def test_the_code_is_a_fraction_of_that_in_variables() -> None:
    program, _ = ranges(T.F32, ReduceOp.Add, [(0, 1)])
    stacked, plain = (
        emit(prepare(program, ways=replace(native_ways(), stacks=stacks))).text.count("\n")
        for stacks in (True, False)
    )
    assert 4 * stacked < plain


def test_a_wrong_level_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    program, inputs = ranges(T.F32, ReduceOp.Add, [(0, n) for n in LENGTHS])
    monkeypatch.setattr(reductions, "_LEVELS", 4)
    backend = CpuBackend(canaries=False, threads=1)
    found = run_bytes(backend.compile(program), program, inputs, (len(LENGTHS), 1, 1))
    assert found["out"] != run(program, inputs, (len(LENGTHS), 1, 1), check=False).buffers["out"]
