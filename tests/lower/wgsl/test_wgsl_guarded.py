"""Guarded floats as text: what a compiler is shown of an operation, and what a host must hand over."""

from __future__ import annotations

import re

from vyre.ir import BufferDecl, DataType, InvocationId, Program
from vyre.ir.expr import BinOp, Literal
from vyre.ir.operators import BinaryOp
from vyre.lower.manifest import manifest
from vyre.lower.prepare import prepare
from vyre.lower.ways import FLOATS, GUARDED_WAY, SOFT, WGSL_GUARDED_WAYS, Ways, may_be_guarded
from vyre.lower.wgsl import emit

F32 = DataType.F32
A, OUT = BufferDecl.read("a", 0, F32), BufferDecl.read_write("out", 1, F32)
I = InvocationId(0)  # noqa: E741
SUM = BinOp(BinaryOp.FAdd, A[I], Literal(F32, 0))
PROGRAM = Program([A, OUT], (64,), [OUT.store(I, SUM)])


def test_every_operand_is_mixed_with_a_zero_that_the_host_sends() -> None:
    source = emit(prepare(PROGRAM, ways=WGSL_GUARDED_WAYS))
    assert source.ways == (("f32.add", "guarded"),)
    assert source.lowering == "guarded"
    assert source.hidden[-1] == "zero"
    assert source.hidden_values({"a": 7, "out": 9}, (1, 2, 3)) == [1, 2, 3, 7, 9, 0]
    body = re.search(r"fn guarded_f32_add\(.*?\n}", source.text, re.DOTALL)
    assert body is not None
    assert "var v_result: u32 = native_f32_add(v_opaque_a, v_opaque_b);" in body[0]
    assert body[0].count("native_u32_opaque(") == 2
    assert "fn native_u32_opaque(a: u32) -> u32 { return a ^ hidden_zero(); }" in source.text


def test_no_float_is_left_outside_of_the_native_functions() -> None:
    text = emit(prepare(PROGRAM, ways=WGSL_GUARDED_WAYS)).text
    lines = [line for line in text.splitlines() if "f32>" in line]
    assert [line.partition("(")[0] for line in lines] == ["fn native_f32_add"]


def test_a_soft_kernel_has_no_such_word() -> None:
    source = emit(prepare(PROGRAM))
    assert "zero" not in source.hidden
    assert "opaque" not in source.text
    assert source.hidden_values({"a": 7, "out": 9}, (0, 0, 0)) == [0, 0, 0, 7, 9]


def test_the_manifest_names_the_word_and_the_way() -> None:
    source = emit(prepare(PROGRAM, ways=WGSL_GUARDED_WAYS))
    record = manifest(PROGRAM, source, file="kernel.wgsl", digests={}, floats=GUARDED_WAY)
    word = record["hidden"]["words"][-1]
    assert word["name"] == "zero"
    assert word["meaning"].startswith("0")
    assert record["floats"]["ways"] == {"f32.add": "guarded"}
    assert "exact" in record["floats"]["needs"][0]


def test_ways_know_which_programs_could_be_guarded() -> None:
    assert may_be_guarded(PROGRAM)
    assert not may_be_guarded(Program([A, OUT], (64,), [OUT.store(I, A[I])]))
    assert FLOATS["wgsl"][GUARDED_WAY].ways.without(["f32.fma"]).of("f32.fma") == "soft"
    assert Ways(frozenset({"f32.add"}), frozenset({"f32.add"})).of("f32.add") == "native"
    assert SOFT.of("f32.add") == "soft"
