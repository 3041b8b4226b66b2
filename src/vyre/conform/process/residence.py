"""Device memory for the checks, in this process or in that of an isolated backend.

    home = held(backend).residence()           None where results are as near to the host as to the device
    memory = home.allocate(nbytes)
    launch = home.bind(executable, [memory, …], (64, 1, 1))
    launch(); memory.read(view)
    home.row([launch, …])()                    in one go, where the backend can

Only what is compared on the device pays for this: a law whose two sides are results of the device itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from vyre.backends.host_memory import SPACE
from vyre.backends.protocol import ReplayingBackend, ResidentBackend, ResidentExecutable
from vyre.errors import DispatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.backends.protocol import Backend, DeviceMemory, Executable


class ResidentMemory(Protocol):
    """Bytes on a device, wherever the process is that holds them."""

    @property
    def nbytes(self) -> int: ...

    def read(self, target: memoryview) -> None: ...

    def write(self, source: memoryview) -> None: ...

    def free(self) -> None: ...


class Residence(Protocol):
    """Where device memory comes from. `life` changes when everything allocated before is gone."""

    @property
    def life(self) -> int: ...

    def allocate(self, nbytes: int) -> ResidentMemory: ...

    def bind(
        self, executable: Executable, memories: Sequence[ResidentMemory], grid: tuple[int, int, int]
    ) -> Callable[[], None]: ...

    def row(self, launches: Sequence[Callable[[], None]]) -> Callable[[], None]:
        """All of these launches, in this order."""
        ...


def local_residence(backend: Backend) -> Residence | None:
    """The device memory of a backend in this process; None where it has none, or it is the host's."""
    return LocalResidence(backend) if has_device_memory(backend) else None


def has_device_memory(backend: Backend) -> bool:
    """Whether memory can be held on the device, and the device is not the host."""
    if not isinstance(backend, ResidentBackend):
        return False
    probe = backend.allocate(16)
    apart = probe.span[0] != SPACE
    probe.free()
    return apart


class LocalResidence:
    """The memory of a backend in this process, which lives as long as we do."""

    life = 0

    def __init__(self, backend: Backend) -> None:
        assert isinstance(backend, ResidentBackend)
        self._backend = backend

    def allocate(self, nbytes: int) -> ResidentMemory:
        return self._backend.allocate(nbytes)

    def bind(
        self, executable: Executable, memories: Sequence[ResidentMemory], grid: tuple[int, int, int]
    ) -> Callable[[], None]:
        return bound(executable, memories, grid)

    def row(self, launches: Sequence[Callable[[], None]]) -> Callable[[], None]:
        if isinstance(self._backend, ReplayingBackend):
            return self._backend.replayed(launches)
        return one_by_one(launches)


def one_by_one(launches: Sequence[Callable[[], None]]) -> Callable[[], None]:
    def launch() -> None:
        for one in launches:
            one()

    return launch


def bound(
    executable: Executable, memories: Sequence[ResidentMemory], grid: tuple[int, int, int]
) -> Callable[[], None]:
    """A launch on memory of the executable's own backend. Raises `DispatchError` where it cannot be bound."""
    if not isinstance(executable, ResidentExecutable):
        raise DispatchError(
            "the backend holds memory on its device, but what it compiled cannot run on it.",
            fix="give the executable `bind(memories, workgroups)`, or take `allocate` from the backend.",
        )
    return executable.bind(cast("Sequence[DeviceMemory]", memories), grid)
