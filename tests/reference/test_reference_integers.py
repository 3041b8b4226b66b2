"""The integer operators give the documents' rows, in the tables and through a program."""

from __future__ import annotations

import pytest

from tests.reference.reference_programs import evaluate
from vyre.ir import BinaryOp, BinOp, DataType, LitI32, LitU32, UnaryOp, UnOp
from vyre.ir.operators import INTEGER_BINARY_OPS, INTEGER_UNARY_OPS
from vyre.reference import integers

M = 0xFFFFFFFF

BINARY_ROWS: list[tuple[BinaryOp, int, int, int]] = [
    (BinaryOp.Add, 1, 1, 2),
    (BinaryOp.Add, M, 1, 0),
    (BinaryOp.Add, M, M, 0xFFFFFFFE),
    (BinaryOp.Sub, 5, 3, 2),
    (BinaryOp.Sub, 0, 1, M),
    (BinaryOp.Mul, 3, 7, 21),
    (BinaryOp.Mul, 0x10000, 0x10000, 0),
    (BinaryOp.Mul, M, 2, 0xFFFFFFFE),
    (BinaryOp.Div, 10, 3, 3),
    (BinaryOp.Div, 5, 0, 0),
    (BinaryOp.Div, 0, 0, 0),
    (BinaryOp.Div, M, M, 1),
    (BinaryOp.Mod, 10, 3, 1),
    (BinaryOp.Mod, 5, 0, 0),
    (BinaryOp.Mod, 0, 5, 0),
    (BinaryOp.BitAnd, 0xFF00, 0x0FF0, 0x0F00),
    (BinaryOp.BitOr, 0xFF00, 0x00FF, 0xFFFF),
    (BinaryOp.BitXor, 0xFF, 0xFF, 0),
    (BinaryOp.BitXor, 0xFF, 0x00, 0xFF),
    (BinaryOp.Shl, 1, 31, 0x80000000),
    (BinaryOp.Shl, 1, 32, 1),
    (BinaryOp.Shl, M, 1, 0xFFFFFFFE),
    (BinaryOp.Shr, 0x80000000, 1, 0x40000000),
    (BinaryOp.Shr, 1, 32, 1),
    (BinaryOp.Shr, 1, M, 0),
    (BinaryOp.Eq, 7, 7, 1),
    (BinaryOp.Eq, 7, 8, 0),
    (BinaryOp.Ne, 7, 7, 0),
    (BinaryOp.Ne, 7, 8, 1),
    (BinaryOp.Lt, 0, 1, 1),
    (BinaryOp.Lt, 5, 5, 0),
    (BinaryOp.Lt, 0xFFFFFFFE, M, 1),
    (BinaryOp.Gt, M, 0, 1),
    (BinaryOp.Gt, 5, 5, 0),
    (BinaryOp.Le, 5, 5, 1),
    (BinaryOp.Le, M, 0, 0),
    (BinaryOp.Ge, 5, 5, 1),
    (BinaryOp.Ge, 0, M, 0),
    (BinaryOp.And, 42, 7, 1),
    (BinaryOp.And, 1, 0, 0),
    (BinaryOp.Or, 42, 7, 1),
    (BinaryOp.Or, 0, 1, 1),
    (BinaryOp.Or, 0, 0, 0),
    (BinaryOp.MulHi, M, M, 0xFFFFFFFE),
    (BinaryOp.MulHi, 0x10000, 0x10000, 1),
    (BinaryOp.MulHi, 3, 7, 0),
]

UNARY_ROWS: list[tuple[UnaryOp, int, int]] = [
    (UnaryOp.Negate, 0, 0),
    (UnaryOp.Negate, 1, M),
    (UnaryOp.Negate, 0x80000000, 0x80000000),
    (UnaryOp.BitNot, 0, M),
    (UnaryOp.BitNot, 0xF0F0F0F0, 0x0F0F0F0F),
    (UnaryOp.LogicalNot, 0, 1),
    (UnaryOp.LogicalNot, 42, 0),
    (UnaryOp.Popcount, M, 32),
    (UnaryOp.Popcount, 0x80000001, 2),
    (UnaryOp.Clz, 0, 32),
    (UnaryOp.Clz, 1, 31),
    (UnaryOp.Clz, M, 0),
    (UnaryOp.Ctz, 0, 32),
    (UnaryOp.Ctz, 0x80000000, 31),
    (UnaryOp.Ctz, 12, 2),
    (UnaryOp.ReverseBits, 1, 0x80000000),
    (UnaryOp.ReverseBits, 0x12345678, 0x1E6A2C48),
]


def test_every_integer_operator_has_a_row() -> None:
    assert {row[0] for row in BINARY_ROWS} == set(INTEGER_BINARY_OPS) == set(integers.BINARY)
    assert {row[0] for row in UNARY_ROWS} == set(INTEGER_UNARY_OPS) == set(integers.UNARY)


@pytest.mark.parametrize(("op", "a", "b", "result"), BINARY_ROWS)
def test_binary_rows(op: BinaryOp, a: int, b: int, result: int) -> None:
    assert integers.binary(op, a, b) == result
    assert evaluate(BinOp(op, LitU32(a), LitU32(b))) == result


@pytest.mark.parametrize(("op", "a", "result"), UNARY_ROWS)
def test_unary_rows(op: UnaryOp, a: int, result: int) -> None:
    assert integers.unary(op, a) == result
    assert evaluate(UnOp(op, LitU32(a))) == result


def test_signed_operands_keep_the_bits_of_unsigned_ones() -> None:
    assert evaluate(LitI32(-3) * LitI32(5), DataType.I32) == -15 & M
    assert evaluate(-LitI32(-(1 << 31)), DataType.I32) == 1 << 31
    assert evaluate(LitI32(-1).eq(LitI32(-1))) == 1
