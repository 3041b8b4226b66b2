"""Memory of the host as device memory, for the backends that run on the processor."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from vyre.backends import recycled
from vyre.errors import DeviceOutOfMemory

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SPACE = "host"


class HostMemory:
    """Bytes of an array; `array` may be the caller's own."""

    __slots__ = ("__weakref__", "_pins", "array", "nbytes", "span")

    def __init__(self, array: NDArray[np.uint8]) -> None:
        self.array = array
        self._pins = pinned(array.data)
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

    def clear(self) -> None:
        self.array.fill(0)

    def _is(self, view: memoryview) -> bool:
        return address_of(np.frombuffer(view, np.uint8)) == self.span[1]

    def free(self) -> None:
        self.array = np.empty(0, np.uint8)
        self._pins = []


def allocate(nbytes: int) -> HostMemory:
    """Zeros, aligned to a cache line as the vectorised loops like it."""
    try:
        whole = np.zeros(nbytes + 64, np.uint8)
    except MemoryError:
        raise DeviceOutOfMemory(
            f"the host does not have enough memory for a buffer of {nbytes} bytes.",
            fix="use a smaller buffer.",
        ) from None
    start = -address_of(whole) % 64
    return HostMemory(whole[start : start + nbytes])


def reserve(nbytes: int) -> HostMemory:
    """The same, whatever it holds."""
    try:
        whole = recycled.empty((nbytes + 64,), np.dtype(np.uint8))
    except MemoryError:
        return allocate(nbytes)  # which says it
    start = -address_of(whole) % 64
    return HostMemory(whole[start : start + nbytes])


def borrow(data: memoryview) -> HostMemory:
    """The memory of `data` itself."""
    return HostMemory(np.frombuffer(data, np.uint8) if data.nbytes else np.empty(0, np.uint8))


def located(value: Any) -> tuple[int, int, np.dtype[Any], object] | None:
    """Address, bytes and dtype of an array whose elements lie side by side, and what keeps it there; None for
    anything else."""
    if value.__class__ is not np.ndarray or not value.flags.c_contiguous or not value.ndim:
        return None
    keeper = weakref.ref(value) if value.base is None else pinned(value)
    return address_of(value), value.nbytes, value.dtype, keeper


def fresh(
    kind: type, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Callable[[], tuple[NDArray[Any], int] | None] | None:
    """What makes arrays of NumPy that hold anything; None for another class."""
    if kind is not np.ndarray:
        return None

    def made() -> tuple[NDArray[Any], int] | None:
        try:
            array = recycled.empty(shape, dtype)
        except MemoryError:
            return None
        return array, address_of(array)

    return made


def pinned(view: memoryview | NDArray[Any]) -> list[Any]:
    """What keeps the memory of a view where it is for as long as it is held.

    The view itself keeps the memory from being freed; but `resize(refcheck=False)` of a NumPy array moves
    it all the same, unless somebody has a weak reference to the array (NumPy 2.5 moves it even then).
    """
    pins: list[Any] = []
    owner: Any = view
    while isinstance(owner, np.ndarray | memoryview):
        array = cast("Any", owner)  # NumPy does not say of what
        if not isinstance(owner, memoryview):
            pins.append(weakref.ref(array))
        owner = array.obj if isinstance(owner, memoryview) else array.base
    return pins


def address_of(array: NDArray[Any]) -> int:
    return array.__array_interface__["data"][0]
