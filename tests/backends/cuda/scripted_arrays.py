"""Arrays of torch and CuPy made of Python objects, and a backend for them on a scripted driver."""

from __future__ import annotations

import ctypes
import sys
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.backends.cuda.scripted_driver import COPY, OK, Driver, ScriptedBackend, Status
from vyre.backends import compile_program, dlpack
from vyre.backends.cuda.pool import CudaPool

if TYPE_CHECKING:
    import pytest

    from vyre.backends.dispatch import Compiled


class PoolDriver(Driver):
    """A driver with a pool, of which `room` bytes can be had, less what it keeps."""

    room = 1 << 20
    kept = 0

    def do_cuMemAllocFromPoolAsync(self, size: int, pool: Any, stream: int) -> tuple[Any, ...]:  # noqa: N802
        if size > self.room - self.kept:
            return Status(2, "CUDA_ERROR_OUT_OF_MEMORY"), None
        return self.do_cuMemAlloc(size)

    def do_cuMemFreeAsync(self, address: int, stream: int) -> tuple[Any, ...]:  # noqa: N802
        return self.do_cuMemFree(address)

    def do_cuMemPoolTrimTo(self, pool: Any, size: int) -> tuple[Any, ...]:  # noqa: N802
        self.kept = size
        return (OK,)


def names(driver: Driver) -> list[str]:
    return [name for name, _ in driver.calls]


class Tensor:
    """As much of a torch tensor as is asked for; `changes` make it unusual."""

    __module__ = "torch"

    def __init__(self, array: Any, dtype: str = "torch.uint32", **changes: Any) -> None:
        self.array = array
        self.dtype = dtype
        self.shape = array.shape
        facts = {"is_cuda": True, "layout": "strided", "requires_grad": False}
        for name, value in {**facts, **changes}.items():
            setattr(self, name, value)

    is_cuda: bool
    contiguous = True
    negative = False
    number = 0
    version = 0

    def is_inference(self) -> bool:
        return False

    def is_contiguous(self) -> bool:
        return self.contiguous

    def is_neg(self) -> bool:
        return self.negative

    def get_device(self) -> int:
        return self.number

    @property
    def ndim(self) -> int:
        return self.array.ndim

    def dim(self) -> int:
        return self.array.ndim

    def numel(self) -> int:
        return self.array.size

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def __dlpack_device__(self) -> tuple[int, int]:
        return (dlpack.CUDA if self.is_cuda else dlpack.CPU), self.number


class OutOfMemory(RuntimeError):
    """What torch raises."""


def _empty_tensor(shape: tuple[int, ...], *, dtype: str, device: tuple[str, int]) -> Tensor:
    assert device == ("cuda", 0)
    return Tensor(np.empty(shape, dtype.partition(".")[2]), dtype)


def _written(tensor: Tensor) -> None:
    tensor.version += 1


class CupyArray:
    """As much of an array of CuPy as is asked for."""

    __module__ = "cupy"

    def __init__(self, array: Any) -> None:
        self.array = array
        self.data = SimpleNamespace(ptr=array.ctypes.data, device_id=0)
        self.flags, self.ndim, self.shape = array.flags, array.ndim, array.shape
        self.dtype, self.nbytes = array.dtype, array.nbytes

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, 0


def _empty_array(shape: tuple[int, ...], dtype: Any) -> CupyArray:
    return CupyArray(np.empty(shape, dtype))


def load_libraries(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Puts both libraries where they are looked for; the stream that each works on, 0 at first."""
    on = {"torch": 0, "cupy": 0}
    torch: Any = ModuleType("torch")
    torch.Tensor, torch.strided = Tensor, "strided"
    torch.uint32, torch.int32, torch.float32 = "torch.uint32", "torch.int32", "torch.float32"
    torch._C = SimpleNamespace(_cuda_getCurrentRawStream=lambda *_: on["torch"])  # pyright: ignore[reportUnknownLambdaType]
    torch.device = lambda kind, number: (kind, number)  # pyright: ignore[reportUnknownLambdaType]
    torch.empty = _empty_tensor
    torch.cuda = SimpleNamespace(OutOfMemoryError=OutOfMemory)
    torch.autograd = SimpleNamespace(graph=SimpleNamespace(increment_version=_written))
    cupy: Any = ModuleType("cupy")
    cupy.ndarray = CupyArray
    cupy.empty = _empty_array
    cupy.cuda = SimpleNamespace(
        get_current_stream=lambda: SimpleNamespace(ptr=on["cupy"]),
        Device=nullcontext[int],
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    return on


def opened() -> tuple[PoolDriver, ScriptedBackend, Compiled]:
    """A driver whose kernel copies 16 bytes, a backend on it, and `COPY` compiled there."""
    driver = PoolDriver()
    driver.kernel = lambda a, out: ctypes.memmove(out, a, 16)
    backend = ScriptedBackend(driver)
    backend.pool = CudaPool(driver, "pool", backend.context, backend.stream)
    compiled = compile_program(COPY, backend=backend)
    driver.calls.clear()
    return driver, backend, compiled


def put_away(backend: ScriptedBackend) -> int:
    """Gives the shelf back to the driver, which has nothing then; how many blocks there were."""
    pool, driver = backend.pool, backend.driver
    assert pool is not None
    driver.calls.clear()
    pool.clear()
    assert driver.memory == {}
    return len(driver.named("cuMemFreeAsync"))
