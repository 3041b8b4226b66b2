"""Missing drivers, compilers that reject, memory that runs out: one clear error each, and on it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, DataType, InvocationId, Program
from vyre.backends import compile_program, host_memory, registry
from vyre.backends.packages import Point
from vyre.errors import (
    BackendUnavailable,
    DeviceError,
    DeviceLost,
    DeviceOutOfMemory,
    DispatchError,
    SourceRejected,
    VyreError,
)
from vyre.lower.source import Source

if TYPE_CHECKING:
    from vyre import Backend

ID = InvocationId(0)
OUT = BufferDecl.read_write("out", 0, DataType.U32)
TWICE = Program([OUT], [64], [OUT.store(ID, OUT[ID] * 2)])


class NoDriver:
    """The constructor of a backend on a machine without its driver."""

    def __init__(self) -> None:
        raise BackendUnavailable("no device was found.", fix="install the driver.")


def opened(name: str) -> Backend:
    try:
        return registry.get(name)
    except DispatchError as error:
        pytest.skip(str(error))


def works(backend: Backend) -> None:
    out = np.array([1, 2, 3], np.uint32)
    assert vyre.dispatch(TWICE, {"out": out}, backend=backend)["out"].tolist() == [2, 4, 6]


def test_a_missing_driver_is_one_error_and_others_work(monkeypatch: pytest.MonkeyPatch) -> None:
    point = Point("lacking", f"{__name__}:NoDriver", "tests")
    found = registry._points()
    monkeypatch.setattr(registry, "_points", lambda: {**found, "lacking": (point,)})
    with pytest.raises(BackendUnavailable, match="'lacking' is not available: no device was found") as caught:
        registry.get("lacking")
    assert caught.value.fix == "install the driver."
    with pytest.raises(BackendUnavailable):
        vyre.to_device(np.zeros(1, np.uint32), backend="lacking")
    works(registry.get("reference"))


def test_a_missing_cuda_driver_names_the_driver() -> None:
    if any(status.available for status in registry.available() if status.name == "cuda"):
        pytest.skip("there is a driver here")
    with pytest.raises(BackendUnavailable) as caught:
        registry.get("cuda")
    assert "pip install" in caught.value.fix or "driver" in caught.value.fix


def broken(*_: Any, **__: Any) -> Any:
    return Source("opencl", "vyre_main", "__kernel void vyre_main( { nonsense", (1, 1, 1), (), ())


def test_what_opencl_rejects_is_attached(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = opened("opencl")
    works(backend)  # the canaries of such programs are run, and not on what follows
    monkeypatch.setattr("vyre.backends.opencl.backend.emit", broken)
    with pytest.raises(SourceRejected, match="rejects the kernel") as caught:
        compile_program(TWICE, backend=backend)
    assert caught.value.source == broken().text
    assert "error" in caught.value.log
    monkeypatch.undo()
    works(backend)


def test_what_nvrtc_rejects_is_attached() -> None:
    pytest.importorskip("cuda.bindings.nvrtc", reason="the package cuda-bindings is missing")
    from vyre.backends.cuda.backend import compile_source

    with pytest.raises(SourceRejected, match="NVRTC rejects the kernel") as caught:
        compile_source(broken(), "compute_90")
    assert caught.value.source == broken().text
    assert "error" in caught.value.log


def test_what_llvm_rejects_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    backend = opened("cpu")
    works(backend)
    from vyre.lower import llvm

    emit = llvm.emit

    def spoilt(*arguments: Any, **options: Any) -> Any:
        source = emit(*arguments, **options)
        return replace(source, text=source.text.replace("ret void", "ret nonsense"))

    monkeypatch.setattr(llvm, "emit", spoilt)
    fresh = Program([OUT], [64], [OUT.store(ID, OUT[ID] * 77 + 5)])
    with pytest.raises(VyreError, match=r"(?s)LLVM rejects the kernel.*ret nonsense.*Fix:"):
        compile_program(fresh, backend=backend)
    monkeypatch.undo()
    out = vyre.dispatch(fresh, {"out": np.array([1], np.uint32)}, backend=backend)["out"]
    assert out.tolist() == [82]


def test_what_the_host_has_not_is_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise MemoryError

    backend = opened("cpu")
    monkeypatch.setattr(host_memory.np, "zeros", full)
    with pytest.raises(DeviceOutOfMemory, match="buffer of 12 bytes"):
        vyre.device_zeros(3, np.uint32, backend=backend)
    monkeypatch.undo()
    works(backend)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("MEM_OBJECT_ALLOCATION_FAILURE", DeviceOutOfMemory),
        ("OUT_OF_RESOURCES", DeviceOutOfMemory),
        ("DEVICE_NOT_AVAILABLE", DeviceLost),
        ("INVALID_WORK_GROUP_SIZE", DeviceError),
    ],
)
def test_what_a_status_of_opencl_means(
    monkeypatch: pytest.MonkeyPatch, status: str, kind: type[DeviceError]
) -> None:
    backend: Any = opened("opencl")
    cl = backend.cl

    class Failed(cl.Error):
        code = getattr(cl.status_code, status)

    def fail(*_: Any, **__: Any) -> Any:
        raise Failed(status)

    compiled = compile_program(TWICE, backend=backend)
    held = vyre.device_zeros(3, np.uint32, backend=backend)
    executable: Any = compiled._executable
    monkeypatch.setattr(executable, "_kernel", fail)
    for buffers in ({"out": np.zeros(3, np.uint32)}, {"out": held}):
        with pytest.raises(DeviceError, match=status) as caught:
            compiled(buffers)
        assert type(caught.value) is kind
    monkeypatch.undo()
    monkeypatch.setattr(cl, "enqueue_fill", fail)
    with pytest.raises(kind, match=status):
        vyre.device_zeros(3, np.uint32, backend=backend)
    monkeypatch.undo()
    works(backend)
    compiled({"out": held})
    assert held.numpy().tolist() == [0, 0, 0]
