"""Memory of the host as device memory, for the backends that run on the processor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import DeviceOutOfMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPACE = "host"


class HostMemory:
    """Bytes of an array; `array` may be the caller's own."""

    __slots__ = ("__weakref__", "array", "nbytes", "span")

    def __init__(self, array: NDArray[np.uint8]) -> None:
        self.array = array
        self.nbytes = array.nbytes
        start = address_of(array)
        self.span = (SPACE, start, start + array.nbytes)

    def read(self, target: memoryview) -> None:
        if self.nbytes and not self._is(target):
            target[:] = self.array.data

    def write(self, source: memoryview) -> None:
        if self.nbytes and not self._is(source):
            self.array.data[:] = source

    def copy(self, source: HostMemory) -> None:
        self.array[:] = source.array

    def _is(self, view: memoryview) -> bool:
        return address_of(np.frombuffer(view, np.uint8)) == self.span[1]

    def free(self) -> None:
        self.array = np.empty(0, np.uint8)


def allocate(nbytes: int) -> HostMemory:
    """Zeros, aligned to a cache line as the vectorised loops like it."""
    try:
        whole = np.zeros(nbytes + 64, np.uint8)
    except MemoryError:
        raise DeviceOutOfMemory(
            f"the host has not the memory for a buffer of {nbytes} bytes.", fix="use a smaller buffer."
        ) from None
    start = -address_of(whole) % 64
    return HostMemory(whole[start : start + nbytes])


def borrow(data: memoryview) -> HostMemory:
    """The memory of `data` itself."""
    return HostMemory(np.frombuffer(data, np.uint8) if data.nbytes else np.empty(0, np.uint8))


def address_of(array: NDArray[Any]) -> int:
    return array.__array_interface__["data"][0]
