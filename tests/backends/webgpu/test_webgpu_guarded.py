"""Guarded floats on the WebGPU devices of this machine: the same bits, inside, outside and at the edges."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from tests.backends.webgpu.webgpu_stacks import agree
from vyre.backends.probe import admission
from vyre.backends.probe.guarded import CHAINED, TOGETHER, edge_cases, guarded_probe, inside
from vyre.backends.probe.run import probe
from vyre.backends.probe.trial import difference, run_op, truth_of
from vyre.ir import (
    Assign,
    BufferDecl,
    DataType,
    If,
    InvocationId,
    Let,
    Literal,
    LitU32,
    Load,
    Loop,
    Program,
    Store,
    Var,
)
from vyre.ir.expr import BinOp, FReduce
from vyre.ir.operators import BinaryOp, ReduceOp, ReduceOrder
from vyre.lower import native_wgsl
from vyre.lower.native import CHAIN_KEY, GUARDED_RANGES

if TYPE_CHECKING:
    from vyre.backends.probe.cases import ProbeOp
    from vyre.backends.webgpu.backend import WebGpuBackend

SUMS_AND_PRODUCTS = {"f32.add", "f32.sub", "f32.mul"}
F32 = DataType.F32


def hard_bits(count: int) -> bytes:
    """Edges first, then numbers within the range."""
    op = guarded_probe("f32.mul")
    words = [x for pair in edge_cases(op) for x in pair][: count // 2]
    words += inside(op, count)[0].tolist()[: count - len(words)]
    return struct.pack(f"<{count}I", *words)


def test_a_device_that_keeps_the_bits_is_admitted(backend: WebGpuBackend) -> None:
    """Of the drivers that run on processors neither lavapipe nor SwiftShader, which flushes, has an fma."""
    assert backend.ways.guarded >= SUMS_AND_PRODUCTS | {CHAIN_KEY}
    if any(name in backend.describe().device for name in ("llvmpipe", "SwiftShader")):
        assert "f32.fma" not in backend.ways.guarded
    assert not backend.ways.native


@pytest.mark.parametrize(
    "op", [*map(guarded_probe, sorted(GUARDED_RANGES)), TOGETHER, CHAINED], ids=lambda op: op.name
)
def test_every_edge_of_the_ranges_is_exact(backend: WebGpuBackend, op: ProbeOp) -> None:
    executable = backend.compile(op.program())
    if SUMS_AND_PRODUCTS.issuperset(op.keys):
        assert executable.lowering == "guarded"
    rows = zip(*(column.tolist() for column in inside(op, 2000)), strict=True)
    operands, expected = truth_of(op, [*edge_cases(op), *rows])
    assert difference(operands, expected, run_op(executable, op, operands)) is None


def test_a_sum_of_products_is_that_of_the_reference(backend: WebGpuBackend) -> None:
    """A chain that starts at zero, over numbers within the ranges and outside."""
    a, b = BufferDecl.read("a", 0, F32), BufferDecl.read("b", 1, F32)
    out = BufferDecl.read_write("out", 2, F32)
    i, k, total = InvocationId(0), Var("k"), Var("total")
    term = BinOp(BinaryOp.FMul, Load("a", i * 8 + k), Load("b", i * 8 + k))
    body = [
        Let("total", Literal(F32, 0)),
        Loop("k", LitU32(0), LitU32(8), [Assign("total", BinOp(BinaryOp.FAdd, total, term))]),
        If(i < out.length, (Store("out", i, total),)),
    ]
    data = hard_bits(1024)
    program = Program([a, b, out], (64,), body)
    agree(backend, program, {"a": data, "b": data[::-1], "out": bytes(512)}, (2, 1, 1))


@pytest.mark.parametrize("order", ReduceOrder)
def test_a_reduction_is_that_of_the_reference(backend: WebGpuBackend, order: ReduceOrder) -> None:
    a, out = BufferDecl.read("a", 0, F32), BufferDecl.read_write("out", 1, F32)
    i = InvocationId(0)
    fold = FReduce(order, ReduceOp.Add, "a", i, i + 19)
    program = Program([a, out], (64,), [If(i < out.length, (Store("out", i, fold),))])
    agree(backend, program, {"a": hard_bits(256), "out": bytes(256)}, (1, 1, 1))


def test_a_wrong_instruction_is_refused(wgpu: WebGpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(native_wgsl._SIGNS, "sub", "+ 1.0000001 * -")  # pyright: ignore[reportPrivateUsage] - a fault is planted
    found = admission.refusals(wgpu, count=200, sweep=1 << 12)
    assert found["f32.sub"].startswith("FSub F32: (0x")
    assert "expected 0x" in found["f32.sub"]
    assert not found["f32.mul"]


def test_the_probe_calls_it_guarded(wgpu: WebGpuBackend) -> None:
    add, fma = probe(wgpu, count=500, sweep=1 << 10, ops=[guarded_probe("f32.add"), guarded_probe("f32.fma")])
    assert (add.way, fma.way) == ("guarded", wgpu.ways.of("f32.fma"))
    assert "in range" in add.why


def test_integers_ask_no_device_about_floats(wgpu: WebGpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    out = BufferDecl.read_write("out", 0, DataType.U32)
    monkeypatch.setattr(wgpu, "_ways", None)
    monkeypatch.setattr(admission, "admitted_ways", None)
    wgpu.compile(Program([out], (64,), [out.store(InvocationId(0), InvocationId(0) * 3)]))
