"""Packed dot products in the target languages: one helper each, and nothing of subgroups beside them."""

from __future__ import annotations

import pytest

from vyre.errors import UnsupportedByBackend
from vyre.ir import BufferDecl, DataType, InvocationId, Program
from vyre.ir.expr import Call, Expr, LitU32
from vyre.ir.node import If, Store
from vyre.lower.languages import lower
from vyre.lower.manifest import manifest
from vyre.lower.packed import PACKED
from vyre.ops.intrinsics.packed import TWINS, op_id, ops

OUT = BufferDecl.read_write("out", 0, DataType.U32)
IN = BufferDecl.read("data", 1, DataType.U32)
ID = InvocationId(0)


def store(value: Expr) -> Program:
    """Under a condition that only some invocations meet, which no exchange may be."""
    return Program([OUT, IN], (64,), [If(IN[ID] & 1, (Store("out", ID, value),))])


def dot(name: str) -> Call:
    return Call(op_id(name), (IN[ID], IN[ID + 1]))


def test_the_tables_know_every_instruction() -> None:
    assert {op.hardware for op in ops()} == PACKED
    assert {f"packed.{name}" for name in TWINS} == PACKED
    assert {op.lanes for op in ops()} == {1}


@pytest.mark.parametrize("language", ["cuda", "opencl", "wgsl"])
def test_every_call_is_one_call_of_one_helper(language: str) -> None:
    text = lower(store(dot("dot4_u8") + dot("dot4_i8")), language).text
    definitions = 2 if language == "opencl" else 1  # one of them for NVIDIA's compiler
    for name in TWINS:
        assert text.count(f"intrinsic_packed_{name}(") == definitions + 1
    assert "subgroup" not in text
    assert "sub_group" not in text
    assert "dot4_i8" not in lower(store(dot("dot4_u8")), language).text


@pytest.mark.parametrize("language", ["cuda", "opencl", "wgsl"])
def test_they_stand_beside_subgroups(language: str) -> None:
    ballot = Call("intrinsic.subgroup32.ballot", (IN[ID],))
    text = lower(Program([OUT, IN], (64,), [Store("out", ID, ballot + dot("dot4_i8"))]), language).text
    assert "intrinsic_packed_dot4_i8(" in text
    assert "intrinsic_subgroup32_ballot(" in text
    assert text.startswith("enable subgroups;") == (language == "wgsl")


def test_a_kernel_of_them_needs_no_width() -> None:
    program = store(dot("dot4_u8"))
    assert "subgroup_width" not in manifest(program, lower(program, "wgsl"), file="k.wgsl", digests={})


def test_the_processor_refuses_by_name() -> None:
    with pytest.raises(UnsupportedByBackend, match=r"packed\.dot4_i8") as caught:
        lower(store(dot("dot4_i8") + LitU32(1)), "llvm")
    assert "from other ops" in caught.value.fix
