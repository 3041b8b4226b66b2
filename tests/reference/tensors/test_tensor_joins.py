"""Reductions, scans, recurrences and scatters: orders, accumulators, empty axes, NaN, ties, duplicates."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from tests.reference.tensors.arrays import DTYPES, array, array_of, bits, elements, rounded, value_of
from vyre.graph import Duplicates, Joining, Recurrence, Reduce, Scan, Scatter
from vyre.ir.operators import ReduceOrder
from vyre.ir.types import DataType
from vyre.reference.tensors import Elements

_T = DataType
STRICT, TREE = ReduceOrder.Strict, ReduceOrder.TreeBinary
ROUGH = np.array([1e8, 1, 3, -1e8, 0.3, 7e7, -2.5, 1e-3, 11, 5e7, -0.7], np.float32)
"""Numbers whose sum depends on the order."""


def tree(values: Any, step: Any) -> Any:
    """Split at the largest power of two below the number of elements (decision 9)."""
    if len(values) == 1:
        return values[0]
    half = 1
    while 2 * half < len(values):
        half *= 2
    return step(tree(values[:half], step), tree(values[half:], step))


def joined(joining: Joining, of: DataType, values: Any, *, order: ReduceOrder = TREE,
           accumulator: DataType | None = None, element: DataType | None = None) -> Elements:  # fmt: skip
    kept = accumulator or of
    return value_of(Reduce("a", (0,), joining, order, kept, element or kept), (of, values))


@pytest.mark.parametrize("length", range(1, len(ROUGH) + 1))
def test_the_two_orders_of_a_sum(length: int) -> None:
    x = ROUGH[:length]
    assert joined(Joining.Add, _T.F32, x, order=STRICT) == elements(_T.F32, reduce(np.add, x))
    assert joined(Joining.Add, _T.F32, x) == elements(_T.F32, tree(x, np.add))
    assert joined(Joining.Mul, _T.F32, x) == elements(_T.F32, tree(x, np.multiply))


def test_the_orders_differ() -> None:
    assert joined(Joining.Add, _T.F32, ROUGH, order=STRICT) != joined(Joining.Add, _T.F32, ROUGH)


def test_axes_are_joined_in_row_major_order() -> None:
    x = np.resize(ROUGH, (2, 3, 4))
    node = Reduce("a", (0, 2), Joining.Add, STRICT, _T.F32, _T.F32)
    wanted = [reduce(np.add, x[:, j, :].reshape(-1)) for j in range(3)]
    assert value_of(node, (_T.F32, x)) == elements(_T.F32, np.array(wanted))
    whole = Reduce("a", (0, 1, 2), Joining.Add, TREE, _T.F32, _T.F32)
    assert value_of(whole, (_T.F32, x)) == elements(_T.F32, tree(x.reshape(-1), np.add))


@pytest.mark.parametrize("element", [_T.F16, _T.BF16])
def test_halves_are_joined_in_f32_and_rounded_once(element: DataType) -> None:
    x = np.random.default_rng(1).normal(size=47).astype(DTYPES[element])
    wanted = tree(x.astype(np.float32), np.add).astype(DTYPES[element])
    assert joined(Joining.Add, element, x, accumulator=_T.F32, element=element) == elements(element, wanted)
    narrow = tree(x, np.add)
    assert joined(Joining.Add, element, x) == elements(element, narrow)
    assert wanted != narrow


def test_an_f64_accumulator_is_rounded_to_a_half_directly() -> None:
    # Just above a tie of F16, which rounding to F32 first would make a tie.
    x = np.array([1 + 2**-11, 2**-40], np.float32)
    got = joined(Joining.Add, _T.F32, x, accumulator=_T.F64, element=_T.F16)
    assert array(_T.F16, got) == 1 + 2**-10
    assert np.float16(np.float32(np.sum(x, dtype=np.float64))) == 1


def test_a_single_element_is_not_computed_with() -> None:
    odd = Elements((1,), [0xFFC1_2345])
    for joining in (Joining.Add, Joining.Mul, Joining.FMin, Joining.Max):
        assert joined(joining, _T.F32, odd).bits == odd.bits
    assert joined(Joining.Add, _T.F32, [-0.0]).bits == [0x8000_0000]


@pytest.mark.parametrize(
    ("joining", "value"),
    [(Joining.Add, 0.0), (Joining.Mul, 1.0), (Joining.FMin, inf), (Joining.Min, inf), (Joining.FMax, -inf),
     (Joining.Max, -inf)],
)  # fmt: skip
@pytest.mark.parametrize("element", [_T.F32, _T.F16, _T.BF16, _T.F64])
def test_nothing_joined_of_floats(joining: Joining, value: float, element: DataType) -> None:
    assert joined(joining, element, []).bits == [bits(element, value)]


@pytest.mark.parametrize("element", [_T.U32, _T.I32, _T.U8, _T.I8, _T.U16, _T.I16])
def test_nothing_joined_of_integers(element: DataType) -> None:
    kept = element.loaded
    empty = np.zeros((0,), DTYPES[element])
    limits = np.iinfo(DTYPES[element])
    ends = {Joining.Min: limits.max, Joining.Max: limits.min}
    for joining, wanted in ends.items():
        got = joined(joining, element, empty, accumulator=kept, element=element)
        assert array(element, got) == wanted
    words = {Joining.Add: 0, Joining.Mul: 1, Joining.And: 2**32 - 1, Joining.Or: 0, Joining.Xor: 0}
    for joining, wanted in words.items():
        assert joined(joining, element, empty, accumulator=kept).bits == [wanted]
    for joining in (Joining.ArgMin, Joining.ArgMax):
        assert joined(joining, element, empty, accumulator=kept, element=_T.U32).bits == [0]


def test_nothing_joined_of_bools() -> None:
    assert joined(Joining.Min, _T.Bool, [], accumulator=_T.U32, element=_T.Bool).bits == [1]
    assert joined(Joining.Max, _T.Bool, [], accumulator=_T.U32, element=_T.Bool).bits == [0]


def test_integers_are_widened_by_their_sign_and_wrap() -> None:
    assert array(_T.I32, joined(Joining.Add, _T.I8, [-128, -128, 1], accumulator=_T.I32)) == -255
    assert joined(Joining.Add, _T.U8, [255, 255, 2], accumulator=_T.U32).bits == [512]
    assert joined(Joining.Add, _T.U8, [255, 2], accumulator=_T.U32, element=_T.U8).bits == [1]
    assert joined(Joining.Mul, _T.U32, [1 << 31, 3]).bits == [1 << 31]
    assert joined(Joining.Add, _T.Bool, [1, 0, 1], accumulator=_T.U32).bits == [2]
    for joining, wanted in ((Joining.And, 8), (Joining.Or, 14), (Joining.Xor, 6)):
        assert joined(joining, _T.U32, [12, 10]).bits == [wanted]


def test_min_and_max_of_integers_are_of_their_sign() -> None:
    assert array(_T.I32, joined(Joining.Max, _T.I32, [-5, 3, -7])) == 3
    assert array(_T.I32, joined(Joining.Min, _T.I32, [-5, 3, -7])) == -7
    assert joined(Joining.Min, _T.U32, [5, 2**32 - 1]).bits == [5]
    assert joined(Joining.ArgMin, _T.I16, [0, -1, -1], accumulator=_T.I32, element=_T.U32).bits == [1]


def test_a_number_beats_nan_in_fmin_and_fmax() -> None:
    assert joined(Joining.FMax, _T.F32, [nan, 2.0, nan, 1.0]).bits == [bits(_T.F32, 2.0)]
    assert joined(Joining.FMin, _T.F32, [nan, 2.0, nan, 1.0]).bits == [bits(_T.F32, 1.0)]
    assert joined(Joining.FMin, _T.F32, [0.0, -0.0]).bits == [0x8000_0000]
    assert joined(Joining.FMax, _T.F32, [-0.0, 0.0]).bits == [0]


def test_nan_is_the_greatest_in_min_and_max_and_keeps_its_bits() -> None:
    nans = Elements((4,), [bits(_T.F32, inf), 0xFFC1_2345, bits(_T.F32, -1.0), 0x7FC0_0000])
    assert joined(Joining.Max, _T.F32, nans).bits == [0xFFC1_2345]
    assert joined(Joining.ArgMax, _T.F32, nans, element=_T.U32).bits == [1]
    assert joined(Joining.Min, _T.F32, nans).bits == [bits(_T.F32, -1.0)]
    assert joined(Joining.ArgMin, _T.F32, nans, element=_T.U32).bits == [2]


def test_zeros_are_equal_and_the_first_of_equals_wins() -> None:
    for joining in (Joining.Min, Joining.Max):
        assert joined(joining, _T.F32, [-0.0, 0.0]).bits == [0x8000_0000]
        assert joined(joining, _T.F32, [0.0, -0.0]).bits == [0]
    assert joined(Joining.ArgMax, _T.F32, [1.0, -0.0, 2.0, 2.0], element=_T.U32).bits == [2]
    assert joined(Joining.ArgMin, _T.F32, [1.0, 0.0, -0.0], element=_T.U32).bits == [1]


def test_an_argument_counts_along_all_joined_axes() -> None:
    x = np.array([[[1, 2], [9, 3]], [[4, 9], [5, 6]]], np.float32)
    node = Reduce("a", (0, 2), Joining.ArgMax, TREE, _T.F32, _T.U32)
    assert value_of(node, (_T.F32, x)).bits == [3, 0]


def test_a_scan_is_the_tree_of_what_came_before() -> None:
    x = np.stack([ROUGH, ROUGH[::-1]])
    for axis, rows in ((1, x), (0, x.T)):
        wanted = np.array([[tree(row[: i + 1], np.add) for i in range(len(row))] for row in x], np.float32)
        node = Scan("a", axis, Joining.Add, _T.F32, _T.F32)
        got = array_of(node, (_T.F32, rows))
        assert got.tobytes() == (wanted if axis else wanted.T).tobytes()


def test_an_exclusive_scan_starts_with_nothing() -> None:
    node = Scan("a", 0, Joining.Mul, _T.F32, _T.F32, exclusive=True)
    assert array_of(node, (_T.F32, [2.0, 3.0, 4.0])).tolist() == [1, 2, 6]
    least = Scan("a", 0, Joining.Max, _T.I32, _T.I8, exclusive=True)
    assert array_of(least, (_T.I8, [-3, -5, 1])).tolist() == [-128, -3, -3]


def test_a_recurrence_is_a_chain_in_f32() -> None:
    a, b = np.resize(ROUGH[4:], (3, 2)) / 3, np.resize(ROUGH[3:] / 7, (3, 2))
    start = np.array([0.1, -5], np.float32)
    for initial in (None, start):
        h = [Fraction(0), Fraction(0)] if initial is None else [Fraction(float(v)) for v in initial]
        wanted: list[int] = []
        for i in range(3):
            for j in range(2):
                made = rounded(_T.F32, Fraction(float(a[i, j])) * h[j] + Fraction(float(b[i, j])))
                h[j] = Fraction(float(array(_T.F32, Elements((), [made]))))
                wanted.append(made)
        node = Recurrence("a", "b", 0, _T.F32, None if initial is None else "c")
        more = () if initial is None else ((_T.F32, initial),)
        assert value_of(node, (_T.F32, a), (_T.F32, b), *more).bits == wanted


def test_a_recurrence_is_rounded_for_its_result_alone() -> None:
    ones, small = np.ones(5, np.float16), np.array([1, 2**-11, 2**-11, 2**-11, 2**-11], np.float16)
    got = array_of(Recurrence("a", "b", 0, _T.F16), (_T.F16, ones), (_T.F16, small))
    assert got.tobytes() == np.cumsum(small.astype(np.float32)).astype(np.float16).tobytes()
    assert got[-1] > 1


def scattered(duplicates: Duplicates, of: DataType, source: Any, indices: Any, updates: Any) -> Elements:
    node = Scatter("a", "b", "c", 0, duplicates)
    return value_of(node, (of, source), (_T.I32, indices), (of, updates))


def test_the_last_of_equal_indices_stays_and_others_are_left_out() -> None:
    got = scattered(Duplicates.Last, _T.U32, [1, 2, 3], [2, -1, 0, 2, 3], [10, 20, 30, 40, 50])
    assert got.bits == [30, 2, 40]


def test_a_scatter_goes_along_its_axis() -> None:
    x, updates = np.zeros((2, 4), np.uint32), np.arange(1, 7, dtype=np.uint32).reshape(2, 3)
    node = Scatter("a", "b", "c", 1, Duplicates.Add)
    got = array_of(node, (_T.U32, x), (_T.U8, [3, 0, 3]), (_T.U32, updates))
    assert got.tolist() == [[2, 0, 0, 4], [5, 0, 0, 10]]


def test_sums_are_folded_in_the_order_of_the_indices() -> None:
    indices = np.arange(len(ROUGH)) % 2
    got = scattered(Duplicates.Add, _T.F32, np.array([0.5, 3e7], np.float32), indices, ROUGH)
    wanted = [reduce(np.add, ROUGH[k::2], start) for k, start in enumerate(np.array([0.5, 3e7], np.float32))]
    assert got == elements(_T.F32, np.array(wanted))


@pytest.mark.parametrize("element", [_T.F16, _T.BF16])
def test_halves_are_scattered_in_f32_and_rounded_once(element: DataType) -> None:
    updates = np.full(8, 2.0**-9 if element is _T.BF16 else 2.0**-12, DTYPES[element])
    got = scattered(Duplicates.Add, element, np.ones(1, DTYPES[element]), [0] * 8, updates)
    assert array(element, got)[0] == 1 + 8 * float(updates[0])


def test_least_and_greatest_are_those_of_reductions() -> None:
    source = Elements((3,), [bits(_T.F32, 1.0), bits(_T.F32, -0.0), 0x7FC0_0001])
    updates = Elements((3,), [0xFFC1_2345, 0, bits(_T.F32, 5.0)])
    assert scattered(Duplicates.Max, _T.F32, source, [0, 1, 2], updates).bits == [
        0xFFC1_2345, bits(_T.F32, -0.0), 0x7FC0_0001]  # fmt: skip
    assert scattered(Duplicates.Min, _T.F32, source, [0, 1, 2], updates).bits == [
        bits(_T.F32, 1.0), bits(_T.F32, -0.0), bits(_T.F32, 5.0)]  # fmt: skip


def test_an_element_that_no_index_names_keeps_its_bits() -> None:
    odd = Elements((2,), [0x7C01, 0x3C00])
    assert scattered(Duplicates.Add, _T.F16, odd, [1], np.ones(1, np.float16)).bits == [0x7C01, 0x4000]


def test_narrow_integers_keep_the_low_bits_of_a_scatter() -> None:
    assert scattered(Duplicates.Add, _T.U8, [250], [0, 0], [3, 4]).bits == [1]
    assert array(_T.I8, scattered(Duplicates.Mul, _T.I8, [-3], [0], [50])).tolist() == [106]
