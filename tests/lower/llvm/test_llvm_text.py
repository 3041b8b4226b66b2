"""The emitted module: what it may and may not contain, and which guards are left out where."""

from __future__ import annotations

import re

import pytest

from tests.lower.llvm.llvm_programs import TILE, U32, BufferDecl, I, function, popcount, source_of
from vyre.errors import UnsupportedByBackend
from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
    Barrier,
    BinaryOp,
    BinOp,
    BufLen,
    DataType,
    If,
    Let,
    LitU32,
    Load,
    LocalId,
    Loop,
    Store,
    Var,
    WorkgroupId,
)


def test_the_fast_version_has_neither_guard_nor_comparison() -> None:
    fast = function(popcount().text, "invocations_in_range")
    assert re.findall(r"icmp \w+ \w+ (\S+)", fast) == ["%first,", "%id.next,"]
    guarded = function(popcount().text, "invocations_guarded")
    assert guarded.count("icmp ult") == 5, "the If proves the store, not the loads"


def test_an_index_that_is_not_affine_keeps_its_guard_in_both_versions() -> None:
    text = source_of([Store("out", I, Load("a", Load("b", I)))]).text
    fast = function(text, "invocations_in_range")
    assert "%len_a\n" in fast
    assert "%len_b\n" not in fast


def test_a_program_without_affine_accesses_has_one_version() -> None:
    text = source_of([Store("out", Load("a", I * I), LitU32(1))]).text
    assert "in_range" not in text


def test_a_negative_offset_raises_the_start_of_the_fast_range() -> None:
    text = source_of([Store("out", I * 2, Load("a", I - 3))]).text
    entry = function(text, "vyre_main")
    assert "@llvm.umax.i64(i64 3, " in entry
    assert entry.count("call void @invocations_guarded") == 2


def test_barriers_give_workgroups() -> None:
    text = source_of(
        [Store("tile", LocalId(0), I), Barrier(), Store("out", I, Load("tile", LocalId(0)))], TILE
    )
    fast = function(text.text, "workgroups_in_range")
    assert fast.count("= phi i64") == 3, "the workgroups, and the invocations of two regions"
    assert "%len_out\n" not in fast
    assert text.scratch_bytes == 64


def test_workgroup_memory_needs_no_guard_where_the_local_id_fits() -> None:
    def guards(index: LitU32 | LocalId | BinOp) -> int:
        text = source_of([Store("tile", index, LitU32(1)), Barrier()], TILE).text
        return text.count("icmp ult i32")

    local = LocalId(0)
    assert guards(local) == 0
    assert guards(local + 1) == 1
    assert guards(LitU32(7)) == 0
    assert guards(LitU32(8)) == 1


def test_atomics_are_real_in_storage_and_plain_in_workgroup_memory() -> None:
    bins = BufferDecl.workgroup("bins", U32, 8, atomic=True)
    storage = source_of([Let("x", Atomic(AtomicOp.Add, "out", I, LitU32(1)))], bins).text
    shared = source_of([Let("x", Atomic(AtomicOp.Add, "bins", I, LitU32(1)))], bins).text
    assert "atomicrmw add" in storage
    assert "seq_cst" in storage
    assert "atomicrmw" not in shared
    assert "ptr %b_out," in storage
    assert "ptr noalias %b_out," in shared


def test_nothing_may_be_assumed_about_overflow_or_zero() -> None:
    a, b = Load("a", I), Load("b", I)
    values = [
        BinOp(op, a, b) for op in (BinaryOp.Add, BinaryOp.Sub, BinaryOp.Mul, BinaryOp.Div, BinaryOp.Shl)
    ]
    text = source_of([Store("out", I, v) for v in values]).text
    computing = [
        line for line in text.splitlines() if re.search(r"= (add|sub|mul|shl) \S*i32|nsw|fast", line)
    ]
    assert computing
    assert not any("nsw" in line or "nuw" in line for line in computing)
    assert "and i32" in text, "shift amounts are masked"
    assert re.search(r"select i1 \S+, i32 1, i32", text), "a divisor of zero is replaced before the division"


def test_names_are_prefixed() -> None:
    text = source_of([Let("entry", I), Let("define", Var("entry") * 2), Store("out", I, Var("define"))]).text
    assert "%v_define = " in text


def test_the_abi_facts() -> None:
    source = source_of([Store("out", I, BufLen("fixed"))], BufferDecl.uniform("fixed", 3, U32, count=4))
    assert source.language == "llvm"
    assert [b.name for b in source.buffers] == ["a", "b", "out", "fixed"]
    assert source.hidden == ("grid_x", "grid_y", "grid_z", "len_a", "len_b", "len_out")
    assert source.hidden_values({"a": 1, "b": 2, "out": 3, "fixed": 4}, (7, 8, 9)) == [7, 8, 9, 1, 2, 3]


def test_a_uniform_variable_is_held_once_for_the_workgroup() -> None:
    step = [
        Let("step", LitU32(4)),
        Loop("k", LitU32(0), LitU32(3), (Barrier(), Assign("step", Var("step") >> 1))),
    ]
    uniform = source_of([*step, Store("out", I, Var("step"))], TILE)
    assert "%s_step = alloca" in uniform.text
    assert uniform.scratch_bytes == 64
    divergent = source_of([Let("step", Load("out", I)), *step[1:], Store("out", I, Var("step"))], TILE)
    assert "%c_step.0" in divergent.text
    assert divergent.scratch_bytes == 128


def test_float_arithmetic_is_refused_by_name() -> None:
    value = BinOp(BinaryOp.FAdd, Load("f", I), Load("f", I))
    with pytest.raises(UnsupportedByBackend, match="FAdd on F64 is not supported by the backend cpu"):
        source_of(
            [Store("g", I, value)],
            *(BufferDecl.read_write(n, 3 + k, DataType.F64) for k, n in enumerate("fg")),
        )


def test_a_comparison_with_the_length_is_decided_only_in_range() -> None:
    group = WorkgroupId(0)
    entry = [If(BufLen("out") <= I, (Store("out", group, LitU32(1)),), (Store("out", I, LitU32(2)),))]
    text = source_of(entry).text
    assert "br i1 false" in function(text, "invocations_in_range")
    assert "br i1 false" not in function(text, "invocations_guarded")
