"""Types, buffers and signatures behave as the documents' examples say."""

from __future__ import annotations

import pytest

from vyre.errors import VyreError
from vyre.ir import (
    V1,
    V2,
    BinaryOp,
    BufferAccess,
    BufferDecl,
    BufLen,
    DataType,
    Dim,
    LitU32,
    Load,
    OpSignature,
    Store,
    TensorType,
    UnaryOp,
    Var,
)
from vyre.ir.operators import INTEGER_BINARY_OPS, INTEGER_UNARY_OPS, AtomicOp
from vyre.ir.typing import CAST_TABLE, binary_type, unary_type


def test_signature_counts_its_input_bytes() -> None:
    assert OpSignature((DataType.U32, DataType.U32), DataType.U32).min_input_bytes() == 8


def test_buffer_constructors_read_like_the_documents() -> None:
    decl = BufferDecl.storage("data", 0, BufferAccess.ReadWrite, DataType.U32)
    assert decl == BufferDecl.read_write("data", 0, DataType.U32)
    assert decl[Var("i")] is Load("data", Var("i"))
    assert decl.store(3, 4) is Store("data", LitU32(3), LitU32(4))
    assert decl.length is BufLen("data")
    assert BufferDecl.workgroup("t", DataType.U32, 4, atomic=True).access is BufferAccess.WorkgroupAtomic


def test_conventions_are_values() -> None:
    assert V2(7) == V2(lookup_binding=7)
    assert V1() != V2(0)


def test_the_documents_operator_counts_stay() -> None:
    documented = [op for op in INTEGER_BINARY_OPS if op.row.tag <= 18]
    assert [len(documented), len(INTEGER_UNARY_OPS), len(AtomicOp)] == [18, 7, 8]


def test_integer_operators_on_i32_follow_decision_2() -> None:
    assert binary_type(BinaryOp.Add, DataType.I32, DataType.I32) is DataType.I32
    assert binary_type(BinaryOp.Eq, DataType.I32, DataType.I32) is DataType.U32
    assert binary_type(BinaryOp.Div, DataType.I32, DataType.I32) is None
    assert binary_type(BinaryOp.Add, DataType.I32, DataType.U32) is None
    assert binary_type(BinaryOp.And, DataType.Bool, DataType.Bool) is DataType.U32
    assert unary_type(UnaryOp.Negate, DataType.I32) is DataType.I32
    assert unary_type(UnaryOp.Popcount, DataType.I32) is None


def test_functions_are_not_defined_on_f64() -> None:
    assert unary_type(UnaryOp.FSqrt, DataType.F64) is DataType.F64
    assert unary_type(UnaryOp.FSin, DataType.F64) is None
    assert binary_type(BinaryOp.FPow, DataType.F64, DataType.F64) is None


def test_bytes_cast_to_themselves_and_nothing_else() -> None:
    assert [pair for pair in CAST_TABLE if DataType.Bytes in pair] == [(DataType.Bytes, DataType.Bytes)]


def test_tensors_are_row_major_unless_told() -> None:
    tensor = TensorType(DataType.F32, [2, 3, 4])
    assert tensor.strides == (12, 4, 1)
    assert tensor.linear_index([1, 2, 3]) == 23
    assert tensor.linear_index([1, 3, 0]) is None
    assert TensorType(DataType.F32, [2, 3], [1, 2]).linear_index([1, 2]) == 5
    assert TensorType(DataType.F32, [4, 3], [0, 1]).linear_index([3, 2]) == 2


def test_dynamic_dimensions_are_resolved_at_dispatch() -> None:
    tensor = TensorType(DataType.BF16, [2, "seq_len", Dim(8)])
    assert tensor.is_dynamic
    assert tensor.resolve({"seq_len": 5}).strides == (40, 8, 1)
    with pytest.raises(VyreError, match="seq_len"):
        tensor.resolve({})
    with pytest.raises(VyreError, match="resolve"):
        tensor.linear_index([0, 0, 0])


@pytest.mark.parametrize(
    ("element", "shape", "strides"),
    [
        (DataType.Bytes, [1], None),
        (DataType.U32, [-1], None),
        (DataType.U32, ["not a name"], None),
        (DataType.U32, [2, 2], [1]),
        (DataType.U32, [2], [-1]),
    ],
)
def test_tensors_that_have_no_meaning_are_refused(
    element: DataType, shape: list[int | str], strides: list[int] | None
) -> None:
    with pytest.raises(VyreError, match="Fix:"):
        TensorType(element, shape, strides)
