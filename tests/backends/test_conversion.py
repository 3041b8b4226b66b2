"""`vyre.array` changes a dtype and no value, and the fix of a refused dtype works as it stands."""

from __future__ import annotations

import math
import struct
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import vyre
from vyre import DispatchError, In, Out, bf16, boolean, f16, f32, f64, i32, packed_bytes, u32, u64, u128, vec2

GOOD: list[tuple[Any, Any, Any, list[Any]]] = [
    (np.arange(3), u32, np.uint32, [0, 1, 2]),
    (np.array([-1, 1 << 30]), i32, np.int32, [-1, 1 << 30]),
    (np.array([1.0, 4294967295.0]), u32, np.uint32, [1, 4294967295]),
    (np.array([0.5, -0.0, np.inf, np.nan]), f32, np.float32, [0.5, -0.0, np.inf, np.nan]),
    (np.array([1, 2], ">u4"), u32, np.uint32, [1, 2]),
    (np.array([True, False]), u32, np.uint32, [1, 0]),
    (np.array([1, 0]), boolean, np.bool_, [True, False]),
    ([1, (1 << 64) - 1], u64, np.uint64, [1, (1 << 64) - 1]),
    (np.array([1 << 24, 3 << 40]), f32, np.float32, [1 << 24, 3 << 40]),
    ([[1, 2]], vec2, np.uint32, [[1, 2]]),
    ([[1, 2, 3, 4]], u128, np.uint32, [[1, 2, 3, 4]]),
    ([1.5, 2.0], f16, np.float16, [1.5, 2.0]),
    ([0, 255], packed_bytes, np.uint8, [0, 255]),
    (np.array([1.5], ml_dtypes.bfloat16), f32, np.float32, [1.5]),
    ([1.5, -2.0], bf16, np.uint16, [0x3FC0, 0xC000]),
]


@pytest.mark.parametrize(("values", "element", "dtype", "expected"), GOOD)
def test_values_that_fit_stay_the_same(values: Any, element: Any, dtype: Any, expected: list[Any]) -> None:
    found = vyre.array(values, element)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.array(expected, dtype))
    assert (
        np.signbit(found.astype(np.float64)).tolist() == np.signbit(np.array(expected, np.float64)).tolist()
    )


BAD: list[tuple[Any, Any, str]] = [
    (np.array([0, 5, -1]), u32, r"element \[2\] is -1, which U32 cannot hold"),
    (np.array([[1, 1 << 32]]), u32, r"element \[0, 1\] is 4294967296"),
    (np.array([1 << 31]), i32, "which I32 cannot hold"),
    (np.array([0.5]), u32, "which U32 cannot hold"),
    (np.array([np.nan]), u32, "which U32 cannot hold"),
    (np.array([4294967296.0]), u32, "which U32 cannot hold"),
    (np.array([0.1]), f32, r"which F32 cannot hold.*rounded=True"),
    (np.array([(1 << 24) + 1]), f32, r"which F32 cannot hold.*rounded=True"),
    (np.array([(1 << 64) - 1], np.uint64), f32, r"which F32 cannot hold.*rounded=True"),
    (np.array([-(1 << 63) + 1]), f64, r"which F64 cannot hold.*rounded=True"),
    (np.array([1e300]), f32, r"which F32 cannot hold.*correct the value"),
    (np.array([1e-60]), f32, r"which F32 cannot hold.*rounded=True"),
    (np.array([70000.0]), f16, r"which F16 cannot hold.*correct the value"),
    (np.array([1.0 + 2**-10]), bf16, r"which BF16 cannot hold.*rounded=True"),
    (np.array([2, 1]), boolean, "which Bool cannot hold"),
    (np.array(["a"]), u32, "not numbers"),
    (np.array([1j]), f32, "not numbers"),
    ([(1 << 53) + 1, 0.5], f64, "stands beside floats"),
    ([[1], [1, 2]], u32, "rows of one length"),
    (np.zeros((2, 3), np.int64), vec2, r"shape \(…, 2\)"),
    (np.ma.masked_array([1], [True]), u32, "masked"),
]


@pytest.mark.parametrize(("values", "element", "message"), BAD)
def test_a_value_that_would_change_is_refused(values: Any, element: Any, message: str) -> None:
    with pytest.raises(DispatchError, match=message):
        vyre.array(values, element)


def test_what_is_no_type_is_refused() -> None:
    with pytest.raises(DispatchError, match="not a type that a buffer"):
        vyre.array([1], np.uint32)


