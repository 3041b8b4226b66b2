"""A backend in a process of its own, so that its crash or hang is a result and not the end of the run.

    with Isolated("mine:Backend", timeout=60) as backend:     # or the name of an entry point
        backend.compile(program).run(buffers, (64, 1, 1))

`Isolated` is itself a `Backend`. A child that dies raises `BackendCrash`, one that does not answer in time
is killed and raises `BackendHang`; the next request starts a new one (`wire`). Buffers made by `share` are
shared memory and are not copied; others are (`remote`). A driver that keeps what it compiled makes the child
grow; `overgrown` says so, and `renew` starts another where nothing is under way.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vyre.conform.process.remote import IsolatedExecutable, RemoteResidence, SharedPool
from vyre.conform.process.wire import Channel

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType

    from vyre.backends.protocol import BackendInfo, Executable
    from vyre.conform.process.entrances import Asked, Performed
    from vyre.conform.process.inspection import Canaries
    from vyre.ir.program import Program

DEFAULT_TIMEOUT = 60.0


class Isolated:
    """The backend `target` in a child process; see the module."""

    def __init__(self, target: str, *, timeout: float = DEFAULT_TIMEOUT) -> None:
        self.target = target
        self._wire = Channel(target, timeout=timeout)
        self._shared = SharedPool(self._wire)
        self.name = self._wire.info.name

    def __enter__(self) -> Isolated:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        with self._wire.lock:
            self._wire.end()
            self._shared.close()

    def describe(self) -> BackendInfo:
        return self._wire.info

    def compile(self, program: Program) -> IsolatedExecutable:
        from vyre.wire import byte_digest, encode

        made = IsolatedExecutable(self._wire, self._shared, byte_digest(program), encode(program))
        self._wire.request("compile", made.key, made.encoded)
        return made

    @property
    def pid(self) -> int | None:
        """Of the child; None where there is none at the moment."""
        return self._wire.pid

    @property
    def timeout(self) -> float:
        return self._wire.timeout

    @property
    def restarts(self) -> int:
        return self._wire.restarts

    @property
    def changed(self) -> str:
        """What differs about the backend since it was started again; from then on it answers nothing."""
        return self._wire.changed

    def require_same(self) -> None:
        self._wire.require_same()

    def canaries(self) -> Canaries:
        return self._wire.canaries

    @contextmanager
    def alone(self) -> Generator[None]:
        with self._wire.lock:
            yield

    def patience(self, seconds: float) -> AbstractContextManager[None]:
        return self._wire.patience(seconds)

    def settle(self, seconds: float) -> None:
        with self._wire.lock:
            if self._wire.pid is not None:
                time.sleep(seconds)
                self._wire.request("ping")

    def overgrown(self) -> bool:
        return self._wire.overgrown()

    def renew(self) -> None:
        with self._wire.lock:
            self._wire.end()
            self._wire.request("ping")

    def share(self, nbytes: int) -> memoryview:
        """Zeroed memory that is shared with the child, for as long as a view of it is held."""
        return self._shared.new(nbytes)

    def residence(self) -> RemoteResidence | None:
        return RemoteResidence(self._wire) if self._wire.request("resident") else None

    def offered(self, executable: Executable) -> frozenset[str]:
        assert isinstance(executable, IsolatedExecutable)
        return executable.asked_there("offered")

    def performed(self, executable: Executable, asked: Asked) -> Sequence[Performed]:
        assert isinstance(executable, IsolatedExecutable)
        memories = [dict(memory) for memory in asked.memories]
        way = asked.workgroups, asked.entrance, asked.dispatch, asked.order
        return executable.asked_there("perform", executable.encoded, memories, *way)
