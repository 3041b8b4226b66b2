"""Memory of an NVIDIA GPU, our own and that of other libraries. The default stream orders all work on it."""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends import dlpack
from vyre.backends.cuda.arrays import LEGACY
from vyre.backends.cuda.driver import address_of, check
from vyre.backends.cuda.pool import give, take
from vyre.backends.forks import abandon
from vyre.errors import DispatchError

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

    from vyre.backends.cuda.arrays import CudaArray
    from vyre.backends.cuda.pool import CudaOwner

_NO_TIMING = 2
_MAPPED = 3
"""Memory of the host that every context knows and the device can address."""


class CudaMemory:
    """Bytes at an address. A copy to or from the host waits for the work before it."""

    __slots__ = ("__weakref__", "_backend", "_foreign", "_shared", "address", "nbytes")

    stream = LEGACY

    def __init__(
        self, backend: CudaOwner, address: int, nbytes: int, *, foreign: CudaArray | None = None
    ) -> None:
        self._backend = backend
        self._foreign = foreign
        self._shared = False
        self.address = address
        self.nbytes = nbytes

    @property
    def span(self) -> tuple[str, int, int]:
        return "cuda", self.address, self.address + self.nbytes

    @property
    def dlpack_device(self) -> tuple[int, int]:
        return (dlpack.CUDA, self._backend.ordinal)

    def read(self, target: memoryview) -> None:
        self._backend.enter()
        check(self._backend.driver.cuMemcpyDtoH(address_of(target), self.address, target.nbytes))

    def write(self, source: memoryview) -> None:
        self._backend.enter()
        check(self._backend.driver.cuMemcpyHtoD(self.address, address_of(source), source.nbytes))

    def copy(self, source: CudaMemory) -> None:
        self._backend.enter()
        check(self._backend.driver.cuMemcpyDtoD(self.address, source.address, self.nbytes))

    def clear(self) -> None:
        if self.nbytes:
            self._backend.enter()
            check(self._backend.driver.cuMemsetD8(self.address, 0, self.nbytes))

    def free(self) -> None:
        if not self._backend.home.here:
            abandon([self])  # what it holds is the parent's to free
            return
        if self._foreign is None:
            give(self._backend, self.address, self.nbytes, shared=self._shared)
            return
        try:
            hand_back(self._backend, self._foreign.stream)
        finally:
            self._foreign.release()

    def order_before(self, stream: int | None) -> None:
        """Makes a consumer's stream, as DLPack numbers it, wait for what is queued so far; -1 for none."""
        if stream == 0:
            raise BufferError("stream 0 is ambiguous; pass 1 or 2")
        if stream not in (None, LEGACY):
            self._shared = True
        if stream not in (None, -1, LEGACY):
            order(self._backend, LEGACY, int(stream or 0))


class VisibleMemory(CudaMemory):
    """A few bytes of the host that the device writes where they lie; `bytes` shows them, after a wait."""

    __slots__ = ("_host", "bytes")

    def __init__(self, backend: CudaOwner, nbytes: int) -> None:
        backend.enter()
        driver = backend.driver
        self._host = int(check(driver.cuMemHostAlloc(nbytes, _MAPPED)))
        super().__init__(backend, int(check(driver.cuMemHostGetDevicePointer(self._host, 0))), nbytes)
        seen = memoryview((ctypes.c_uint8 * nbytes).from_address(self._host))
        self.bytes: NDArray[np.uint8] = np.frombuffer(seen, np.uint8)

    def free(self) -> None:
        if self._backend.home.here:
            self._backend.driver.cuCtxSetCurrent(self._backend.context)
            self._backend.driver.cuMemFreeHost(self._host)  # waits for the device


def allocate(backend: CudaOwner, nbytes: int) -> CudaMemory:
    """Memory of zeros."""
    memory = reserve(backend, nbytes)
    with _freeing(memory):
        memory.clear()
    return memory


def borrow(backend: CudaOwner, data: memoryview) -> CudaMemory:
    """Memory that holds `data`."""
    memory = reserve(backend, data.nbytes)
    if data.nbytes:
        with _freeing(memory):
            memory.write(data)
    return memory


def reserve(backend: CudaOwner, nbytes: int) -> CudaMemory:
    """Memory that holds anything."""
    return CudaMemory(backend, take(backend, nbytes), nbytes)


@contextmanager
def _freeing(memory: CudaMemory) -> Generator[None]:
    try:
        yield
    except BaseException:
        memory.free()
        raise


def adopt(backend: CudaOwner, array: CudaArray) -> CudaMemory:
    """The memory of a stranger's array, ready for our work."""
    if array.device not in (None, backend.ordinal) or not _is_here(backend, array):
        array.release()
        raise DispatchError(
            "the array is not in the memory of the GPU that this backend runs on.",
            fix=f"copy it to GPU {backend.ordinal}.",
        )
    if array.device is None and array.stream not in (None, LEGACY):
        order(backend, array.stream, LEGACY)
    return CudaMemory(backend, array.address, array.nbytes, foreign=array)


def hand_back(backend: CudaOwner, stream: int | None) -> None:
    """Orders the owner's further work after ours; waits for ours where its stream is not known."""
    backend.enter()
    if stream is None:
        backend.synchronize()
    elif stream != LEGACY:
        order(backend, LEGACY, stream)


def order(backend: CudaOwner, first: int, second: int) -> None:
    """What comes later on the stream `second` waits for what is on `first` now."""
    backend.enter()
    driver = backend.driver
    event: Any = check(driver.cuEventCreate(_NO_TIMING))
    try:
        check(driver.cuEventRecord(event, first))
        check(driver.cuStreamWaitEvent(second, event, 0))
    finally:
        driver.cuEventDestroy(event)


def _is_here(backend: CudaOwner, array: CudaArray) -> bool:
    """Asks the driver about an address that came without the number of its GPU."""
    if array.device is not None or not array.nbytes:
        return True
    backend.enter()
    driver = backend.driver
    ordinal = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    status, *found = driver.cuPointerGetAttribute(ordinal, array.address)
    return int(status) == 0 and int(found[0]) == backend.ordinal