def test_an_array_that_fits_comes_back_itself() -> None:
    x = np.zeros(3, np.uint32)
    assert np.shares_memory(vyre.array(x, u32), x)


def test_rounding_is_to_the_nearest_and_makes_no_infinities() -> None:
    assert vyre.array([0.1], f32, rounded=True)[0] == np.float32(0.1)
    with pytest.raises(DispatchError, match="which F32 cannot hold"):
        vyre.array([0.1, 1e300], f32, rounded=True)
    with pytest.raises(DispatchError, match="which U32 cannot hold"):
        vyre.array([0.1], u32, rounded=True)


NANS = {
    np.uint16: (0x7C01, 0xFE12),
    np.uint32: (0x7F80_0001, 0xFFC1_2345),
    np.uint64: (0x7FF0_0000_0000_0001,),
}
TARGETS = [(f16, 0x7E00), (f32, 0x7FC0_0000), (f64, 0x7FF8_0000_0000_0000), (bf16, 0x7FC0)]


@pytest.mark.parametrize("words", NANS)
@pytest.mark.parametrize(("element", "canonical"), TARGETS)
def test_a_nan_that_is_converted_is_canonical(words: Any, element: Any, canonical: int) -> None:
    """Processors keep its sign, payload and signal, or not; one that stays in its type stays as it is."""
    bits = np.array([*NANS[words]] * 9, words)
    source = bits.view(f"f{bits.itemsize}")
    found = vyre.array(source, element)
    same = found.dtype == source.dtype
    assert found.view(f"u{found.itemsize}").tolist() == (bits.tolist() if same else [canonical] * len(bits))


def test_bfloat16_is_rounded_once() -> None:
    """Against the nearest of two neighbours, found with exact ratios; a step by way of F32 would be seen."""
    rng = Random(3)
    halfway = 1 + 2**-8
    values = [halfway + 2**-40, halfway - 2**-40, halfway, 1 + 3 * 2**-8, -halfway - 2**-50]
    values += [rng.uniform(-8, 8) * 2.0 ** rng.randint(-130, 100) for _ in range(500)]
    found = vyre.array(np.array(values), bf16, rounded=True)
    for value, bits in zip(values, found.tolist(), strict=True):
        near = [_bfloat16(bits + d) for d in (-1, 0, 1) if 0 <= (bits & 0x7FFF) + d < 0x7F80]
        gaps = [abs(_exact(value) - _exact(n)) for n in near]
        own = abs(_exact(value) - _exact(_bfloat16(bits)))
        assert own == min(gaps)
        assert gaps.count(own) == 1 or bits % 2 == 0


def _bfloat16(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def _exact(value: float) -> int:
    """A multiple of 2^-1074, in which every double is whole."""
    fraction, exponent = math.frexp(value)
    return int(fraction * 2**53) << (exponent - 53 + 1074) if exponent >= -1021 else int(value * 2.0**1074)


@vyre.kernel
def integers(x: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = x[i] + 1


@vyre.kernel
def signed(x: In[i32], out: Out[i32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = x[i] + 1


@vyre.kernel
def floats(x: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = x[i] + 1.0


@pytest.mark.parametrize(
    ("kernel", "x", "expected"),
    [
        (integers, np.arange(3), [1, 2, 3]),
        (integers, np.array([1, 2], np.int32), [2, 3]),
        (integers, [1, 2], [2, 3]),
        (integers, np.array([1.0, 2.0]), [2, 3]),
        (integers, np.array([1, 2], ">u4"), [2, 3]),
        (signed, np.array([-2, 2]), [-1, 3]),
        (floats, np.array([0.5, 1.0]), [1.5, 2.0]),
        (floats, np.array([0.25, 0.1]), [1.25, np.float32(0.1) + np.float32(1)]),
        (floats, np.arange(2), [1.0, 2.0]),
    ],
)
def test_the_fix_works_at_the_first_try(kernel: Any, x: Any, expected: list[float]) -> None:
    """The expression after `pass` is taken as it stands."""
    with pytest.raises(DispatchError) as caught:
        kernel(x)
    call = caught.value.fix.removeprefix("pass ").split("), which")[0].rstrip(".").rstrip(")") + ")"
    assert kernel(eval(call, {"vyre": vyre, "x": x})).tolist() == expected


def test_no_conversion_is_offered_for_values_that_do_not_fit() -> None:
    with pytest.raises(
        DispatchError, match=r"element \[1\] is -1, which U32 cannot hold; correct the values"
    ):
        integers(np.array([1, -1]))
