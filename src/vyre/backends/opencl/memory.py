"""Buffers of an OpenCL device. One queue runs everything in order, so reads see what was asked for before."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from vyre.backends.forks import abandon, renew_after_fork
from vyre.backends.protocol import BackendLimits
from vyre.errors import DeviceError, DeviceLost, DeviceOutOfMemory

if TYPE_CHECKING:
    from collections.abc import Generator

    from vyre.backends.forks import Home

MIN_BYTES = 16
"""A buffer of no bytes cannot exist in OpenCL; its length word still says 0."""

_spaces = itertools.count()
_OUT_OF_MEMORY = ("MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_RESOURCES", "OUT_OF_HOST_MEMORY")
_LOST = ("DEVICE_NOT_AVAILABLE", "INVALID_COMMAND_QUEUE", "INVALID_CONTEXT", "INVALID_DEVICE")


class OpenClOwner(Protocol):
    """What memory needs of the backend that it belongs to."""

    name: str
    home: Home
    cl: Any
    device: Any
    context: Any
    queue: Any


class OpenClMemory:
    """A buffer object of its own, of zeros."""

    def __init__(self, backend: OpenClOwner, nbytes: int) -> None:
        BackendLimits(buffer_bytes=int(backend.device.max_mem_alloc_size)).require_room(nbytes, backend.name)
        self._backend = backend
        self.nbytes = nbytes
        self.span = (f"opencl {next(_spaces)}", 0, nbytes)
        cl = backend.cl
        size = -(-max(MIN_BYTES, nbytes) // 4) * 4
        with faults(backend):
            self.buffer = cl.Buffer(backend.context, cl.mem_flags.READ_WRITE, size=size)
            try:
                cl.enqueue_fill(backend.queue, self.buffer, bytes(4), size)
            except BaseException:
                self.buffer.release()
                raise
        renew_after_fork(self)

    def renew(self) -> None:
        """In the child of a fork: the buffer object is the parent's to release."""
        abandon([self.buffer])

    def read(self, target: memoryview) -> None:
        with faults(self._backend):
            self._backend.cl.enqueue_copy(self._backend.queue, target, self.buffer)

    def write(self, source: memoryview) -> None:
        with faults(self._backend):
            self._backend.cl.enqueue_copy(self._backend.queue, self.buffer, source)

    def copy(self, source: OpenClMemory) -> None:
        if not self.nbytes:  # OpenCL refuses to copy nothing
            return
        with faults(self._backend):
            self._backend.cl.enqueue_copy(
                self._backend.queue, self.buffer, source.buffer, byte_count=self.nbytes
            )

    def free(self) -> None:
        if self._backend.home.here:
            self.buffer.release()  # the device keeps it until the work that uses it is done
        else:
            abandon([self.buffer])


@contextmanager
def faults(backend: OpenClOwner) -> Generator[None]:
    """Errors of OpenCL as errors of ours."""
    backend.home.require()
    cl = backend.cl
    try:
        yield
    except cl.Error as error:
        name = str(backend.device.name).strip()
        status = cl.status_code.to_string(error.code) if error.code else ""
        if status in _OUT_OF_MEMORY:
            raise DeviceOutOfMemory(
                f"the OpenCL device {name} is out of memory: {error}.",
                fix="use smaller buffers, close device buffers, or choose another backend.",
            ) from None
        if status in _LOST:
            raise DeviceLost(
                f"the OpenCL device {name} was lost: {error}.",
                fix="choose another backend, or start a new process; its device buffers are gone.",
            ) from None
        raise DeviceError(
            f"the OpenCL device {name} refused the run: {error}.",
            fix="use smaller buffers or another backend; the process can go on.",
        ) from None
