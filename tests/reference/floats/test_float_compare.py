"""Comparisons, classification, minimumNumber and maximumNumber."""

from __future__ import annotations

import math
from itertools import product

import pytest

from tests.reference.floats.float_oracles import ALL_FORMATS, sample, specials, to_float
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.reference.floats import F16, F32, Format, binary, unary


def _pairs(fmt: Format) -> list[tuple[int, ...]]:
    drawn = zip(sample(fmt, 3_000, seed=11), sample(fmt, 3_000, seed=12), strict=True)
    return [*product(specials(fmt), repeat=2), *drawn]


@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_comparisons_agree_with_the_processor(fmt: Format) -> None:
    for a, b in _pairs(fmt):
        x, y = to_float(fmt, a), to_float(fmt, b)
        expected = [x == y, x != y, x < y, x > y, x <= y, x >= y]
        names = ("FEq", "FNe", "FLt", "FGt", "FLe", "FGe")
        assert [binary(BinaryOp(n), fmt, a, b) for n in names] == [int(e) for e in expected], (a, b)


@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_minimum_and_maximum_prefer_numbers_and_order_zeros(fmt: Format) -> None:
    for a, b in _pairs(fmt):
        x, y = to_float(fmt, a), to_float(fmt, b)
        numbers = [(v, math.copysign(1, v), bits) for v, bits in ((x, a), (y, b)) if not math.isnan(v)]
        low = min(numbers)[2] if numbers else fmt.canonical_nan
        high = max(numbers)[2] if numbers else fmt.canonical_nan
        assert binary(BinaryOp.FMin, fmt, a, b) == low, (a, b)
        assert binary(BinaryOp.FMax, fmt, a, b) == high, (a, b)


def test_minimum_of_opposite_zeros_in_both_orders() -> None:
    zero, minus = 0, F32.sign_bit
    assert {binary(BinaryOp.FMin, F32, *p) for p in ((zero, minus), (minus, zero))} == {minus}
    assert {binary(BinaryOp.FMax, F32, *p) for p in ((zero, minus), (minus, zero))} == {zero}


def test_a_signalling_nan_loses_to_a_number() -> None:
    assert binary(BinaryOp.FMin, F16, 0x7C01, 0x3C00) == 0x3C00
    assert binary(BinaryOp.FMax, F16, 0xFC00, 0xFC01) == 0xFC00


@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_classification(fmt: Format) -> None:
    for bits in [*specials(fmt), *sample(fmt, 500, seed=13)]:
        value = to_float(fmt, bits)
        assert unary(UnaryOp.FIsNaN, fmt, bits) == int(math.isnan(value))
        assert unary(UnaryOp.FIsInf, fmt, bits) == int(math.isinf(value))
