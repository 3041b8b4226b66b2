"""Buffers of a WebGPU device: their sizes, how bytes travel, and who reuses or frees them.

Large buffers travel in pieces, so that a run needs its buffers and a constant beside them.
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from vyre.backends.webgpu.device import STAGING, STORAGE, DeviceFault

if TYPE_CHECKING:
    from collections.abc import Generator
    from contextlib import AbstractContextManager

    from vyre.backends.webgpu.device import WebGpuDevice

_MIN_BYTES = 16
"""No binding is smaller, so that an array of any element type holds one; lengths are hidden words."""

PIECE = 1 << 24
_POOLED = 1 << 20
_spaces = itertools.count()


class WebGpuOwner(Protocol):
    """What memory needs of the backend that it belongs to."""

    pool: Pool

    def using(self, *memories: WebGpuMemory) -> AbstractContextManager[WebGpuDevice]: ...

    def discard(self, device: WebGpuDevice, *buffers: Any) -> None: ...


class WebGpuMemory:
    """A storage buffer of its own."""

    def __init__(self, backend: WebGpuOwner, device: WebGpuDevice, nbytes: int) -> None:
        self._backend = backend
        self.device = device
        self.nbytes = nbytes
        self.cell = [device.allocate(STORAGE, padded(nbytes))]
        """The buffer, or nothing once it was freed. Who binds it holds this and not the memory."""
        self.span = (f"webgpu {next(_spaces)}", 0, nbytes)

    def read(self, target: memoryview) -> None:
        with self._backend.using(self) as device, self._backend.pool.lease() as lease:
            download(device, lease, self.cell[0], target)

    def write(self, source: memoryview) -> None:
        with self._backend.using(self) as device:
            upload(device, self.cell[0], source)

    def copy(self, source: WebGpuMemory) -> None:
        with self._backend.using(self, source) as device:
            device.copy(source.cell[0], 0, self.cell[0], padded(self.nbytes))

    def free(self) -> None:
        buffers, self.cell[:] = self.cell[:], []
        self._backend.discard(self.device, *buffers)


class Pool:
    """Small buffers are kept for the next run; large ones are given back at once."""

    def __init__(self, device: WebGpuDevice) -> None:
        self._device = device
        self._free: dict[tuple[str, int], list[Any]] = {}

    @contextmanager
    def lease(self) -> Generator[Lease]:
        lease = Lease(self._device, self._free)
        try:
            yield lease
        except Exception:
            lease.end()
            raise
        except BaseException:  # an interrupt: the device still uses them, and one may be about to be mapped
            lease.give_up()
            raise
        lease.end()


class Lease:
    """The buffers of one run. A buffer may be larger than asked for, and holds what it last held."""

    def __init__(self, device: WebGpuDevice, free: dict[tuple[str, int], list[Any]]) -> None:
        self._device = device
        self._free = free
        self._taken: list[tuple[str, int, Any]] = []

    def buffer(self, kind: str, size: int) -> Any:
        capacity = size if size > _POOLED else 1 << (size - 1).bit_length()
        kept = self._free.get((kind, capacity))
        buffer = kept.pop() if kept else self._allocate(kind, capacity)
        self._taken.append((kind, capacity, buffer))
        return buffer

    def _allocate(self, kind: str, capacity: int) -> Any:
        try:
            return self._device.allocate(kind, capacity)
        except DeviceFault as fault:
            if not fault.out_of_memory or not self._free:
                raise
            for kept in self._free.values():
                while kept:
                    self._device.free(kept.pop())
            return self._device.allocate(kind, capacity)

    def give_up(self) -> None:
        """Frees the buffers once the device has done its work."""
        for _, _, buffer in self._taken:
            self._device.free(buffer)

    def end(self) -> None:
        for kind, capacity, buffer in self._taken:
            if capacity > _POOLED:
                self._device.free(buffer)
            else:
                self._free.setdefault((kind, capacity), []).append(buffer)


def padded(size: int) -> int:
    """What is allocated and bound for `size` bytes."""
    return max(_MIN_BYTES, -(-size // 4) * 4)


def upload(device: WebGpuDevice, buffer: Any, view: memoryview) -> None:
    whole = view.nbytes // 4 * 4
    for start in range(0, whole, PIECE):
        device.write(buffer, start, view[start : min(start + PIECE, whole)])
        if whole > PIECE:
            device.finish()
    if view.nbytes > whole:
        rest = bytes(view[whole:]).ljust(4, b"\0")
        device.write(buffer, whole, memoryview(rest))


def download(device: WebGpuDevice, lease: Lease, buffer: Any, view: memoryview) -> None:
    if not view.nbytes:
        return
    staging = lease.buffer(STAGING, min(PIECE, padded(view.nbytes)))
    for start in range(0, view.nbytes, PIECE):
        piece = view[start : start + PIECE]
        device.copy(buffer, start, staging, -(-piece.nbytes // 4) * 4)
        device.read(staging, piece)
