"""A WebGPU device that fails: each failure is one clear error, and the process goes on."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from tests.backends.webgpu.webgpu_stacks import LIBRARIES
from vyre.backends import compile_program, dispatch
from vyre.backends.webgpu.device import DeviceFault
from vyre.errors import DeviceError, DeviceLost, DeviceOutOfMemory, DispatchError, SourceRejected, VyreError
from vyre.ir import BufferDecl, DataType, InvocationId, Program
from vyre.lower.source import Source

if TYPE_CHECKING:
    from vyre.backends.webgpu.backend import WebGpuBackend

OUT = BufferDecl.read_write("out", 0, DataType.U32)
ID = InvocationId(0)
TWICE = Program([OUT], (64,), [OUT.store(ID, OUT[ID] * 2)])


@pytest.fixture(params=sorted(LIBRARIES))
def fresh(request: pytest.FixtureRequest) -> WebGpuBackend:
    """A backend of its own, since its device will be lost."""
    module, attribute = LIBRARIES[request.param]
    try:
        return getattr(importlib.import_module(module), attribute)(canaries=False)
    except (ImportError, VyreError) as error:
        pytest.skip(str(error))


def lose(backend: WebGpuBackend) -> None:
    device: Any = backend.device
    if backend.name == "wgpu":
        device._device.destroy()
    else:
        device._gpu.wgpuDeviceDestroy(device._device)


def works(compiled: Any) -> None:
    assert compiled({"out": np.array([1, 2, 3], np.uint32)})["out"].tolist() == [2, 4, 6]


def test_a_run_on_arrays_goes_on_with_another_device(fresh: WebGpuBackend) -> None:
    compiled = compile_program(TWICE, backend=fresh)
    works(compiled)
    before = fresh.device
    lose(fresh)
    works(compiled)
    assert fresh.device is not before
    works(compile_program(TWICE, backend=fresh))


def test_a_program_is_compiled_on_another_device(fresh: WebGpuBackend) -> None:
    lose(fresh)
    works(compile_program(TWICE, backend=fresh))


def test_device_buffers_are_gone_with_their_device(fresh: WebGpuBackend) -> None:
    compiled = compile_program(TWICE, backend=fresh)
    out = vyre.to_device(np.array([1, 2], np.uint32), backend=fresh)
    other = vyre.to_device(np.array([1, 2], np.uint32), backend=fresh)
    compiled({"out": out})
    lose(fresh)
    with pytest.raises(DeviceLost, match="was lost") as caught:
        compiled({"out": out})
    assert "again" in caught.value.fix
    for use in (lambda: compiled({"out": out}), lambda: compiled({"out": other}), out.numpy):
        with pytest.raises(DeviceLost, match="that was lost"):
            use()
    out.close()
    other.close()
    again = vyre.to_device(np.array([1, 2], np.uint32), backend=fresh)
    compiled({"out": again})
    assert again.numpy().tolist() == [2, 4]
    works(compiled)


def test_a_device_lost_while_results_come_back_is_an_error(
    fresh: WebGpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = compile_program(TWICE, backend=fresh)

    def read(*_: Any) -> None:
        raise DeviceFault("gone in the middle", lost=True)

    monkeypatch.setattr(type(fresh.device), "read", read)
    with pytest.raises(DeviceLost, match="gone in the middle"):
        works(compiled)
    monkeypatch.undo()
    works(compiled)


def test_a_device_that_cannot_be_opened_again_says_so(
    fresh: WebGpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = compile_program(TWICE, backend=fresh)

    def closed() -> Any:
        raise VyreError("no adapter", fix="install a driver.")

    works(compiled)
    open_device = fresh._open
    monkeypatch.setattr(fresh, "_open", closed)
    lose(fresh)
    with pytest.raises(VyreError, match="no adapter"):
        works(compiled)
    with pytest.raises(VyreError, match="no adapter"):
        works(compiled)
    monkeypatch.setattr(fresh, "_open", open_device)
    works(compiled)


@pytest.mark.parametrize(
    ("fault", "kind", "message"),
    [
        (DeviceFault("no room", out_of_memory=True), DeviceOutOfMemory, "out of memory: no room"),
        (DeviceFault("no reason"), DeviceError, "refused the work: no reason"),
    ],
)
def test_failures_in_the_middle_of_a_run(
    fresh: WebGpuBackend,
    monkeypatch: pytest.MonkeyPatch,
    fault: DeviceFault,
    kind: type[DeviceError],
    message: str,
) -> None:
    compiled = compile_program(TWICE, backend=fresh)

    def fail(*_: Any) -> Any:
        raise fault

    for call in ("allocate", "write", "launch", "copy", "read"):
        monkeypatch.setattr(type(fresh.device), call, fail)
        if call == "allocate":
            monkeypatch.setattr(fresh.pool, "_free", {})
        with pytest.raises(DeviceError, match=message) as caught:
            works(compiled)
        assert type(caught.value) is kind
        monkeypatch.undo()
        works(compiled)


def test_kept_buffers_are_given_up_when_memory_runs_out(
    fresh: WebGpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    works(compile_program(TWICE, backend=fresh))
    kept = sum(map(len, fresh.pool._free.values()))
    assert kept
    allocate = type(fresh.device).allocate
    freed: list[Any] = []
    free = type(fresh.device).free

    def count(device: Any, buffer: Any) -> None:
        freed.append(buffer)
        free(device, buffer)

    def tight(device: Any, kind: str, size: int) -> Any:
        if len(freed) < kept:
            raise DeviceFault("full", out_of_memory=True)
        return allocate(device, kind, size)

    monkeypatch.setattr(type(fresh.device), "allocate", tight)
    monkeypatch.setattr(type(fresh.device), "free", count)
    long = dispatch(TWICE, {"out": np.ones(1000, np.uint32)}, backend=fresh)["out"]
    assert long.tolist() == [2] * 1000


def test_a_buffer_past_the_limit_names_it_and_nothing_is_lost(fresh: WebGpuBackend) -> None:
    limit = fresh.buffer_bytes
    with pytest.raises(DispatchError, match=f"{limit + 4} bytes.*{limit}"):
        vyre.device_zeros(limit // 4 + 1, np.uint32, backend=fresh)
    works(compile_program(TWICE, backend=fresh))


def test_a_rejected_source_is_attached(fresh: WebGpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Source("wgsl", "main", "fn main( { nonsense", (1, 1, 1), (OUT,), ("base_x", "base_y", "base_z"))
    monkeypatch.setattr("vyre.backends.webgpu.backend.emit", lambda *_, **__: broken)  # pyright: ignore
    with pytest.raises(SourceRejected, match="rejects the kernel") as caught:
        compile_program(TWICE, backend=fresh)
    assert caught.value.source == "fn main( { nonsense"
    assert "expected" in caught.value.log
    monkeypatch.undo()
    works(compile_program(TWICE, backend=fresh))
