"""Sums in loops: which ones run natively as a whole, and that what they give is what the reference gives."""

from __future__ import annotations

import importlib
import struct
from typing import TYPE_CHECKING

import pytest

from tests.backends.webgpu.webgpu_stacks import LIBRARIES, agree
from vyre.errors import VyreError
from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
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
from vyre.ir.expr import Expr, FMulAdd, fadd, fmul
from vyre.lower import native_wgsl
from vyre.lower.native import CHAIN_KEY
from vyre.lower.prepare import prepare
from vyre.lower.ways import SOFT, WGSL_GUARDED_WAYS
from vyre.lower.wgsl import emit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vyre.backends.webgpu.backend import WebGpuBackend
    from vyre.ir import Node

F32 = DataType.F32
TURNS = 8
A, B, OUT = BufferDecl.read("a", 0, F32), BufferDecl.read("b", 1, F32), BufferDecl.read_write("out", 2, F32)
HERE, K, T, U = InvocationId(0), Var("k"), Var("t"), Var("u")
X, Y = Load("a", HERE * TURNS + K), Load("b", HERE * TURNS + K)


def looped(*steps: Node, first: Expr | None = None) -> Program:
    """The totals `t` and `u` after a loop of these steps, added."""
    start = Literal(F32, 0) if first is None else first
    body: list[Node] = [Let("t", start), Let("u", start), Let("n", LitU32(0))]
    body += [Loop("k", LitU32(0), LitU32(TURNS), steps), Store("out", HERE, fadd(T, U))]
    return Program([A, B, OUT], (64,), [If(OUT.length > HERE, body)])


FUSED = Assign("t", FMulAdd(X, Y, T))
TWICE = Assign("u", fadd(U, fmul(Y, X)))
PLAIN = Assign("u", fadd(U, X))
COUNTED = Assign("n", Var("n") + 3)
OF_COUNT = Assign("t", FMulAdd(Load("a", Var("n")), Load("b", Var("n") + HERE), T))

CHAINS = {
    "fused": looped(FUSED),
    "rounded twice": looped(TWICE),
    "plain": looped(PLAIN),
    "two, of the same factors": looped(FUSED, TWICE),
    "a total that begins anywhere": looped(FUSED, PLAIN, first=Load("b", HERE)),
    "factors of a variable that changes": looped(COUNTED, OF_COUNT, COUNTED, PLAIN),
    "factors that are variables": looped(
        Let("x", X), Let("y", fmul(Y, Y)), Assign("t", FMulAdd(Var("x"), Var("y"), T))
    ),
}
NO_CHAINS = {
    "the total is a factor": looped(Assign("t", FMulAdd(T, Y, T))),
    "the total is used": looped(FUSED, Assign("u", fmul(U, T))),
    "it is assigned twice": looped(FUSED, Assign("t", fadd(T, Y))),
    "the total is not the addend": looped(Assign("t", FMulAdd(T, Y, X))),
    "a product": looped(Assign("t", fmul(T, X))),
    "a statement with an effect": looped(FUSED, Store("out", K, Y)),
}


def is_chain(program: Program) -> bool:
    return (CHAIN_KEY, "guarded") in prepare(program, ways=WGSL_GUARDED_WAYS).ways


@pytest.mark.parametrize("program", CHAINS.values(), ids=CHAINS)
def test_loops_whose_guards_are_hoisted(program: Program) -> None:
    assert is_chain(program)
    text = emit(prepare(program, ways=WGSL_GUARDED_WAYS)).text
    fast, again = text[text.index("fn vyre_main") :].split("for (var v_k", 2)[1:]
    assert "guarded_f32_fma" not in fast.partition("  }\n")[0]
    assert "native_f32_" in fast
    assert "guarded_f32_" in again
    assert (CHAIN_KEY, "guarded") not in prepare(program, ways=WGSL_GUARDED_WAYS.without([CHAIN_KEY])).ways
    assert prepare(program, ways=SOFT).natives == ()


