"""Buffers on a GPU: what is copied and when, how they are seen by others, and what failures become."""

from __future__ import annotations

import cProfile
import ctypes
import gc
import pstats
from typing import Any

import numpy as np
import pytest

import vyre
from tests.backends.cuda.scripted_driver import COPY, Driver, ScriptedBackend
from vyre.backends import compile_program, dlpack
from vyre.backends.cuda.driver import check
from vyre.errors import BackendUnavailable, DeviceError, DeviceLost, DeviceOutOfMemory, DispatchError


def u32s(*values: int) -> Any:
    return np.array(values, np.uint32)


def copies(driver: Driver) -> list[str]:
    return [name for name, _ in driver.calls if name.startswith(("cuMemcpy", "cuMemset", "cuMemAlloc"))]


def test_a_chain_copies_nothing() -> None:
    driver = Driver()
    driver.kernel = lambda a, out: ctypes.memmove(out, a, 16)
    backend = ScriptedBackend(driver)
    compiled = compile_program(COPY, backend=backend)
    x, y = vyre.to_device(u32s(1, 2, 3, 4), backend=backend), vyre.device_zeros(4, np.uint32, backend=backend)
    driver.calls.clear()
    for _ in range(100):
        assert compiled({"a": x, "out": y})["out"] is y
        x, y = y, x
    assert len(driver.launched) == 100
    assert copies(driver) == []
    assert x.numpy().tolist() == [1, 2, 3, 4]


def test_zeros_and_lengths() -> None:
    driver = Driver()
    backend = ScriptedBackend(driver)
    assert vyre.device_zeros(3, np.uint32, backend=backend).numpy().tolist() == [0, 0, 0]
    empty = vyre.device_zeros(0, np.uint32, backend=backend)
    assert (len(empty), empty.nbytes, empty.numpy().size) == (0, 0, 0)
    assert driver.named("cuMemAlloc")[-1] == (16,)
    compiled = compile_program(COPY, backend=backend)
    made = compiled({"a": empty}, lengths={"out": 65}, workgroups=1)["out"]  # which writes 64 of them
    assert made.numpy().tolist() == [0] * 65


def test_memory_goes_back_with_the_object_and_once() -> None:
    driver = Driver()
    backend = ScriptedBackend(driver)
    x = vyre.to_device(u32s(1), backend=backend)
    compiled = compile_program(COPY, backend=backend)
    y = vyre.device_zeros(1, np.uint32, backend=backend)
    compiled({"a": x, "out": y})
    assert len(driver.memory) == 2
    x.close()
    x.close()
    del y
    assert not driver.memory, "a remembered launch keeps no memory"
    with pytest.raises(DispatchError, match="'a' is a closed device buffer"):
        compiled({"a": x, "out": u32s(1)})


def test_others_see_the_same_memory() -> None:
    driver = Driver()
    x = vyre.to_device(u32s(1, 2, 3, 4).reshape(2, 2), backend=ScriptedBackend(driver, ordinal=2))
    interface = x.__cuda_array_interface__
    assert interface["data"] == (x.memory.span[1], False)
    assert {k: interface[k] for k in ("shape", "typestr", "version", "strides", "stream")} == {
        "shape": (2, 2),
        "typestr": "<u4",
        "version": 3,
        "strides": None,
        "stream": 1,
    }
    assert x.__dlpack_device__() == (dlpack.CUDA, 2)
    taken = dlpack.take(x.__dlpack__(stream=1, max_version=(1, 0)))
    assert (taken.address, taken.device, taken.shape) == (x.memory.span[1], (dlpack.CUDA, 2), (2, 2))
    x.close()
    assert driver.memory, "the consumer of a capsule still uses the memory"
    taken.release()
    assert not driver.memory
    assert not hasattr(vyre.to_device(u32s(1), backend="reference"), "__cuda_array_interface__")


def test_a_consumers_stream_waits_for_ours() -> None:
    driver = Driver()
    x = vyre.to_device(u32s(1), backend=ScriptedBackend(driver))
    for stream in (None, 1, -1):
        x.__dlpack__(stream=stream)
    assert not driver.named("cuEventRecord")
    x.__dlpack__(stream=55)
    assert driver.named("cuEventRecord") == [("event", 1)]
    assert driver.named("cuStreamWaitEvent") == [(55, "event", 0)]
    with pytest.raises(BufferError, match="ambiguous"):
        x.__dlpack__(stream=0)
    with pytest.raises(BufferError, match="no copy"):
        x.__dlpack__(copy=True)
    with pytest.raises(BufferError, match="no copy"):
        x.__dlpack__(dl_device=(1, 0))
    gc.collect()
    assert not dlpack._given


