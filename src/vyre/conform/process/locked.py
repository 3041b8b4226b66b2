"""A backend for several threads: one request at a time."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vyre.conform.process.held import held
from vyre.conform.process.inspection import inspect
from vyre.conform.process.residence import bound

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from vyre.backends.protocol import Backend, BackendInfo, Executable
    from vyre.conform.process.entrances import Asked, Performed
    from vyre.conform.process.inspection import Canaries, Inspection
    from vyre.conform.process.residence import Residence, ResidentMemory
    from vyre.ir.program import Program


class Locked:
    """A backend behind a lock; how it is held is asked of the one behind."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner
        self._held = held(inner)
        self.name = str(inner.name)
        self.lock = threading.RLock()

    def describe(self) -> BackendInfo:
        return self._inner.describe()

    def compile(self, program: Program) -> LockedExecutable:
        with self.lock:
            return LockedExecutable(self, self._inner.compile(program))

    @property
    def timeout(self) -> float | None:
        return self._held.timeout

    @property
    def restarts(self) -> int:
        return self._held.restarts

    @property
    def changed(self) -> str:
        return self._held.changed

    def require_same(self) -> None:
        self._held.require_same()

    def canaries(self) -> Canaries:
        return self._held.canaries()

    @contextmanager
    def alone(self) -> Generator[None]:
        with self.lock, self._held.alone():
            yield

    def patience(self, seconds: float) -> AbstractContextManager[None]:
        return self._held.patience(seconds)

    def settle(self, seconds: float) -> None:
        self._held.settle(seconds)

    def overgrown(self) -> bool:
        return self._held.overgrown()

    def renew(self) -> None:
        self._held.renew()

    def share(self, nbytes: int) -> memoryview:
        return self._held.share(nbytes)

    def residence(self) -> Residence | None:
        return self._held.residence()

    def offered(self, executable: Executable) -> frozenset[str]:
        with self.lock:
            return self._held.offered(_behind(executable))

    def performed(self, executable: Executable, asked: Asked) -> Sequence[Performed]:
        """Threads of a pattern are behind the lock, and see each other."""
        with self.lock:
            return self._held.performed(_behind(executable), asked)


class LockedExecutable:
    """A compiled program behind its backend's lock. Launches on device memory are queued without it."""

    def __init__(self, owner: Locked, inner: Executable) -> None:
        self._owner = owner
        self._inner = inner

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        with self._owner.lock:
            self._inner.run(buffers, workgroups)

    def bind(
        self, memories: Sequence[ResidentMemory], workgroups: tuple[int, int, int]
    ) -> Callable[[], None]:
        return bound(self._inner, memories, workgroups)

    def inspect(self, *, assembly: bool) -> Inspection:
        return inspect(self._inner, assembly=assembly)

    @property
    def behind(self) -> Executable:
        """What the backend behind the lock compiled."""
        return self._inner


def _behind(executable: Executable) -> Executable:
    return executable.behind if isinstance(executable, LockedExecutable) else executable
