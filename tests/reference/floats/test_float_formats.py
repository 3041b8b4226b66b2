"""The formats and the one rounding: where values change, and what the encodings are."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.reference.floats.float_oracles import ALL_FORMATS, to_float
from vyre.ir.types import DataType
from vyre.reference.floats import BF16, F16, F32, F64, FORMATS, Format
from vyre.reference.floats.formats import round_exact, unpack


def test_canonical_nans_and_infinities_are_the_decided_ones() -> None:
    assert [f.canonical_nan for f in (F32, F16, BF16, F64)] == [
        0x7FC00000,
        0x7E00,
        0x7FC0,
        0x7FF8000000000000,
    ]
    assert [f.infinity for f in (F32, F16, BF16, F64)] == [0x7F800000, 0x7C00, 0x7F80, 0x7FF0000000000000]
    assert {t: (f.name, f.width) for t, f in FORMATS.items()} == {
        t: (t.value, t.bits) for t in (DataType.F16, DataType.BF16, DataType.F32, DataType.F64)
    }


@pytest.mark.parametrize("fmt", [F16, BF16], ids=lambda f: f.name)
def test_every_finite_half_unpacks_to_its_value_and_rounds_back_to_itself(fmt: Format) -> None:
    for bits in range(1 << 16):
        if fmt.is_finite(bits):
            sign, significand, exponent = unpack(fmt, bits)
            value = (-1) ** sign * significand * Fraction(2) ** exponent
            assert value == Fraction(to_float(fmt, bits))
            assert round_exact(fmt, sign, significand, exponent) == bits


@pytest.mark.parametrize("fmt", [F16, BF16], ids=lambda f: f.name)
def test_midpoints_go_to_even_and_their_neighbourhoods_to_the_nearer_float(fmt: Format) -> None:
    for low in range(fmt.infinity):
        _, m, e = unpack(fmt, low)
        if low == fmt.infinity - 1:
            n, f = m + 1, e
        else:
            _, n, f = unpack(fmt, low + 1)
        # Ten more bits leave room for a nudge on either side.
        middle = (m << 10) + (n << (10 + f - e)) >> 1
        even = low + (low & 1)
        assert round_exact(fmt, 0, middle, e - 10) == even
        assert round_exact(fmt, 0, middle - 1, e - 10) == low
        assert round_exact(fmt, 0, middle + 1, e - 10) == low + 1
        assert round_exact(fmt, 1, middle, e - 10, sticky=True) == fmt.sign_bit | (low + 1)
        assert round_exact(fmt, 1, middle - 1, e - 10, sticky=True) == fmt.sign_bit | low


@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_absurd_exponents_overflow_and_underflow_without_huge_integers(fmt: Format) -> None:
    assert round_exact(fmt, 0, 3, 1 << 200) == fmt.infinity
    assert round_exact(fmt, 1, 3, -(1 << 200)) == fmt.sign_bit
    assert round_exact(fmt, 1, 0, 1 << 200) == fmt.sign_bit


@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_the_thresholds_of_zero_and_infinity(fmt: Format) -> None:
    half_smallest = fmt.min_exponent - 1
    assert round_exact(fmt, 0, 1, half_smallest) == 0
    assert round_exact(fmt, 0, 5, half_smallest - 2) == 1
    threshold = (1 << (fmt.precision + 1)) - 1
    exponent = fmt.max_exponent - fmt.precision
    assert round_exact(fmt, 0, threshold, exponent) == fmt.infinity
    assert round_exact(fmt, 0, 4 * threshold - 1, exponent - 2) == fmt.infinity - 1
