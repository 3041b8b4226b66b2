"""Products of matrices: orders, accumulators, masks, and exact sums against rational numbers."""

from __future__ import annotations

from fractions import Fraction
from math import fsum, inf, nan
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.reference.tensors.arrays import array, array_of, bits, elements, rounded, value_of
from vyre.graph import Accumulator, MatMul, MulStep
from vyre.ir.types import DataType
from vyre.reference.tensors import Elements

_T = DataType
FMA, TWO = MulStep.FMulAdd, MulStep.FMulFAdd


def product(
    accumulator: Accumulator, element: DataType, left: tuple[DataType, Any], right: tuple[DataType, Any],
    *, step: MulStep = FMA, mask: Any = None,
) -> Elements:  # fmt: skip
    node = MatMul("a", "b", accumulator, step, element, None if mask is None else "c")
    return value_of(node, left, right, *(() if mask is None else ((_T.Bool, mask),)))


def row_times_column(accumulator: Accumulator, element: DataType, left: Any, right: Any, **more: Any) -> int:
    """One sum of products of F32."""
    row, column = np.array([left], np.float32), np.array(right, np.float32).reshape(-1, 1)
    (only,) = product(accumulator, element, (_T.F32, row), (_T.F32, column), **more).bits
    return only


def drawn(seed: int, shape: tuple[int, ...]) -> Any:
    return (np.random.default_rng(seed).normal(size=shape) * 10).astype(np.float32)


def test_k_ascends_with_one_rounding_a_step() -> None:
    a, b = drawn(1, (2, 9)), drawn(2, (9, 3))
    wanted: list[int] = []
    for i in range(2):
        for j in range(3):
            total = 0
            for k in range(9):
                before = Fraction(float(array(_T.F32, Elements((), [total]))))
                exact = Fraction(float(a[i, k])) * Fraction(float(b[k, j])) + before
                total = rounded(_T.F32, exact)
            wanted.append(total)
    assert product(Accumulator.F32, _T.F32, (_T.F32, a), (_T.F32, b)).bits == wanted


def test_k_ascends_with_two_roundings_a_step() -> None:
    a, b = drawn(3, (2, 9)), drawn(4, (9, 3))
    wanted = np.zeros((2, 3), np.float32)
    for k in range(9):
        wanted += a[:, k, None] * b[k]
    got = product(Accumulator.F32, _T.F32, (_T.F32, a), (_T.F32, b), step=TWO)
    assert got == elements(_T.F32, wanted)
    assert got != product(Accumulator.F32, _T.F32, (_T.F32, a), (_T.F32, b))


def test_batches_are_products_of_their_own() -> None:
    a, b = drawn(5, (2, 3, 2, 4)), drawn(6, (2, 3, 4, 2))
    got = array(_T.F32, product(Accumulator.F32, _T.F32, (_T.F32, a), (_T.F32, b)))
    for at in np.ndindex(2, 3):
        one = array(_T.F32, product(Accumulator.F32, _T.F32, (_T.F32, a[at]), (_T.F32, b[at])))
        assert got[at].tobytes() == one.tobytes()


@pytest.mark.parametrize("accumulator", [Accumulator.F32, Accumulator.F64, Accumulator.Exact])
def test_no_k_gives_plus_zero(accumulator: Accumulator) -> None:
    a, b = np.zeros((2, 0), np.float32), np.zeros((0, 1), np.float32)
    assert product(accumulator, _T.F32, (_T.F32, a), (_T.F32, b)) == Elements((2, 1), [0, 0])


def test_a_sum_of_minus_zeros_starts_from_plus_zero() -> None:
    for accumulator in (Accumulator.F32, Accumulator.F64, Accumulator.Exact):
        assert row_times_column(accumulator, _T.F32, [-0.0, -0.0], [1.0, 2.0]) == 0


def test_halves_are_widened_and_rounded_once() -> None:
    a = np.full((1, 4), 1 + 2**-10, np.float16)
    b = np.full((4, 1), 1 + 2**-10, np.float16)
    got = product(Accumulator.F32, _T.F16, (_T.F16, a), (_T.F16, b))
    assert array(_T.F16, got) == np.float16(np.sum(a.astype(np.float32) ** 2))
    mixed = product(Accumulator.F32, _T.F32, (_T.F16, a), (_T.BF16, b))
    assert array(_T.F32, mixed) == np.float32(4 * (1 + 2**-10))


def test_an_f64_accumulator_is_rounded_to_a_half_directly() -> None:
    got = row_times_column(Accumulator.F64, _T.F16, [1 + 2**-11, 2**-20], [1.0, 2**-20])
    assert array(_T.F16, Elements((), [got])) == 1 + 2**-10


def test_integers_wrap_and_are_widened_by_their_sign() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.integers(-128, 128, (3, 20), np.int8), rng.integers(0, 256, (20, 2), np.uint8)
    got = array_of(MatMul("a", "b", Accumulator.I32, FMA, _T.I32), (_T.I8, a), (_T.U8, b))
    np.testing.assert_array_equal(got, a.astype(np.int64) @ b.astype(np.int64))
    u, v = rng.integers(0, 2**32, (2, 5), np.uint32), rng.integers(0, 2**32, (5, 2), np.uint32)
    got = array_of(MatMul("a", "b", Accumulator.U32, FMA, _T.U32), (_T.U32, u), (_T.U32, v))
    np.testing.assert_array_equal(got, u @ v)
    low = array_of(MatMul("a", "b", Accumulator.I32, FMA, _T.I8), (_T.I8, a), (_T.U8, b))
    np.testing.assert_array_equal(low, (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int8))


