"""The emitted text itself: the ABI, opaque constants, packed halves, cleared workgroup memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from vyre.ir import (
    Atomic,
    AtomicOp,
    BinaryOp,
    BinOp,
    BufferDecl,
    DataType,
    Expr,
    InvocationId,
    Lane,
    Let,
    LitBool,
    LitU32,
    MakeVec,
    Program,
    Select,
    Var,
)
from vyre.lower.prepare import prepare
from vyre.lower.wgsl import emit, workgroup_bytes

if TYPE_CHECKING:
    from vyre.lower.source import Source

U32 = DataType.U32
OUT = BufferDecl.read_write("out", 0, U32)
I = InvocationId(0)  # noqa: E741


def wgsl(program: Program) -> Source:
    return emit(prepare(program))


def stored(value: Expr) -> str:
    """What the kernel stores, as text."""
    text = wgsl(Program([OUT], (1,), [OUT.store(0, value)])).text
    found = re.search(r"  store_out\(0u, (.*)\);", text)
    assert found
    return found.group(1)


def test_buffers_are_bound_in_order_and_the_hidden_words_last() -> None:
    data = BufferDecl.read("data", 5, DataType.Vec2U32)
    table = BufferDecl.uniform("table", 6, DataType.F16, count=3)
    source = wgsl(Program([data, OUT, table], (4, 2), [OUT.store(I, OUT.length)]))
    bindings = re.findall(r"@group\(0\) @binding\((\d)\) var<(.*?)> (\w+): (.*);", source.text)
    assert bindings == [
        ("0", "storage, read", "b_data", "array<vec2<u32>>"),
        ("1", "storage, read_write", "b_out", "array<u32>"),
        ("2", "storage, read", "b_table", "array<u32>"),
        ("3", "uniform", "hidden", "array<vec4<u32>, 2>"),
    ]
    assert source.hidden == ("base_x", "base_y", "base_z", "len_data", "len_out")
    assert "fn hidden_len_out() -> u32 { return hidden[1].x; }" in source.text
    assert "@workgroup_size(4, 2, 1)" in source.text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (LitU32(1) << 32, "(lit(1u) << 0u)"),
        (LitU32(7) // 0, "div_u32(lit(7u), 0u)"),
        (-LitU32(1), "(0u - lit(1u))"),
        (LitU32(0xFFFFFFFF) + 1, "(lit(4294967295u) + 1u)"),
        (LitBool(True).cast(U32) - 2, "(lit(1u) - 2u)"),
        (Lane(MakeVec(DataType.U64, (LitU32(3), LitU32(4))), 1) * 5, "(lit(vec2<u32>(3u, 4u).y) * 5u)"),
        (Select(LitU32(1), LitU32(2), LitU32(3)) << 31, "(lit(select(3u, 2u, 1u != 0u)) << 31u)"),
        ((LitU32(1) + 2) * 3, "((lit(1u) + 2u) * 3u)"),
        (BinOp(BinaryOp.Add, I, LitU32(1)), "(invocation_x + 1u)"),
        (LitU32(5) + I, "(5u + invocation_x)"),
    ],
)
def test_operations_on_constants_are_not_constant_expressions(value: Expr, text: str) -> None:
    assert stored(value) == text


def test_lengths_that_are_fixed_count_as_constants() -> None:
    fixed = BufferDecl.read_write("out", 0, U32, count=4)
    text = wgsl(Program([fixed], (1,), [fixed.store(0, fixed.length - 5)])).text
    assert "(lit(4u) - 5u)" in text


def test_a_buffer_is_atomic_only_where_it_must_be() -> None:
    plain = wgsl(Program([OUT], (1,), [OUT.store(0, LitU32(1))])).text
    assert "atomic" not in plain
    counted = wgsl(Program([OUT], (1,), [Let("x", Atomic(AtomicOp.Add, "out", I, LitU32(1)))])).text
    assert "b_out: array<atomic<u32>>" in counted
    assert "atomicAdd(&b_out[i], v)" in counted
    assert "atomicMin" not in counted


def test_stores_of_halves_flip_their_own_bits_only() -> None:
    halves = BufferDecl.read_write("out", 0, DataType.BF16)
    text = wgsl(Program([halves], (1,), [halves.store(I, halves[I])])).text
    assert "atomicXor(&b_out[i >> 1u], (old ^ (v << s)) & (65535u << s));" in text


def test_workgroup_memory_is_cleared_by_the_kernel() -> None:
    tile = BufferDecl.workgroup("tile", DataType.Vec4U32, 70)
    bins = BufferDecl.workgroup("bins", U32, 3, atomic=True)
    program = Program([OUT, tile, bins], (4, 8), [Let("x", Atomic(AtomicOp.Or, "bins", I, LitU32(1)))])
    text = wgsl(program).text
    assert "for (var i = lane; i < 70u; i += 32u) { b_tile[i] = vec4<u32>(); }" in text
    assert "for (var i = lane; i < 3u; i += 32u) { atomicStore(&b_bins[i], 0u); }" in text
    assert text.index("workgroupBarrier") < text.index("var v_x")


def test_workgroup_bytes_are_what_the_arrays_take() -> None:
    assert workgroup_bytes(BufferDecl.workgroup("a", DataType.F16, 5)) == 32
    assert workgroup_bytes(BufferDecl.workgroup("a", DataType.U128, 5)) == 80
    assert workgroup_bytes(BufferDecl.workgroup("a", DataType.F64, 1)) == 16


def test_user_names_never_stand_alone() -> None:
    fn = BufferDecl.read_write("fn", 0, U32)
    text = wgsl(Program([fn], (1,), [Let("var", LitU32(1)), fn.store(0, Var("var"))])).text
    assert "store_fn(0u, v_var);" in text
    assert "var v_var: u32 = 1u;" in text
