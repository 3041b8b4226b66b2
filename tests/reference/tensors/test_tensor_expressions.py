"""Expressions at every place: against NumPy, with narrow elements, lanes and calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.reference.tensors.arrays import DTYPES, array_of, elements, value_of
from vyre.graph import ElementWise, Graph, GraphNode, Input, ValueType
from vyre.ir import (
    BinaryOp,
    BinOp,
    Call,
    Cast,
    Convert,
    DataType,
    Expr,
    FMulAdd,
    Lane,
    Literal,
    LitU32,
    MakeVec,
    RoundMode,
    Select,
    Var,
)
from vyre.reference.tensors import Elements, evaluate

_T = DataType
X, Y, Z = Var("x0"), Var("x1"), Var("x2")


@pytest.mark.parametrize("element", [_T.F32, _T.F16, _T.F64])
@pytest.mark.parametrize(
    ("op", "wanted"),
    [
        (BinaryOp.FAdd, np.add),
        (BinaryOp.FMul, np.multiply),
        (BinaryOp.FSub, np.subtract),
        (BinaryOp.FDiv, np.divide),
    ],
)
def test_float_arithmetic(element: DataType, op: BinaryOp, wanted: Any) -> None:
    rng = np.random.default_rng(3)
    x, y = (rng.normal(size=(3, 5)).astype(DTYPES[element]) * 30 for _ in range(2))
    got = array_of(ElementWise(BinOp(op, X, Y), ("a", "b"), element), (element, x), (element, y))
    assert got.tobytes() == wanted(x, y).tobytes()


def test_integers_wrap() -> None:
    x = np.array([0xFFFF_FFFF, 7, 1 << 31], np.uint32)
    node = ElementWise(BinOp(BinaryOp.Mul, X, X), ("a",), _T.U32)
    np.testing.assert_array_equal(array_of(node, (_T.U32, x)), x * x)


def test_one_operand_may_be_named_twice_and_a_scalar_has_one_place() -> None:
    node = ElementWise(BinOp(BinaryOp.Sub, X, Y), ("a", "a"), _T.U32)
    assert value_of(node, (_T.U32, np.uint32(9))) == Elements((), [0])


def test_nothing_is_computed_over_an_empty_shape() -> None:
    assert value_of(ElementWise(X, ("a",), _T.F32), (_T.F32, np.zeros((2, 0)))) == Elements((2, 0), [])


@pytest.mark.parametrize(
    ("element", "bits", "word"),
    [
        (_T.I8, 0x80, 0xFFFF_FF80),
        (_T.U8, 0x80, 0x80),
        (_T.I16, 0x8000, 0xFFFF_8000),
        (_T.U16, 0xFFFF, 0xFFFF),
    ],
)
def test_narrow_elements_are_seen_as_words_and_kept_by_their_low_bits(
    element: DataType, bits: int, word: int
) -> None:
    seen = ElementWise(X if element.loaded is _T.U32 else Cast(_T.U32, X), ("a",), _T.U32)
    assert value_of(seen, (element, Elements((1,), [bits]))).bits == [word]
    kept = ElementWise(X, ("a",), element)
    given = Elements((1,), [0x1234_5678])
    assert value_of(kept, (_T.U32, given)).bits == [0x1234_5678 & ((1 << element.bits) - 1)]


def test_an_i64_is_two_lanes() -> None:
    swapped = MakeVec(_T.U64, (Lane(X, 1), Lane(X, 0)))
    got = value_of(ElementWise(swapped, ("a",), _T.I64), (_T.I64, Elements((1,), [0x1_0000_0002])))
    assert got.bits == [0x2_0000_0001]


def test_conversions_and_choices() -> None:
    whole = ElementWise(Convert(_T.I32, RoundMode.Nearest, X), ("a",), _T.I32)
    got = array_of(whole, (_T.F32, [2.5, -3.5, np.nan, 1e30]))
    np.testing.assert_array_equal(got, [2, -4, 0, 2**31 - 1])
    chosen = ElementWise(Select(X, Y, Z), ("a", "b", "c"), _T.F32)
    got = array_of(chosen, (_T.Bool, [0, 1]), (_T.F32, [1.0, 2.0]), (_T.F32, [3.0, 4.0]))
    np.testing.assert_array_equal(got, [3.0, 2.0])


def test_a_fused_product_is_rounded_once() -> None:
    x = np.float32(1 + 2**-12)
    node = ElementWise(FMulAdd(X, X, Literal(_T.F32, 0xBF80_0000)), ("a",), _T.F32)
    assert array_of(node, (_T.F32, [x])).tolist() == [float(np.float64(x) * np.float64(x) - 1)]


def test_a_call_is_executed_with_its_arguments() -> None:
    def result(expr: Expr) -> list[int]:
        return value_of(ElementWise(expr, ("a", "b"), _T.U32), (_T.U32, [5, 12]), (_T.U32, [3, 10])).bits

    # The parameters are named as the operands are not: a and b are those of the op.
    assert result(Call("primitive.bitwise.xor", (BinOp(BinaryOp.Add, X, LitU32(1)), Y))) == [5, 7]


def test_a_moved_nan_keeps_its_bits_and_a_computed_one_is_canonical() -> None:
    odd = Elements((1,), [0xFFC1_2345])
    assert value_of(ElementWise(X, ("a",), _T.F32), (_T.F32, odd)) == odd
    doubled = ElementWise(BinOp(BinaryOp.FAdd, X, X), ("a",), _T.F32)
    assert value_of(doubled, (_T.F32, odd)).bits == [0x7FC0_0000]


def test_a_value_that_is_used_twice_rounds_where_it_is_defined() -> None:
    x = elements(_T.F32, [1.0, 3.0])
    nodes: list[tuple[str, GraphNode]] = [
        ("a", Input(ValueType(_T.F32, (2,)))),
        (
            "half",
            ElementWise(Cast(_T.F16, BinOp(BinaryOp.FDiv, X, Literal(_T.F32, 0x4040_0000))), ("a",), _T.F16),
        ),
        (
            "sum",
            ElementWise(BinOp(BinaryOp.FAdd, Cast(_T.F32, X), Cast(_T.F32, Y)), ("half", "half"), _T.F32),
        ),
    ]
    got = evaluate(Graph(nodes, ["sum", "half"]), {"a": x})
    halves = (np.array([1, 3], np.float32) / np.float32(3)).astype(np.float16)
    assert list(got) == ["sum", "half"]
    assert got["half"] == elements(_T.F16, halves)
    assert got["sum"] == elements(_T.F32, halves.astype(np.float32) * 2)
