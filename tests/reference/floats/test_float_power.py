"""Powers: the special cases of the standard, exact results, midpoints, and MPFR."""

from __future__ import annotations

from functools import partial
from itertools import product

import pytest

from tests.reference.floats.float_oracles import (
    FUNCTION_FORMATS,
    differences,
    from_float,
    mpfr_nearest,
    mpfr_oracle,
    sample,
    specials,
    to_float,
)
from vyre.ir.operators import BinaryOp
from vyre.reference.floats import BF16, F16, F32, F64, Format, binary


def power(fmt: Format, x: int, y: int) -> int:
    return binary(BinaryOp.FPow, fmt, x, y)


def powers(fmt: Format, x: float, y: float) -> int:
    return power(fmt, from_float(fmt, x), from_float(fmt, y))


@pytest.mark.parametrize("fmt", FUNCTION_FORMATS, ids=lambda f: f.name)
def test_power_agrees_with_mpfr(fmt: Format) -> None:
    xs, ys = sample(fmt, 3_000, seed=51), sample(fmt, 3_000, seed=52)
    drawn = list(zip(xs, ys, strict=True))
    positive = [(x & fmt.magnitude_mask, y) for x, y in drawn]
    # Near 1, where the exponent must be large for anything to happen.
    near_one = [(fmt.one + x % 64 - 32, y) for x, y in drawn[:1000]]
    integers = [mpfr_nearest(fmt, n) for n in (-7, -3, -2, -1, 2, 3, 4, 5, 7, 31, 150)]
    integral = [(x, y) for x in [*specials(fmt), *xs[-60:]] for y in integers]
    cases = [*product(specials(fmt), repeat=2), *drawn, *positive, *near_one, *integral]
    assert not differences(mpfr_oracle(fmt, "pow"), partial(power, fmt), cases)


def test_power_of_doubles_agrees_with_mpfr() -> None:
    drawn = zip(sample(F64, 300, seed=53), sample(F64, 300, seed=54), strict=True)
    cases = [*product(specials(F64), repeat=2), *((x & F64.magnitude_mask, y) for x, y in drawn)]
    assert not differences(mpfr_oracle(F64, "pow"), partial(power, F64), cases)


def test_special_cases_of_the_standard() -> None:
    inf, nan = float("inf"), float("nan")
    table: list[tuple[float, float, float]] = [
        (nan, 0.0, 1.0),
        (nan, -0.0, 1.0),
        (1.0, nan, 1.0),
        (1.0, -inf, 1.0),
        (-1.0, inf, 1.0),
        (-1.0, -inf, 1.0),
        (-0.0, -3.0, -inf),
        (-0.0, -2.0, inf),
        (-0.0, 3.0, -0.0),
        (-0.0, 0.5, 0.0),
        (-0.0, -inf, inf),
        (0.5, inf, 0.0),
        (0.5, -inf, inf),
        (-2.0, inf, inf),
        (-2.0, -inf, 0.0),
        (-inf, -3.0, -0.0),
        (-inf, 3.0, -inf),
        (-inf, 2.0, inf),
        (-inf, -0.5, 0.0),
        (inf, -0.5, 0.0),
        (-8.0, 3.0, -512.0),
        (-8.0, -1.0, -0.125),
    ]
    for x, y, expected in table:
        assert powers(F32, x, y) == from_float(F32, expected), (x, y)
    assert powers(F32, -8.0, 0.5) == powers(F32, nan, 1.0) == powers(F32, 2.0, nan) == F32.canonical_nan


def _to_even(fmt: Format, odd: int, exponent: int) -> float:
    """The even neighbour of a midpoint `odd * 2**exponent`, `odd` one bit too long for the format."""
    assert odd & 1
    assert odd.bit_length() == fmt.precision + 1
    down = odd >> 1
    return float((down + (down & 1)) * 2) * 2.0**exponent


@pytest.mark.parametrize("fmt", [*FUNCTION_FORMATS, F64], ids=lambda f: f.name)
def test_integer_powers_that_are_midpoints_go_to_even(fmt: Format) -> None:
    seen = 0
    for n in (2, 3, 4, 5):
        first = int(2.0 ** (fmt.precision / n))
        for base in range(first | 1, first + 4000, 2):
            odd = base**n
            if odd.bit_length() > fmt.precision + 1:
                break
            if odd.bit_length() == fmt.precision + 1 and base.bit_length() <= fmt.precision:
                expected = _to_even(fmt, odd, 0)
                result = powers(fmt, float(base), float(n))
                if abs(expected) <= to_float(fmt, fmt.infinity - 1):
                    assert to_float(fmt, result) == expected, (base, n)
                    seen += 1
    assert seen >= 3


def test_fractional_powers_that_are_midpoints_go_to_even() -> None:
    for root in range(257, 322, 2):
        for k in (0, 3, -4):
            expected = _to_even(F32, root**3, 3 * k)
            assert to_float(F32, powers(F32, root**2 * 4.0**k, 1.5)) == expected
    assert to_float(F32, powers(F32, 29.0**2, 2.5)) == _to_even(F32, 29**5, 0)
    assert to_float(F32, powers(F32, 29.0**4, 1.25)) == _to_even(F32, 29**5, 0)
    assert to_float(F32, powers(F32, 31.0**4 * 2.0**-40, 1.25)) == _to_even(F32, 31**5, -50)
    assert to_float(F16, powers(F16, 13.0**2, 1.5)) == _to_even(F16, 13**3, 0)
    assert to_float(BF16, powers(BF16, 7.0**2, 1.5)) == _to_even(BF16, 7**3, 0)


def test_midpoints_of_the_subnormal_range_go_to_even() -> None:
    smallest = 2.0**-149
    for x, y, expected in [
        (2.0, -150.0, 0.0),
        (2.0**-75, 2.0, 0.0),
        (2.0**-50, 3.0, 0.0),
        (2.0**-100, 1.5, 0.0),
        (-(2.0**-50), 3.0, -0.0),
        (3 * 2.0**-75, 2.0, 4 * smallest),
        (5 * 2.0**-75, 2.0, 12 * smallest),
        (9 * 2.0**-100, 1.5, 14 * smallest),
    ]:
        assert powers(F32, x, y) == from_float(F32, expected), (x, y)
        assert powers(F32, x, y) == mpfr_oracle(F32, "pow")(from_float(F32, x), from_float(F32, y))


def test_results_far_outside_the_range_are_decided_at_once() -> None:
    largest, smallest = F64.infinity - 1, 1
    assert power(F64, largest, largest) == F64.infinity
    assert power(F64, smallest, largest) == 0
    assert power(F64, F64.one + 1, largest) == F64.infinity
    assert power(F64, F64.one - 1, largest) == 0
    assert power(F64, largest, smallest) == F64.one
    assert power(F64, F64.sign_bit | 3, F64.one + (1 << 53)) == mpfr_oracle(F64, "pow")(
        F64.sign_bit | 3, F64.one + (1 << 53)
    )
