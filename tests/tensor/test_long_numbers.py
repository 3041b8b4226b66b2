"""I64 to floats and back: one rounding, whatever the size, and saturation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre
from vyre import tensor as vt
from vyre.errors import VyreError
from vyre.graph.sizes import Size

POWERS = [(1 << 24) + 1, (1 << 24) + 3, (1 << 53) + 1, -(1 << 53) - 1, (1 << 62) + (1 << 38)]
NUMBERS = [*POWERS, 0, 1, -1, (1 << 63) - 1, -(1 << 63), POWERS[-1] + 1, 65519, 65520, -65520, 259]


def numbers() -> Any:
    rng = np.random.default_rng(1)
    drawn = rng.integers(-(1 << 63), (1 << 63) - 1, 256) >> rng.integers(0, 64, 256)
    return np.concatenate([np.array(NUMBERS), drawn])


def rounded(value: int, bits: int) -> float:
    """To this many bits, ties to even."""
    size = abs(value)
    extra = max(size.bit_length() - bits, 0)
    head, rest = size >> extra, size & ((1 << extra) - 1)
    half = 1 << extra >> 1
    head += extra > 0 and (rest > half or (rest == half and head & 1 == 1))
    return float(head << extra) * (-1 if value < 0 else 1)


def converted(values: Any, kind: str, mode: str = "nearest") -> Any:
    @vt.function
    def run(x: Any) -> Any:
        return vt.astype(x, kind, mode=mode)

    found = run(values, backend="cpu")
    assert np.asarray(found).tobytes() == np.asarray(run(values, backend="reference")).tobytes()
    return np.asarray(found)


@pytest.mark.parametrize(("kind", "bits"), [("f32", 24), ("f64", 53), ("bf16", 8), ("f16", 11)])
def test_a_long_number_is_rounded_once(kind: str, bits: int) -> None:
    x = numbers()
    exact = np.array([rounded(int(value), bits) for value in x])
    found = converted(x, kind)
    if kind == "bf16":
        found = (found.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    if kind == "f16":
        exact = np.where(abs(exact) > 65504, np.copysign(np.inf, exact), exact)
    np.testing.assert_array_equal(found.astype(np.float64), exact)


@pytest.mark.parametrize(
    ("mode", "whole"), [("nearest", np.rint), ("truncate", np.trunc), ("floor", np.floor)]
)
@pytest.mark.parametrize("kind", ["float32", "float64", "float16"])
def test_a_float_becomes_a_long_number(kind: str, mode: str, whole: Any) -> None:
    rng = np.random.default_rng(2)
    drawn = rng.standard_normal(256) * 2.0 ** rng.integers(-3, 66, 256)
    special = [0.5, 1.5, 2.5, -0.5, -1.5, 2.0**32 + 512, 2.0**62, 2.0**63, -(2.0**63), 1e19, -np.inf, np.inf]
    with np.errstate(all="ignore"):
        x = np.concatenate([special, drawn]).astype(kind)
    low, high = -(1 << 63), (1 << 63) - 1

    def saturated(value: float) -> int:
        return (high if value > 0 else low) if np.isinf(value) else min(max(int(value), low), high)

    expected = [saturated(float(whole(value))) for value in x.astype(np.float64)]
    assert converted(x, "i64", mode).tolist() == expected
    assert converted(np.array([np.nan], kind), "i64", mode).tolist() == [0]


def test_the_size_and_sign_of_long_numbers() -> None:
    @vt.function
    def both(x: Any) -> Any:
        return abs(x), vt.sign(x)

    x = np.array([5, -5, 0, -(1 << 40), -(1 << 63)])
    size, sign = both(x, backend="cpu")
    assert size.tolist() == [5, 5, 0, 1 << 40, -(1 << 63)]
    assert sign.tolist() == [1, -1, 0, -1, -1]


def test_a_scalar_has_its_greatest_at_0_and_sums_are_words() -> None:
    @vt.function
    def run(x: Any) -> Any:
        return vt.argmax(x), vt.argmin(x), vt.sum(x, ()), vt.mean(x.astype(vyre.f16))

    where, least, total, mean = run(np.array(7, np.uint8), backend="cpu")
    assert (where, least, total) == (0, 0, 7)
    assert (where.dtype, total.dtype, mean.dtype) == (np.uint32, np.uint32, np.float16)


def test_a_size_is_a_whole_number() -> None:
    with pytest.raises(VyreError, match=r"2\.5 is not a u32"):
        Size("n") * 2.5  # type: ignore[operator]


def test_a_view_of_bfloat16_is_passed_again() -> None:
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16

    @vt.function
    def twice(x: Any) -> Any:
        return x + x

    whole = np.ones(8, bfloat16)
    for _ in range(3):
        assert twice(whole[:4], backend="cpu").view(bfloat16).astype(np.float32).tolist() == [2, 2, 2, 2]
