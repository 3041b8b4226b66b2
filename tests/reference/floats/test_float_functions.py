"""Correctly rounded functions against MPFR at the target precision, and against Arb by midpoints."""

from __future__ import annotations

import struct
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from tests.reference.floats.float_hard_cases import HARD_F32
from tests.reference.floats.float_oracles import (
    ALL_FORMATS,
    FUNCTION_FORMATS,
    arb_exact,
    differences,
    flint,
    mpfr_nearest,
    mpfr_oracle,
    rounds_to,
    sample,
    specials,
    to_float,
)
from vyre.ir.float_formats import BF16, F16, F32, F64, FloatFormat
from vyre.ir.operators import ApproxOp, BinaryOp, UnaryOp
from vyre.reference.floats import approx, binary, unary
from vyre.reference.floats.formats import is_finite

if TYPE_CHECKING:
    from collections.abc import Callable

FUNCTIONS = (
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "exp",
    "exp2",
    "exp10",
    "log",
    "log2",
    "log10",
    "erf",
    "tanh",
    "sinh",
    "cosh",
    "expm1",
    "log1p",
    "cbrt",
)
_SPELLING = {"asin": "ASin", "acos": "ACos", "atan": "ATan"}


def ours(fmt: FloatFormat, name: str) -> Callable[[int], int]:
    op = UnaryOp("F" + _SPELLING.get(name, name.capitalize()))
    return lambda a: unary(op, fmt, a)


def f32(value: float) -> int:
    return struct.unpack("<I", struct.pack("<f", value))[0]


def _both_signs(fmt: FloatFormat, bits: list[int]) -> list[tuple[int]]:
    return [(s | b,) for b in bits for s in (0, fmt.sign)]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("fmt", FUNCTION_FORMATS, ids=lambda f: f.name)
def test_functions_agree_with_mpfr(fmt: FloatFormat, name: str) -> None:
    cases = [(b,) for b in (*specials(fmt), *sample(fmt, 3_000, seed=41))]
    if fmt is not F32:
        cases += [(b,) for b in range(sum(map(ord, name)) % 8, 1 << 16, 8)]
    assert not differences(mpfr_oracle(fmt, name), ours(fmt, name), cases)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_doubles_agree_with_mpfr(name: str) -> None:
    cases = [(b,) for b in (*specials(F64), *sample(F64, 300, seed=42))]
    assert not differences(mpfr_oracle(F64, name), ours(F64, name), cases)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_hard_cases_agree_with_mpfr(name: str) -> None:
    assert not differences(mpfr_oracle(F32, name), ours(F32, name), _both_signs(F32, HARD_F32[name]))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_angles_next_to_multiples_of_a_quarter_turn_and_huge_ones(fmt: FloatFormat, name: str) -> None:
    oracle = mpfr_oracle(fmt, name)
    half_pi = mpfr_oracle(fmt, "atan")(fmt.infinity)
    multiples = [mpfr_oracle(fmt, "mul")(half_pi, n) for n in sample(fmt, 200, seed=43)]
    near = [b & fmt.magnitude for b in (half_pi, *multiples) if is_finite(fmt, b)]
    cases = [b + d for b in near for d in (-2, -1, 0, 1, 2) if 0 < b + d < fmt.infinity]
    largest = [fmt.infinity - 1 - (i << fmt.fraction_bits) for i in range(12)]
    assert not differences(oracle, ours(fmt, name), _both_signs(fmt, cases + largest))


def test_known_values_at_the_top_of_the_range() -> None:
    two_to_127 = f32(2.0**127)
    assert unary(UnaryOp.FSin, F32, two_to_127) == mpfr_oracle(F32, "sin")(two_to_127) == 0x3F1F9631
    near_pi = f32(float.fromhex("0x1.921fb6p+1"))
    assert unary(UnaryOp.FSin, F32, near_pi) == 0xB3BBBD2E


