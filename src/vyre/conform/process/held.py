"""How a backend is held while it is judged: in this process, in one of its own, or behind a lock.

    held(backend).settle(0.4)              waits for a crash that comes after the answer
    held(backend).residence()              its device memory, wherever that is

`Isolated` and `Locked` are held by themselves; any other backend is in this process, where there is nothing
to wait for and nothing that could be started anew. Nobody has to ask which of them it has.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from vyre.conform.process.entrances import offered, performed
from vyre.conform.process.inspection import canaries_of
from vyre.conform.process.residence import local_residence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.backends.protocol import Backend, Executable
    from vyre.conform.process.entrances import Asked, Performed
    from vyre.conform.process.inspection import Canaries
    from vyre.conform.process.residence import Residence


@runtime_checkable
class Held(Protocol):
    """What a holder can be asked besides the backend's own work."""

    @property
    def timeout(self) -> float | None:
        """Seconds that an answer may take; None for a backend in this process, which nobody can end."""
        ...

    @property
    def restarts(self) -> int:
        """How often the backend's process was started again."""
        ...

    @property
    def changed(self) -> str:
        """What differs about the backend since it was started again."""
        ...

    def require_same(self) -> None:
        """Asks the process to describe itself again. Raises `DeviceChanged` where the answer differs."""
        ...

    def canaries(self) -> Canaries: ...

    def alone(self) -> AbstractContextManager[None]:
        """Requests of other threads wait."""
        ...

    def patience(self, seconds: float) -> AbstractContextManager[None]:
        """Waits at most so long for an answer, in this thread; the requests of others are not hurried."""
        ...

    def settle(self, seconds: float) -> None:
        """Gives the backend time to die of what it did last, and raises `BackendCrash` if it does."""
        ...

    def overgrown(self) -> bool:
        """Whether the backend's process keeps so much that a new one should take its place."""
        ...

    def renew(self) -> None:
        """A new process in the place of this one. Memory on its device is gone, as after a crash."""
        ...

    def share(self, nbytes: int) -> memoryview:
        """Zeroed memory of the host that the backend runs on without a copy."""
        ...

    def residence(self) -> Residence | None:
        """The backend's device memory; None where it has none, or it is the host's."""
        ...

    def offered(self, executable: Executable) -> frozenset[str]:
        """The ways into the backend for a program that it compiled (`process/entrances.py`)."""
        ...

    def performed(self, executable: Executable, asked: Asked) -> Sequence[Performed]:
        """What each of the asked dispatches left in which memory, made where the backend lives."""
        ...


def held(backend: Backend) -> Held:
    return backend if isinstance(backend, Held) else InProcess(backend)


class InProcess:
    """A backend in this process."""

    timeout = None
    restarts = 0
    changed = ""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def require_same(self) -> None:
        """It was never started again."""

    def canaries(self) -> Canaries:
        return canaries_of(self._backend)

    def alone(self) -> AbstractContextManager[None]:
        return nullcontext()

    def patience(self, seconds: float) -> AbstractContextManager[None]:
        return nullcontext()

    def settle(self, seconds: float) -> None:
        """Its crash would be ours."""

    def overgrown(self) -> bool:
        return False

    def renew(self) -> None:
        """Does nothing: the backend runs in this process."""

    def share(self, nbytes: int) -> memoryview:
        return np.zeros(nbytes, np.uint8).data

    def residence(self) -> Residence | None:
        return local_residence(self._backend)

    def offered(self, executable: Executable) -> frozenset[str]:
        return offered(self._backend, executable)

    def performed(self, executable: Executable, asked: Asked) -> Sequence[Performed]:
        return performed(self._backend, executable, asked)
