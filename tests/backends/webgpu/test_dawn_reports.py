"""Errors of Dawn arrive in the call that caused them, or in the next: none is lost, none comes twice."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre.backends import compile_program
from vyre.backends.webgpu.device import STORAGE, DeviceFault, Launch
from vyre.errors import DeviceError, DeviceOutOfMemory, VyreError
from vyre.ir import BufferDecl, DataType, InvocationId, Program

if TYPE_CHECKING:
    from collections.abc import Generator

OUT = BufferDecl.read_write("out", 0, DataType.U32)
ID = InvocationId(0)
TWICE = Program([OUT], (64,), [OUT.store(ID, OUT[ID] * 2)])


@pytest.fixture
def dawn() -> Generator[Any]:
    try:
        from vyre.backends.webgpu.dawn import DawnBackend

        yield DawnBackend(canaries=False)
    except (ImportError, VyreError) as error:
        pytest.skip(str(error))


def inject(device: Any, kind: str, message: str) -> None:
    """An error that the driver reports by itself, in no call of ours."""
    gpu, utils = device._gpu, device._utils
    gpu.wgpuDeviceInjectError(
        device._device, getattr(gpu, f"WGPUErrorType_{kind}"), utils.to_wgpu_str(message)
    )


@pytest.mark.parametrize(
    ("kind", "error"),
    [("OutOfMemory", DeviceOutOfMemory), ("Validation", DeviceError)],
)
def test_what_the_device_reports_reaches_the_next_dispatch_once(
    dawn: Any, kind: str, error: type[DeviceError]
) -> None:
    compiled = compile_program(TWICE, backend=dawn)
    out = vyre.to_device(np.array([1, 2], np.uint32), backend=dawn)
    compiled({"out": out})
    inject(dawn.device, kind, "one of two")
    inject(dawn.device, kind, "two of two")
    with pytest.raises(error, match=r"(?s)one of two.*two of two") as caught:
        compiled({"out": out})
    assert type(caught.value) is error
    compiled({"out": out})
    assert out.numpy().tolist() == [8, 16], "the queue goes on"


def test_a_report_reaches_every_other_call_too(dawn: Any) -> None:
    device = dawn.device
    storage = device.allocate(STORAGE, 64)
    calls = {
        "allocate": lambda: device.free(device.allocate(STORAGE, 16)),
        "write": lambda: device.write(storage, 0, memoryview(bytes(16))),
        "finish": device.finish,
    }
    for call in calls.values():
        inject(device, "Validation", "seen")
        with pytest.raises(DeviceFault, match="seen"):
            call()
        call()
    device.free(storage)


def test_an_invalid_dispatch_is_refused_in_its_own_call(dawn: Any) -> None:
    device, executable = dawn.device, dawn.compile(TWICE)
    kernel = executable.build()
    buffers = [(device.allocate(STORAGE, 256), 256), (device.allocate("uniform", 256), 16)]
    group = device.bind(kernel, buffers)
    most = device.limits.workgroups_per_axis
    with pytest.raises(DeviceFault, match=str(most + 1)) as caught:
        device.launch(kernel, group, [Launch(0, (most + 1, 1, 1))])
    assert not caught.value.lost
    device.launch(kernel, group, [Launch(0, (1, 1, 1))])
    device.free(buffers[0][0])
    with pytest.raises(DeviceFault, match="destroyed"):
        device.launch(kernel, group, [Launch(0, (1, 1, 1))])
    device.free(buffers[1][0])


def test_a_device_is_given_back_with_its_last_user(dawn: Any) -> None:
    from vyre.backends.webgpu.dawn import DawnBackend

    other: Any = DawnBackend(canaries=False)
    reports = other.device._reports
    out = vyre.to_device(np.array([1, 2], np.uint32), backend=other)
    del other
    gc.collect()
    assert not reports._losses, "its buffer lives"
    assert out.numpy().tolist() == [1, 2]
    out.close()
    del out
    gc.collect()
    assert reports._losses
    assert compile_program(TWICE, backend=dawn)({"out": np.ones(1, np.uint32)})["out"].tolist() == [2]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_programs_that_are_compiled_and_dropped_are_freed(dawn: Any) -> None:
    """Dawn keeps a released kernel, 0.4 MB of lavapipe's, until something is submitted after it."""

    def resident_kib() -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))

    def compile_many(first: int, count: int) -> None:
        for k in range(first, first + count):
            dawn.compile(Program([OUT], (64,), [OUT.store(ID, OUT[ID] * k)]))
        gc.collect()

    compile_many(3, 32)
    before = resident_kib()
    compile_many(103, 80)
    assert (resident_kib() - before) / 80 < 100