_ARB: dict[str, Callable[[Any], Any]] = {
    **{n: lambda x, n=n: getattr(x, n)() for n in FUNCTIONS if n[-1] not in "20"},
    "exp2": lambda x: flint.arb(2) ** x,
    "exp10": lambda x: flint.arb(10) ** x,
    "log2": lambda x: x.log() / flint.arb(2).log(),
    "log10": lambda x: x.log() / flint.arb(10).log(),
    "cbrt": lambda x: x.root(3) if x > 0 else -(-x).root(3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("fmt", FUNCTION_FORMATS, ids=lambda f: f.name)
def test_results_lie_between_their_midpoints_by_arb(
    fmt: FloatFormat, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flint.ctx, "prec", 400)
    checked = 0
    for bits in [*specials(fmt), *sample(fmt, 500, seed=44)]:
        result = ours(fmt, name)(bits)
        if is_finite(fmt, bits) and is_finite(fmt, result) and result & fmt.magnitude != fmt.infinity - 1:
            truth = _ARB[name](arb_exact(fmt, bits))
            assert rounds_to(fmt, truth, result), hex(bits)
            assert not rounds_to(fmt, truth, result ^ 1)
            checked += 1
    assert checked > 100


@pytest.mark.parametrize("fmt", FUNCTION_FORMATS, ids=lambda f: f.name)
def test_atan2_agrees_with_mpfr(fmt: FloatFormat) -> None:
    drawn = zip(sample(fmt, 3_000, seed=45), sample(fmt, 3_000, seed=46), strict=True)
    # Ratios that are midpoints of the subnormal range: the angle is a hair below.
    two = fmt.one + (1 << fmt.fraction_bits)
    ties = [(n, two + (k << fmt.fraction_bits)) for n in range(1, 40) for k in range(4)]
    cases = [*product(specials(fmt), repeat=2), *drawn, *ties]
    assert not differences(mpfr_oracle(fmt, "atan2"), partial(binary, BinaryOp.FATan2, fmt), cases)


def test_atan2_of_axes_zeros_and_infinities() -> None:
    pi, three_quarters, half, quarter = 0x40490FDB, 0x4016CBE4, 0x3FC90FDB, 0x3F490FDB
    zero, one, inf, minus = 0, F32.one, F32.infinity, F32.sign
    table = {
        (zero, zero): zero,
        (zero, minus): pi,
        (zero, one): zero,
        (zero, minus | one): pi,
        (one, zero): half,
        (one, minus): half,
        (one, inf): zero,
        (one, minus | inf): pi,
        (inf, one): half,
        (inf, minus | one): half,
        (inf, inf): quarter,
        (inf, minus | inf): three_quarters,
    }
    for (y, x), angle in table.items():
        assert binary(BinaryOp.FATan2, F32, y, x) == angle, (y, x)
        assert binary(BinaryOp.FATan2, F32, minus | y, x) == minus | angle, (y, x)


@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_special_values_of_functions(fmt: FloatFormat) -> None:
    one, inf, minus, nan = fmt.one, fmt.infinity, fmt.sign, fmt.nan
    odd = ("sin", "tan", "asin", "atan", "erf", "tanh", "sinh", "cbrt", "expm1", "log1p")
    for name in odd:
        assert [ours(fmt, name)(z) for z in (0, minus)] == [0, minus]
    for name in ("exp", "exp2", "exp10"):
        f = ours(fmt, name)
        assert [f(0), f(minus), f(inf), f(minus | inf)] == [one, one, inf, 0]
        assert [f(inf - 1), f(minus | (inf - 1))] == [inf, 0]
    for name in ("log", "log2", "log10"):
        f = ours(fmt, name)
        assert [f(0), f(minus), f(one), f(inf)] == [minus | inf, minus | inf, 0, inf]
        assert [f(minus | one), f(minus | 1), f(minus | inf)] == [nan, nan, nan]
    for name in ("sin", "cos", "tan"):
        assert [ours(fmt, name)(i) for i in (inf, minus | inf)] == [nan, nan]
    assert [ours(fmt, n)(v) for n in ("asin", "acos") for v in (one + 1, minus | inf)] == [nan] * 4
    assert ours(fmt, "acos")(one) == 0
    for name in ("erf", "tanh"):
        assert [ours(fmt, name)(i) for i in (inf, minus | inf)] == [one, minus | one]
    for name in ("sinh", "cbrt"):
        assert [ours(fmt, name)(i) for i in (inf, minus | inf)] == [inf, minus | inf]
    assert [ours(fmt, "cosh")(i) for i in (0, minus, inf, minus | inf)] == [one, one, inf, inf]
    assert [ours(fmt, "expm1")(i) for i in (inf, minus | inf)] == [inf, minus | one]
    f = ours(fmt, "log1p")
    assert [f(inf), f(minus | one), f(minus | one + 1), f(minus | inf)] == [inf, minus | inf, nan, nan]
    for name in FUNCTIONS:
        assert ours(fmt, name)(minus | inf + 1) == nan


@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_exact_powers_and_logarithms(fmt: FloatFormat) -> None:
    for n in range(fmt.min_exponent - 3, fmt.max_exponent + 3):
        bits = mpfr_oracle(fmt, "exp2")(mpfr_nearest(fmt, n))
        assert ours(fmt, "exp2")(mpfr_nearest(fmt, n)) == bits
        if fmt.min_exponent <= n <= fmt.max_exponent:
            assert to_float(fmt, bits) == 2.0**n
            assert to_float(fmt, ours(fmt, "log2")(bits)) == n
    for n in range(6):
        power = mpfr_oracle(fmt, "exp10")(mpfr_nearest(fmt, n))
        assert ours(fmt, "exp10")(mpfr_nearest(fmt, n)) == power
        if to_float(fmt, power) == 10.0**n:
            assert to_float(fmt, ours(fmt, "log10")(power)) == n


def test_half_of_the_smallest_subnormal_is_a_tie_and_goes_to_zero() -> None:
    assert ours(F32, "exp2")(f32(-150.0)) == 0
    assert ours(F32, "exp2")(f32(-149.99999)) == 1
    assert ours(F16, "exp2")(mpfr_nearest(F16, -25)) == 0
    assert ours(BF16, "exp2")(mpfr_nearest(BF16, -134)) == 0


def test_approximate_functions_are_measured_against_the_exact_ones() -> None:
    pairs = {ApproxOp.FSinApprox: "sin", ApproxOp.FCosApprox: "cos", ApproxOp.FExpApprox: "exp"}
    pairs |= {ApproxOp.FLogApprox: "log", ApproxOp.FTanhApprox: "tanh"}
    assert set(pairs) == set(ApproxOp)
    for op, name in pairs.items():
        cases = [(b,) for b in sample(F16, 200, seed=47)]
        assert not differences(mpfr_oracle(F16, name), partial(approx, op, F16), cases)
