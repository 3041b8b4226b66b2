"""The fixed point kernels: Arb's value always lies within the error they state."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from tests.reference.floats.float_oracles import flint
from vyre.reference.floats import constants, elementary, series
from vyre.reference.floats.ziv import quotient

if TYPE_CHECKING:
    from collections.abc import Iterator

Case = tuple[Any, int, int, int]
SCALES = (24, 37, 66, 100, 257, 900)


def _scaled(value: int, w: int) -> Any:
    return flint.arb(value) / flint.arb(2) ** w


def _series() -> Iterator[Case]:
    rng = random.Random(61)
    for w in SCALES:
        for _ in range(60):
            den = rng.getrandbits(40) + 2
            num = rng.randint(0, den // 2)
            ratio = flint.arb(num) / flint.arb(den)
            yield ratio.atan(), *series.arctan_series(num, den, w, hyperbolic=False), w
            yield ratio.atanh(), *series.arctan_series(num, den, w, hyperbolic=True), w
            t = rng.getrandbits(w)
            yield _scaled(t, w).exp(), *series.exponential(t, w), w
            r = rng.randint(-(1 << w), 1 << w) * 78 // 100
            sine, cosine, error = series.sine_cosine(r, w)
            yield _scaled(r, w).sin(), sine, error, w
            yield _scaled(r, w).cos(), cosine, error, w


def _elementary() -> Iterator[Case]:
    rng = random.Random(62)
    for w in SCALES:
        for _ in range(60):
            m, e = rng.getrandbits(24) | 1, rng.randint(-150, 104)
            truth = (flint.arb(m) * flint.arb(2) ** e).log()
            yield truth, *elementary.logarithm(m, e, w), w
            y, x = rng.getrandbits(rng.randint(1, 60)) + 1, rng.getrandbits(rng.randint(1, 60))
            yield flint.arb.atan2(flint.arb(y), flint.arb(x)), *elementary.angle(y, x, w), w


def _constants() -> Iterator[Case]:
    half = flint.arb(1) / 2
    truths = {
        constants.pi: flint.arb.pi(),
        constants.ln2: flint.arb(2).log(),
        constants.ln10: flint.arb(10).log(),
        constants.arctan_half: half.atan(),
    }
    for function, truth in truths.items():
        for w in (1, 20, 255, 256, 257, 700, 1300):
            yield truth, function(w), constants.CONSTANT_ERROR, w


@pytest.fixture(autouse=True)
def precise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flint.ctx, "prec", 1500)


def _outside(cases: Iterator[Case], *, allowed: int | None = None) -> int:
    """How many values miss the truth by more than their error, or by more than `allowed` units."""
    missed = 0
    for truth, value, error, w in cases:
        distance = abs(truth * flint.arb(2) ** w - value)
        missed += not bool(distance <= (error if allowed is None else allowed))
    return missed


@pytest.mark.parametrize("cases", [_series, _elementary, _constants], ids=lambda c: c.__name__)
def test_the_truth_lies_within_the_stated_error(cases: Any) -> None:
    assert _outside(cases()) == 0


@pytest.mark.parametrize("cases", [_series, _elementary, _constants], ids=lambda c: c.__name__)
def test_the_check_would_notice_an_error_that_is_too_small(cases: Any) -> None:
    assert _outside(cases(), allowed=0) > 0


def test_exponentials_of_uncertain_arguments_cover_both_ends() -> None:
    rng = random.Random(63)
    for w in SCALES:
        for _ in range(60):
            t, error = rng.randint(-100 << w, 100 << w), rng.getrandbits(8)
            low, high, exponent = elementary.exponential_of(t, error, w)
            unit = flint.arb(2) ** exponent
            assert bool(low * unit < _scaled(t - error, w).exp())
            assert bool(_scaled(t + error, w).exp() < high * unit)


def test_stated_errors_stay_small_enough_to_be_useful() -> None:
    assert all(error < 16 * w for _, _, error, w in _series())


def test_quotients_are_rounded_outwards() -> None:
    assert quotient((1, 1), (3, 3), 4) == (5, 6, -4)
    assert quotient((4, 6), (2, 3), 0) == (1, 3, 0)