def test_host_arrays_beside_resident_ones_are_copied_and_come_back() -> None:
    driver = Driver()
    driver.kernel = lambda a, out: ctypes.memmove(out, a, 8)
    backend = ScriptedBackend(driver)
    x = vyre.to_device(u32s(7, 8), backend=backend)
    out = u32s(0, 0)
    result = vyre.dispatch(COPY, {"a": x, "out": out}, backend=backend, copy=True)["out"]
    assert result.tolist() == [7, 8]
    assert out.tolist() == [0, 0]
    assert vyre.dispatch(COPY, {"a": x, "out": out}, backend=backend)["out"] is out
    assert out.tolist() == [7, 8]
    assert len(driver.memory) == 1, "what was copied for the run was freed"


def test_copies_between_buffers_stay_on_the_device() -> None:
    driver = Driver()
    backend = ScriptedBackend(driver)
    x = vyre.to_device(u32s(1, 2), backend=backend)
    y = vyre.to_device(x, backend=backend)
    assert y.numpy().tolist() == [1, 2]
    assert len(driver.named("cuMemcpyDtoD")) == 1
    assert len(driver.named("cuMemcpyHtoD")) == 1
    y.copy_from(u32s(3, 4))
    x.copy_from(y)
    assert x.numpy().tolist() == [3, 4]


@pytest.mark.parametrize("call", ["cuMemAlloc", "cuMemsetD8", "cuMemcpyHtoD"])
def test_failures_leak_nothing_and_the_next_call_works(call: str) -> None:
    driver = Driver(fail=call, error="CUDA_ERROR_OUT_OF_MEMORY")
    backend = ScriptedBackend(driver)
    with pytest.raises(DeviceOutOfMemory, match="out of memory") as caught:
        vyre.to_device(u32s(1), backend=backend)
    assert "smaller buffers" in caught.value.fix
    del caught
    gc.collect()
    assert not driver.memory
    driver.fail = ""
    assert vyre.to_device(u32s(1), backend=backend).numpy().tolist() == [1]


def test_a_failed_launch_is_not_remembered() -> None:
    driver = Driver(fail="cuLaunchKernel")
    backend = ScriptedBackend(driver)
    compiled = compile_program(COPY, backend=backend)
    buffers = {name: vyre.device_zeros(1, np.uint32, backend=backend) for name in ("a", "out")}
    for _ in range(2):
        with pytest.raises(DeviceLost, match="ILLEGAL_ADDRESS"):
            compiled(buffers)
    driver.fail = ""
    compiled(buffers)


@pytest.mark.parametrize(
    ("status", "kind", "fix"),
    [
        ("CUDA_ERROR_OUT_OF_MEMORY", DeviceOutOfMemory, "smaller buffers"),
        ("CUDA_ERROR_ILLEGAL_ADDRESS", DeviceLost, "new process"),
        ("CUDA_ERROR_ECC_UNCORRECTABLE", DeviceLost, "new process"),
        ("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", DeviceError, "can go on"),
        ("NVRTC_ERROR_OUT_OF_MEMORY", DeviceError, "can go on"),
    ],
)
def test_what_a_status_means(status: str, kind: type[DeviceError], fix: str) -> None:
    class Refused(int):
        name = status

    with pytest.raises(DeviceError, match=status) as caught:
        check((Refused(1),))
    assert type(caught.value) is kind
    assert fix in caught.value.fix


def test_a_repeated_call_does_little_in_python() -> None:
    def silent(*_: Any) -> tuple[int]:
        return (0,)

    class Silent(Driver):
        def __getattr__(self, name: str) -> Any:
            return silent if name in ("cuCtxSetCurrent", "cuLaunchKernel") else super().__getattr__(name)

    backend = ScriptedBackend(Silent())
    compiled = compile_program(COPY, backend=backend)
    buffers = {name: vyre.device_zeros(4, np.uint32, backend=backend) for name in ("a", "out")}
    host = {name: np.zeros(4, np.uint32) for name in ("a", "out")}

    def calls(call: Any) -> int:
        """Function calls that it makes, which unlike time are the same on every machine."""
        profile = cProfile.Profile()
        profile.runcall(call)
        stats: Any = pstats.Stats(profile)
        return stats.total_calls

    compiled(buffers)
    assert calls(lambda: compiled(buffers)) <= 20
    assert calls(lambda: compiled(host)) > 60, "the control: a call on arrays checks them every time"


def test_a_forked_child_is_refused_and_calls_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver()
    backend = ScriptedBackend(driver)
    held = vyre.to_device(np.arange(4, dtype=np.uint32), backend=backend)
    kernel = backend.compile(COPY)
    launch = kernel.bind([held.memory, held.memory], (1, 1, 1))  # pyright: ignore[reportArgumentType] - of cuda
    monkeypatch.setattr("vyre.backends.forks._process", -1)
    before = len(driver.calls)
    for use in (held.numpy, launch, backend.synchronize, lambda: backend.allocate(4)):
        with pytest.raises(BackendUnavailable, match=r"'scripted' was opened before this process was forked"):
            use()
    held.close()
    del kernel, launch
    gc.collect()
    assert len(driver.calls) == before
