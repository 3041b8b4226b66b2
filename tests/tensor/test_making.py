"""Arrays kept as constants: their numbers are those that were passed, or they are refused."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from vyre import bf16, boolean, f16, f32, i32, i64, u8, u32
from vyre import tensor as vt
from vyre.errors import DispatchError


def kept(values: Any, element: Any = None) -> Any:
    return vt.function(lambda: vt.constant(values, element)).evaluate()


@pytest.mark.parametrize(
    ("values", "element"),
    [
        (np.array([-1.0, 3e9], np.float32), u32),
        (np.array([np.nan]), i32),
        (np.array([300]), u8),
        ([1.5], u32),
        ([-2], u32),
        ([1 << 40], i32),
        ([2], boolean),
        ([1e9], f16),
    ],
)
def test_a_number_that_the_element_does_not_hold_is_refused(values: Any, element: Any) -> None:
    """NumPy alone would make of the first two what the processor makes of them."""
    with pytest.raises(DispatchError, match=r"element \[\d\] is .* cannot hold"):
        kept(values, element)


def test_floats_are_rounded_to_the_nearest() -> None:
    assert kept([0.1, -0.0], f32).tobytes() == np.array([0.1, -0.0], np.float32).tobytes()
    assert kept([0.1], f16)[0] == np.float16(0.1)
    assert kept([0.1], bf16).view(ml_dtypes.bfloat16)[0] == ml_dtypes.bfloat16(0.1)
    assert kept([1.0, 2.0], u32).tolist() == [1, 2]


def test_a_nan_is_the_canonical_one() -> None:
    signalling = np.array([0x7F80_0001, 0xFFC1_2345], np.uint32).view(np.float32)
    assert kept(signalling, f16).view(np.uint16).tolist() == [0x7E00, 0x7E00]


def test_arrays_that_need_no_element_stay_as_they_are() -> None:
    assert kept(np.array([1.5, 2.0], ">f4")).tolist() == [1.5, 2.0]
    assert kept([True, False]).tolist() == [True, False]
    assert kept([1, -2], i64).tolist() == [1, -2]
    bits = np.array([0x7F80_0001], np.uint32)
    assert kept(bits.view(np.float32)).view(np.uint32).tolist() == bits.tolist()
