"""Device memory for the checks, in this process or in that of an isolated backend.

    home = residence(backend)                  None where results are as near to the host as to the device
    memory = home.allocate(nbytes)
    launch = home.bind(executable, [memory, …], (64, 1, 1))
    launch(); memory.read(view)

Only what is compared on the device pays for this: a law whose two sides are results of the device itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from vyre.backends.host_memory import SPACE
from vyre.backends.protocol import ResidentBackend, ResidentExecutable
from vyre.conform.process.isolate import Isolated, IsolatedExecutable, RemoteMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Residence(Protocol):
    """Where device memory comes from. `life` changes when everything allocated before is gone."""

    @property
    def life(self) -> int: ...

    def allocate(self, nbytes: int) -> Any: ...

    def bind(
        self, executable: Any, memories: Sequence[Any], grid: tuple[int, int, int]
    ) -> Callable[[], None]: ...


def residence(backend: Any) -> Residence | None:
    """The device memory of a backend; None for one that has none, or whose memory is the host's."""
    backend = getattr(backend, "inner", backend)
    if isinstance(backend, Isolated):
        return _Remote(backend) if backend.resident() else None
    return _Local(backend) if has_device_memory(backend) else None


def has_device_memory(backend: Any) -> bool:
    """Whether memory can be held on the device, and the device is not the host."""
    if not isinstance(backend, ResidentBackend):
        return False
    probe = backend.allocate(16)
    apart = probe.span[0] != SPACE
    probe.free()
    return apart


class _Local:
    life = 0

    def __init__(self, backend: ResidentBackend) -> None:
        self._backend = backend

    def allocate(self, nbytes: int) -> Any:
        return self._backend.allocate(nbytes)

    def bind(
        self, executable: Any, memories: Sequence[Any], grid: tuple[int, int, int]
    ) -> Callable[[], None]:
        executable = getattr(executable, "inner", executable)
        assert isinstance(executable, ResidentExecutable)
        return executable.bind(memories, grid)


class _Remote:
    """Through the process of an isolated backend; launches are queued there without waiting."""

    def __init__(self, backend: Isolated) -> None:
        self._backend = backend

    @property
    def life(self) -> int:
        return self._backend.restarts

    def allocate(self, nbytes: int) -> RemoteMemory:
        return self._backend.allocate_on_device(nbytes)

    def bind(
        self, executable: Any, memories: Sequence[Any], grid: tuple[int, int, int]
    ) -> Callable[[], None]:
        executable = getattr(executable, "inner", executable)
        assert isinstance(executable, IsolatedExecutable)
        return executable.bind(memories, grid)
