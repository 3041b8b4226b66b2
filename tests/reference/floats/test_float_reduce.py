"""Reductions: the two strict orders against their definitions, the exact ones against rationals."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import reduce as fold

import pytest

from tests.reference.floats.float_oracles import (
    ALL_FORMATS,
    from_float,
    gmpy2,
    mpfr_context,
    sample,
    specials,
    to_float,
)
from vyre.ir.operators import BinaryOp, ReduceOp, ReduceOrder
from vyre.reference.floats import F16, F32, F64, Format, binary, reduce, reduce_exact

_STEP = {
    ReduceOp.Add: BinaryOp.FAdd,
    ReduceOp.Mul: BinaryOp.FMul,
    ReduceOp.Min: BinaryOp.FMin,
    ReduceOp.Max: BinaryOp.FMax,
}


def _tree(op: ReduceOp, fmt: Format, values: list[int]) -> int:
    """Decision 9, word for word."""
    if len(values) == 1:
        return values[0]
    split = 1
    while 2 * split < len(values):
        split *= 2
    left, right = _tree(op, fmt, values[:split]), _tree(op, fmt, values[split:])
    return binary(_STEP[op], fmt, left, right)


@pytest.mark.parametrize("op", ReduceOp, ids=lambda o: o.value)
@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_both_orders_follow_their_definitions(fmt: Format, op: ReduceOp) -> None:
    moderate = sample(fmt, 160, seed=31)[80:]
    for length in (*range(1, 35), 63, 64, 65, 80):
        values = moderate[:length]
        strict = fold(lambda a, b: binary(_STEP[op], fmt, a, b), values)
        assert reduce(ReduceOrder.Strict, op, fmt, values) == strict
        assert reduce(ReduceOrder.TreeBinary, op, fmt, values) == _tree(op, fmt, values)


def test_the_orders_differ_where_rounding_does() -> None:
    values = [from_float(F32, v) for v in (2.0**24, 1.0, 1.0, 1.0)]
    assert to_float(F32, reduce(ReduceOrder.Strict, ReduceOp.Add, F32, values)) == 2.0**24
    assert to_float(F32, reduce(ReduceOrder.TreeBinary, ReduceOp.Add, F32, values)) == 2.0**24 + 2
    assert to_float(F32, reduce_exact(ReduceOp.Add, F32, values)) == 2.0**24 + 4


@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_empty_reductions(fmt: Format) -> None:
    expected = [0.0, 1.0, float("inf"), float("-inf")]
    for op, value in zip(ReduceOp, expected, strict=True):
        bits = from_float(fmt, value)
        assert [reduce(order, op, fmt, []) for order in ReduceOrder] == [bits, bits]
        assert reduce_exact(op, fmt, []) == bits


def test_one_element_is_itself_even_a_nan_with_a_payload() -> None:
    for order in ReduceOrder:
        assert reduce(order, ReduceOp.Add, F32, [0xFFC12345]) == 0xFFC12345
    assert reduce_exact(ReduceOp.Add, F32, [0xFFC12345]) == F32.canonical_nan


@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_exact_sums_and_products_are_rounded_once(fmt: Format) -> None:
    rng = random.Random(32)
    context = mpfr_context(fmt)
    for _ in range(120):
        values = [v for v in sample(fmt, rng.randint(1, 24), seed=rng.randrange(10**9)) if fmt.is_finite(v)]
        values += [v ^ fmt.sign_bit for v in values[:5]]
        rng.shuffle(values)
        rationals = [Fraction(to_float(fmt, v)) for v in values]
        total = sum(rationals, Fraction(0))
        product = fold(lambda a, b: a * b, rationals, Fraction(1))
        for op, exact in ((ReduceOp.Add, total), (ReduceOp.Mul, product)):
            if exact:
                with context:
                    expected = from_float(fmt, float(gmpy2.mpfr(gmpy2.mpq(exact))))
                assert reduce_exact(op, fmt, values) == expected, values


def test_exact_minimum_and_maximum() -> None:
    values = [0x7E00, 0x0000, 0x8000, 0x3C00, 0xBC00, 0x7C01]
    assert reduce_exact(ReduceOp.Min, F16, values) == 0xBC00
    assert reduce_exact(ReduceOp.Max, F16, values) == 0x3C00
    assert reduce_exact(ReduceOp.Min, F16, values[:3]) == 0x8000
    assert reduce_exact(ReduceOp.Max, F16, [0x7C01, 0xFE01]) == 0x7E00


def test_exact_reductions_of_specials() -> None:
    one, inf, minus = F64.one, F64.infinity, F64.sign_bit
    assert reduce_exact(ReduceOp.Add, F64, [minus, minus]) == minus
    assert reduce_exact(ReduceOp.Add, F64, [minus, 0]) == 0
    assert reduce_exact(ReduceOp.Add, F64, [one, minus | one]) == 0
    assert reduce_exact(ReduceOp.Add, F64, [inf, one, inf]) == inf
    assert reduce_exact(ReduceOp.Add, F64, [inf, one, minus | inf]) == F64.canonical_nan
    assert reduce_exact(ReduceOp.Mul, F64, [minus | one, inf, one]) == minus | inf
    assert reduce_exact(ReduceOp.Mul, F64, [0, inf]) == F64.canonical_nan
    assert reduce_exact(ReduceOp.Mul, F64, [minus, one]) == minus


def test_an_exact_sum_may_pass_beyond_the_range() -> None:
    largest = F32.infinity - 1
    values = [largest, largest, largest | F32.sign_bit]
    assert reduce_exact(ReduceOp.Add, F32, values) == largest
    assert reduce(ReduceOrder.Strict, ReduceOp.Add, F32, values) == F32.infinity


@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_pairs_agree_with_the_operators(fmt: Format) -> None:
    for a in specials(fmt):
        for b in specials(fmt):
            for op, step in _STEP.items():
                assert reduce_exact(op, fmt, [a, b]) == binary(step, fmt, a, b), (op, a, b)
