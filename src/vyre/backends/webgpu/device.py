"""What the WebGPU backends need of a library: a handful of calls that differ between wgpu and Dawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from vyre.backends.protocol import BackendLimits
from vyre.ir.limits import MAX_UNIFORM_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.lower.source import Source


class RejectedSource(Exception):
    """The library's compiler does not accept the source; the message is the compiler's own."""


class DeviceFault(Exception):
    """The device refused or failed: validation, out of memory, lost."""

    def __init__(self, message: str, *, lost: bool = False, out_of_memory: bool = False) -> None:
        super().__init__(message)
        self.lost = lost
        self.out_of_memory = out_of_memory


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What evidence must name."""

    device: str
    driver: str
    version: str
    toolchain: str


@dataclass(frozen=True, slots=True)
class DeviceLimits:
    """The limits of the opened device, which are the adapter's own."""

    buffer_bytes: int
    binding_bytes: int
    storage_buffers: int
    uniform_alignment: int
    invocations: int
    workgroup_size: tuple[int, int, int]
    workgroup_bytes: int
    workgroups_per_axis: int

    def declared(self) -> BackendLimits:
        """What programs may ask for; a grid of more workgroups along an axis is run in several launches."""
        x, y, z = self.workgroup_size
        return BackendLimits(
            buffer_bytes=min(self.buffer_bytes, self.binding_bytes),
            buffers=self.storage_buffers,
            workgroup_invocations=self.invocations,
            workgroup_size_x=x,
            workgroup_size_y=y,
            workgroup_size_z=z,
            workgroup_bytes=self.workgroup_bytes,
            uniform_bytes=MAX_UNIFORM_BYTES,
        )


@dataclass(frozen=True, slots=True)
class Launch:
    """One dispatch: where its hidden words start in the uniform, and its grid."""

    offset: int
    grid: tuple[int, int, int]


STORAGE, UNIFORM, STAGING = "storage", "uniform", "staging"
"""Kinds of buffers: bound and copied both ways, bound as the hidden words, mapped by the host."""


class WebGpuDevice(Protocol):
    """Every call raises `DeviceFault` when the device reports an error; nothing fails silently."""

    @property
    def facts(self) -> DeviceFacts: ...

    @property
    def limits(self) -> DeviceLimits: ...

    def abandon(self) -> bool:
        """After an interrupt: leaves the device alone with its work and keeps what that needs.

        False where no other device could work meanwhile.
        """
        ...

    def idle(self) -> bool:
        """Whether a device that was abandoned has done its work."""
        ...

    def build(self, source: Source) -> Any:
        """A kernel. Raises `RejectedSource`."""
        ...

    def allocate(self, kind: str, size: int) -> Any: ...

    def free(self, buffer: Any) -> None: ...

    def write(self, buffer: Any, offset: int, data: memoryview) -> None:
        """Queues a copy of `data`, whose length and offset are multiples of 4."""
        ...

    def bind(self, kernel: Any, bindings: Sequence[tuple[Any, int]]) -> Any:
        """A bind group of buffers with the bytes bound, the hidden words last; it goes with the object."""
        ...

    def launch(self, kernel: Any, group: Any, launches: Sequence[Launch]) -> None:
        """Queues dispatches. No buffer of the group may have been freed."""
        ...

    def copy(self, source: Any, offset: int, target: Any, size: int) -> None:
        """Queues a copy from a storage buffer to the start of another buffer."""
        ...

    def read(self, staging: Any, target: memoryview) -> None:
        """Waits for the queue and copies from the start of a staging buffer."""
        ...

    def finish(self) -> None:
        """Waits for the queue."""
        ...
