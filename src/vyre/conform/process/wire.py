"""The parent's end of a backend in a process of its own: it starts the child, asks it, and sees it end.

    wire = Channel("mine:Backend", timeout=60)
    wire.request("ping")                  the answer, or what the child raised

A child that dies raises `BackendCrash`, one that does not answer in time is killed and raises `BackendHang`.
The next request starts another, if that is the same backend still: `restarts` counts them. The child ends
with its parent, whatever ends that one (`child.py` is the other end).
"""

from __future__ import annotations

import mmap
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import fields
from multiprocessing import reduction
from typing import TYPE_CHECKING, Any

from vyre.conform.process.faults import BackendCrash, BackendFault, BackendHang, DeviceChanged, MemoryGone
from vyre.conform.process.spawned import spawn
from vyre.errors import DispatchError, UnsupportedByBackend

if TYPE_CHECKING:
    from collections.abc import Generator

    from vyre.backends.protocol import BackendInfo
    from vyre.conform.process.inspection import Canaries
    from vyre.conform.process.segments import Segment
    from vyre.conform.process.spawned import Spawned

START_TIMEOUT = 120.0
MOST_GROWTH = 1 << 30
"""Bytes that a child may grow by before it is overgrown."""
LEAST_LIFE = 10.0
"""Seconds that a child has at least: one that needs so much memory is not started all the time."""
_send_handle: Any = reduction.send_handle  # its stub knows one of the two kinds of connections


class Channel:
    """Requests to the child of `target`, one at a time."""

    def __init__(self, target: str, *, timeout: float) -> None:
        self.target = target
        self.timeout = timeout
        self.restarts = 0
        self.changed = ""
        """What differs about the backend since it was started again; from then on it answers nothing."""
        self.lock = threading.RLock()
        self.attached: set[int] = set()
        """The segments of shared memory that the child has."""
        self._child: Spawned | None = None
        self._born = (0.0, 0)
        self._patience = threading.local()
        self.info, self.canaries = self._start()

    @property
    def pid(self) -> int | None:
        """Of the child; None where there is none at the moment."""
        return None if self._child is None else self._child.process.pid

    @contextmanager
    def patience(self, seconds: float) -> Generator[None]:
        """Waits at most so long for an answer, in this thread."""
        usual = getattr(self._patience, "seconds", None)
        self._patience.seconds = seconds
        try:
            yield
        finally:
            self._patience.seconds = usual

    @property
    def _limit(self) -> float:
        return getattr(self._patience, "seconds", None) or self.timeout

    def overgrown(self) -> bool:
        """Whether the child has grown by more than `MOST_GROWTH` since it was started, a while ago."""
        with self.lock:
            if self._child is None or time.monotonic() - self._born[0] < LEAST_LIFE:
                return False
            return _resident_bytes(self._child.process.pid) - self._born[1] > MOST_GROWTH

    def request(self, *message: Any) -> Any:
        """The answer of the child, which is started where there is none."""
        with self.lock:
            if self.changed:
                raise self._no_longer()
            if self._child is None:
                self._start_again()
            assert self._child is not None
            with suppress(OSError):  # of a child that is dying, which `_receive` tells
                self._child.connection.send(message)
            return self._receive(self._limit)

    def request_of(self, life: int, *message: Any) -> Any:
        """A request about memory of the child number `life`; its numbers mean nothing to the next one."""
        with self.lock:
            if self._child is None or self.restarts != life:
                raise MemoryGone(
                    "the process that held this memory of the device has ended.", fix="allocate it anew."
                )
            return self.request(*message)

    def attach(self, segments: list[Segment]) -> None:
        """Gives the child the segments that it does not have yet."""
        if self._child is None:
            self.request("ping")
        assert self._child is not None
        for segment in segments:
            if segment.number in self.attached:
                continue
            with suppress(OSError):  # as above
                self._child.connection.send(("attach", segment.number, segment.size))
                _send_handle(self._child.connection, segment.file.fileno(), self._child.process.pid)
            self._receive(self._limit)
            self.attached.add(segment.number)

    def require_same(self) -> None:
        """Asks the child to describe itself again. Raises `DeviceChanged` where the answer differs."""
        with self.lock:
            self._require_same(*self.request("describe"))

    def end(self) -> int | None:
        """Ends the child, if there is one, and says how it ended."""
        child, self._child, self.attached = self._child, None, set()
        return None if child is None else child.end()

    def _start(self) -> tuple[BackendInfo, Canaries]:
        """Starts a child, which says what it is and how its canaries are."""
        self._child = spawn("from vyre.conform.process.child import main; main()", self.target)
        self.attached = set()
        told = self._receive(max(START_TIMEOUT, self.timeout))
        self._born = (time.monotonic(), _resident_bytes(self._child.process.pid))
        return told

    def _start_again(self) -> None:
        """A new child, if it is the same backend: results of another one must not enter this run."""
        self.restarts += 1
        self._require_same(*self._start())

    def _require_same(self, info: BackendInfo, canaries: Canaries) -> None:
        before = self.info
        differing = [
            f"{f.name} is {getattr(info, f.name)!r}, not {getattr(before, f.name)!r}"
            for f in fields(before)
            if getattr(info, f.name, None) != getattr(before, f.name)
        ]
        fresh = set(canaries) - set(self.canaries)
        differing += [f"canary {name}: {fault or 'right'}" for name, fault in fresh]
        if differing:
            self.end()
            self.changed = "; ".join(sorted(differing))
            raise self._no_longer()

    def _no_longer(self) -> DeviceChanged:
        return DeviceChanged(
            f"the backend {self.target} was started again and is another one: {self.changed}.",
            fix="keep the same device and driver in use, then run it again.",
        )

    def _receive(self, timeout: float) -> Any:
        assert self._child is not None
        try:
            if not self._child.connection.poll(timeout):
                self.end()
                raise BackendHang(
                    f"the backend {self.target} did not answer within {timeout:g} s.",
                    fix="find what hangs, or allow more time with --timeout.",
                )
            status, *values = self._child.connection.recv()
        except (EOFError, OSError):
            # The child closed its end, so it is dying; its own exit code says more than our kill would.
            with suppress(subprocess.TimeoutExpired):
                self._child.process.wait(5)
            raise BackendCrash(
                f"the process of the backend {self.target} died ({_ending(self.end())}).",
                fix="run the case named here alone, under a debugger.",
            ) from None
        match status:
            case "ok":
                return values[0]
            case "refused":
                op, backend, why, fix = values
                raise UnsupportedByBackend(op, backend, why=why, fix=fix)
            case "unavailable":
                self.end()
                raise DispatchError(values[0], fix=values[1])
            case _:
                raise BackendFault(values[0], values[1])


def _resident_bytes(pid: int) -> int:
    """Memory of a process that is its own, 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            _, resident, shared, *_ = map(int, file.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * mmap.PAGESIZE


def _ending(code: int | None) -> str:
    import signal

    if code is None:
        return "for no known reason"
    if code >= 0:
        return f"exit status {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
