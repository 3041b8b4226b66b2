"""Functions of tensors on arrays of torch and CuPy, on a scripted driver: a second call is a launch."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import vyre
from tests.backends.cuda.scripted_arrays import CupyArray, OutOfMemory, Tensor, names, opened
from vyre import tensor as vt
from vyre.backends.device_buffer import DeviceBuffer

X = np.array([1, 2, 3, 4], np.uint32)
LAUNCH = ["cuCtxSetCurrent", "cuLaunchKernel"]


def doubled(x: vt.Tensor) -> vt.Tensor:
    return x + x


@pytest.mark.parametrize("make", [Tensor, CupyArray, None])
def test_a_second_call_is_a_launch_and_nothing_else(make: Any, streams: dict[str, int]) -> None:
    driver, backend, _ = opened()
    function = vt.function(doubled)
    x = vyre.to_device(X, backend=backend) if make is None else make(X)
    first = function(x, backend=backend)
    driver.calls.clear()
    second = function(x, backend=backend)
    launched = names(driver)
    assert (launched if make else launched[-2:]) == LAUNCH  # memory of our own may come from the driver
    assert type(second) is type(first) is (make or DeviceBuffer)
    assert second is not first
    made = second.numpy() if make is None else second.array
    assert made.tobytes() == X.tobytes()  # the scripted kernel copies
    assert tuple(second.shape) == (4,)


def test_want_of_memory_is_left_to_the_ordinary_way(
    streams: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, backend, _ = opened()
    function = vt.function(doubled)
    x = Tensor(X)
    assert type(function(x, backend=backend)) is Tensor

    def refuse(*_: object, **__: object) -> None:
        raise OutOfMemory

    monkeypatch.setattr(sys.modules["torch"], "empty", refuse)
    fresh = vt.function(doubled)
    assert type(fresh(x, backend=backend)) is DeviceBuffer