@pytest.mark.parametrize("accumulator", [Accumulator.F32, Accumulator.F64, Accumulator.Exact])
def test_what_lies_under_the_mask_does_not_show(accumulator: Accumulator) -> None:
    left, right = [1.0, nan, 2.0, 0.0], [3.0, 1.0, 4.0, inf]
    assert row_times_column(accumulator, _T.F32, left, right, mask=[[1, 0, 1, 0]]) == bits(_T.F32, 11.0)
    assert row_times_column(accumulator, _T.F32, left, right, mask=[[0, 0, 0, 0]]) == 0
    assert row_times_column(accumulator, _T.F32, left, right, mask=[[1, 1, 1, 0]]) == 0x7FC0_0000


def test_a_mask_keeps_the_order_of_what_is_left() -> None:
    a, b = drawn(8, (1, 12)), drawn(9, (12, 1))
    kept = np.array([k % 3 != 1 for k in range(12)])
    masked = product(Accumulator.F32, _T.F32, (_T.F32, a), (_T.F32, b), mask=kept[None].astype(np.uint32))
    assert masked == product(Accumulator.F32, _T.F32, (_T.F32, a[:, kept]), (_T.F32, b[kept]))


@pytest.mark.parametrize("element", [_T.F32, _T.F64, _T.F16, _T.BF16])
def test_an_exact_sum_is_the_rational_one_rounded_once(element: DataType) -> None:
    rng = Random(element.value)
    for _ in range(20):
        scale = 3 if element is _T.F16 else 20
        left = [rng.choice((-1, 1)) * rng.random() * 2.0 ** rng.randint(-scale, scale) for _ in range(7)]
        right = [rng.choice((-1, 1)) * rng.random() * 2.0 ** rng.randint(-scale, scale) for _ in range(7)]
        left += [-x for x in left[:5]]  # most of the sum cancels
        right += right[:5]
        pair = (_T.F64, np.array([left])), (_T.F64, np.array(right).reshape(-1, 1))
        wanted = rounded(
            element, sum((Fraction(x) * Fraction(y) for x, y in zip(left, right, strict=True)), Fraction(0))
        )
        assert product(Accumulator.Exact, element, *pair).bits == [wanted]


def test_an_exact_sum_of_f32_is_that_of_exact_doubles() -> None:
    a, b = drawn(10, (1, 40)), drawn(11, (40, 1))
    products = (a[0].astype(np.float64) * b[:, 0].astype(np.float64)).tolist()
    got = product(Accumulator.Exact, _T.F64, (_T.F32, a), (_T.F32, b))
    assert array(_T.F64, got) == fsum(products)


def test_an_exact_sum_passes_over_overflow_and_underflow() -> None:
    huge, tiny = float(np.float32(3e38)), 1e-45
    assert row_times_column(Accumulator.Exact, _T.F32, [huge, -huge, 1.0], [huge, huge, 5.0]) == bits(
        _T.F32, 5.0
    )
    assert row_times_column(Accumulator.Exact, _T.F32, [huge, huge], [huge, huge]) == bits(_T.F32, inf)
    assert row_times_column(Accumulator.Exact, _T.F32, [tiny], [tiny]) == 0
    # Not through the double, whose rounding would make a tie.
    a = np.array([[1.0, 2.0**-30, 2.0**-600]])
    b = np.array([[1.0], [2.0**-30 * 2.0**36], [2.0**-400]])
    got = product(Accumulator.Exact, _T.F32, (_T.F64, a), (_T.F64, b))
    assert array(_T.F32, got) == np.nextafter(np.float32(1), np.float32(2))


def test_an_exact_sum_of_zero_is_plus_zero() -> None:
    assert row_times_column(Accumulator.Exact, _T.F32, [1.5, -1.5], [2.0, 2.0]) == 0
    assert row_times_column(Accumulator.Exact, _T.F32, [-0.0], [3.0]) == 0


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        ([nan, 1.0], [1.0, 1.0], nan),
        ([1.0, 1.0], [1.0, nan], nan),
        ([0.0, 1.0], [inf, 1.0], nan),
        ([-inf, 1.0], [-0.0, 1.0], nan),
        ([inf, -inf], [1.0, 1.0], nan),
        ([inf, inf], [1.0, -1.0], nan),
        ([inf, 3e38], [1.0, -3e38], inf),
        ([-inf, -inf], [1.0, 2.0], -inf),
        ([inf, nan], [1.0, 1.0], nan),
    ],
)
def test_specials_of_an_exact_sum(left: list[float], right: list[float], wanted: float) -> None:
    for element in (_T.F32, _T.F16, _T.BF16, _T.F64):
        canonical = {_T.F32: 0x7FC0_0000, _T.F16: 0x7E00, _T.BF16: 0x7FC0, _T.F64: 0x7FF8 << 48}[element]
        expected = canonical if wanted != wanted else bits(element, wanted)
        assert row_times_column(Accumulator.Exact, element, left, right) == expected


def test_the_types_of_a_product_may_differ() -> None:
    a, b = np.array([[1.5, 2.5]], np.float16), np.array([[2.0], [4.0]], np.float32)
    got = product(Accumulator.Exact, _T.F64, (_T.F16, a), (_T.F32, b))
    assert array(_T.F64, got).tolist() == [[13.0]]