@pytest.mark.parametrize("program", NO_CHAINS.values(), ids=NO_CHAINS)
def test_loops_that_are_left_alone(program: Program) -> None:
    assert not is_chain(program)


def test_an_atomic_in_a_loop_is_done_once() -> None:
    count = BufferDecl.read_write("count", 3, DataType.U32)
    inner = [Let("seen", Atomic(AtomicOp.Add, "count", LitU32(0), LitU32(1))), FUSED]
    body = [Let("t", Literal(F32, 0)), Loop("k", LitU32(0), LitU32(TURNS), inner), Store("out", HERE, T)]
    assert not is_chain(Program([A, B, OUT, count], (64,), body))


def words(values: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


ORDINARY = [0x3F800001, 0xBF8CCCCD, 0x00000000, 0x3EAAAAAB, 0xC0490FDB, 0x80000000, 0x2B800000, 0x537FFFFF]
UNUSUAL = [0x7F800000, 0x00000001, 0x2B7FFFFF, 0x53800000, 0xFFC12345, 0x80000001, 0x7F7FFFFF, 0x00800000]


def operands(shift: int) -> bytes:
    """64 rows of factors; in every other row one factor is outside, each in its turn."""
    rows: list[int] = []
    for row in range(64):
        mine = [ORDINARY[(row * 3 + k * shift) % 8] for k in range(TURNS)]
        if row % 2:
            mine[row // 2 % TURNS] = UNUSUAL[(row // 2 + row // 16 + shift) % 8]
        rows += mine
    return words(rows)


PLAIN_OR_LOST = """\
fn is_lost(a: u32) -> bool {
  let size = a & 2147483647u;
  return size != 0u && (size < 8388608u || size >= 2139095040u);
}
fn plain_or_lost(a: u32, b: u32, c: u32, result: u32) -> u32 {
  return select(result, 1900671690u, is_lost(a) || is_lost(b) || is_lost(c) || is_lost(result));
}"""
RESULTS = {
    "native.f32.fma": "soft_f32_fma(a, b, c)",
    "native.f32.add": "bitcast<u32>(bitcast<f32>(a) + bitcast<f32>(b))",
    "native.f32.mul": "bitcast<u32>(bitcast<f32>(a) * bitcast<f32>(b))",
}
MADE = native_wgsl.definitions


def careless(op_id: str) -> str:
    """An instruction that is right about zeros and normal numbers alone."""
    if op_id not in RESULTS:
        return MADE([op_id])[0]
    names = "abc" if op_id.endswith("fma") else "ab"
    head = f"fn {op_id.replace('.', '_')}({', '.join(f'{n}: u32' for n in names)}) -> u32"
    given = ", ".join((*names, "0u")[:3])
    return f"{head} {{ return plain_or_lost({given}, {RESULTS[op_id]}); }}"


@pytest.fixture(scope="module", params=sorted(LIBRARIES))
def device(request: pytest.FixtureRequest) -> WebGpuBackend:
    module, attribute = LIBRARIES[request.param]
    try:
        return getattr(importlib.import_module(module), attribute)()
    except (ImportError, VyreError) as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("program", CHAINS.values(), ids=CHAINS)
def test_a_device_with_an_fma_gives_the_bits_of_the_reference(
    device: WebGpuBackend, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing else is right on it: what is subnormal, infinite or NaN comes out as some number.

    The fma of the processor's drivers rounds twice; the soft one stands in for that of a GPU.
    """

    def definitions(natives: Iterable[str]) -> list[str]:
        return [PLAIN_OR_LOST, *map(careless, natives)]

    monkeypatch.setattr("vyre.lower.wgsl.definitions", definitions)
    monkeypatch.setattr(device, "_ways", WGSL_GUARDED_WAYS)
    agree(device, program, {"a": operands(1), "b": operands(5), "out": bytes(256)}, (1, 1, 1))
