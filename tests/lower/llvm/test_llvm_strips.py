"""Short loops over private memory become vectors, and sums in them hold whatever NaN the processor makes."""

from __future__ import annotations

import re

import pytest

from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Expr, FMulAdd, LitU32, Load, Var
from vyre.ir.node import Loop, Node, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.lower.llvm import emit
from vyre.lower.prepare import prepare
from vyre.lower.ways import LLVM_WAYS

A = BufferDecl.read("a", 0, DataType.F32)
OUT = BufferDecl.read_write("out", 1, DataType.F32)
J, K = Var("j"), Var("k")
WIDTH = '!"llvm.loop.vectorize.width", i32 16'
CANON = "call i32 @soft_f32_canon"


def summed(turns: int = 16, target: str = "line", given: Expr | None = None) -> str:
    """Adds products to `line`, strip after strip, and stores the last element."""
    line = BufferDecl.private("line", DataType.F32, 64)
    added = FMulAdd(A[K], A[J], line[J]) if given is None else given
    loop = Loop("j", LitU32(0), LitU32(turns), [Store(target, J, added)])
    body: list[Node] = [
        Loop("k", LitU32(0), LitU32(100), [loop]),
        Store("out", LitU32(0), Load("line", LitU32(3))),
    ]
    return emit(prepare(Program([A, OUT, line], (1, 1, 1), body), ways=LLVM_WAYS)).text


def test_a_strip_carries_its_width() -> None:
    assert summed().count(WIDTH) == 1


@pytest.mark.parametrize(("turns", "target"), [(15, "line"), (4, "line"), (128, "line"), (16, "out")])
def test_other_loops_carry_nothing(turns: int, target: str) -> None:
    assert "llvm.loop.vectorize.width" not in summed(turns, target)


def test_a_sum_in_private_memory_is_made_canonical_where_it_is_seen() -> None:
    text = summed()
    versions = text.count("define internal void")
    assert text.count("call i32 @native_f32_fma") == text.count(CANON) == versions
    made = re.findall(r"(%[\w.]+) = call i32 @soft_f32_canon", text)
    stored = re.findall(r"%b_out, i64 .*\n  store i32 (%[\w.]+),", text)
    assert made == stored


def test_moved_bits_stay_as_they_are_and_make_what_is_beside_them_canonical() -> None:
    """Where loaded elements lie beside sums nobody can tell them apart later on."""
    assert CANON not in summed(given=A[J])
    line = BufferDecl.private("line", DataType.F32, 64)
    body: list[Node] = [
        Store("line", LitU32(0), A[LitU32(0)]),
        Store("line", LitU32(1), FMulAdd(A[LitU32(1)], A[LitU32(2)], line[LitU32(0)])),
        Store("out", LitU32(0), Load("line", LitU32(1))),
    ]
    text = emit(prepare(Program([A, OUT, line], (1, 1, 1), body), ways=LLVM_WAYS)).text
    assert text.count(CANON) == text.count("define internal void")
    assert re.search(r"call i32 @native_f32_fma.*\n.*= call i32 @soft_f32_canon", text)
