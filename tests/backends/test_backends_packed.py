"""Packed dot products: the reference beside their compositions, and devices that take one for the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.backends.test_backends_subgroups import FakeOpenCl, swapped
from vyre import BufferDecl, DataType, InvocationId, Program, dispatch
from vyre.backends.reference.backend import ReferenceBackend
from vyre.backends.subgroups import all_instructions, opencl_hardware, working
from vyre.ir.expr import Call, Cast
from vyre.ir.node import If, Store
from vyre.lower.packed import OPENCL_EXTENSION, PACKED
from vyre.ops.intrinsics.packed import TWINS, op_id

if TYPE_CHECKING:
    from tests.backends.test_backends_subgroups import Run

U32 = DataType.U32
A, B = BufferDecl.read("a", 0, U32), BufferDecl.read("b", 1, U32)
OUT = BufferDecl.read_write("out", 2, U32)
ID = InvocationId(0)
EDGES = [0, 1, 0x7F7F7F7F, 0x80808080, 0xFFFFFFFF, 0x80FF7F01, 0x01020304, 0xFF00FF00]


def reference(program: Program) -> Run:
    return ReferenceBackend().compile(program).run


@pytest.mark.parametrize("name", TWINS)
def test_an_instruction_gives_what_its_composition_gives(name: str) -> None:
    source = np.random.default_rng(1)
    a = np.concatenate([np.repeat(EDGES, 8), source.integers(0, 1 << 32, 192)]).astype(np.uint32)
    b = np.concatenate([np.tile(EDGES, 8), source.integers(0, 1 << 32, 192)]).astype(np.uint32)
    single = Call(op_id(name), (A[ID], B[ID]))
    composed = Cast(U32, Call(TWINS[name], (A[ID], B[ID])))
    # Some invocations alone execute the instruction, which a collective could not bear.
    entry = [If(A[ID] & 3, (Store("out", ID, single),), (Store("out", ID, single + 1),))]
    found = dispatch(Program([A, B, OUT], (64,), entry), {"a": a, "b": b, "out": a * 0}, backend="reference")
    twin = Program([A, B, OUT], (64,), [Store("out", ID, composed)])
    expected = dispatch(twin, {"a": a, "b": b, "out": a * 0}, backend="cpu")["out"]
    np.testing.assert_array_equal(found["out"], expected + (a & 3 == 0))


def test_what_works_is_kept_and_what_does_not_is_dropped() -> None:
    ops = [op for op in all_instructions().values() if op.hardware in PACKED]
    assert working(ops, reference) == PACKED
    for wrong, right in (("dot4_u8", "dot4_i8"), ("dot4_i8", "dot4_u8")):
        assert working(ops, swapped(wrong, right)) == {f"packed.{wrong}"}


def test_an_opencl_device_must_list_the_extension_and_be_right() -> None:
    assert opencl_hardware(FakeOpenCl(), reference) == frozenset()
    assert opencl_hardware(FakeOpenCl(OPENCL_EXTENSION), reference) == PACKED
    wrong = swapped("dot4_u8", "dot4_i8")
    assert opencl_hardware(FakeOpenCl(OPENCL_EXTENSION), wrong) == {"packed.dot4_u8"}
