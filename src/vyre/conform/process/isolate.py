"""A backend in a process of its own, so that its crash or hang is a result and not the end of the run.

    with Isolated("mine:Backend", timeout=60) as backend:     # or the name of an entry point
        backend.compile(program).run(buffers, (64, 1, 1))

`Isolated` is itself a `Backend`. A child that dies raises `BackendCrash`, one that does not answer in time
is killed and raises `BackendHang`; the next request starts a new one, which compiles again what it is asked
to run. Buffers made by `allocate` are shared memory and are not copied; others are. Memory that nobody here
holds any more is given back by the child as well. The child ends with its parent, whatever ends that one. A
driver that keeps what it compiled makes the child grow; `overgrown` says so, and `renew` starts another where
nothing is under way.
"""

from __future__ import annotations

import mmap
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from vyre.conform.process.segments import Place, Segments
from vyre.errors import DispatchError, UnsupportedByBackend, VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from types import TracebackType

    from vyre.backends.protocol import BackendInfo
    from vyre.ir.program import Program

DEFAULT_TIMEOUT = 60.0
START_TIMEOUT = 120.0
MOST_GROWTH = 1 << 30
"""Bytes that a child may grow by before it is overgrown."""
LEAST_LIFE = 10.0
"""Seconds that a child has at least: one that needs so much memory is not started all the time."""
_send_handle: Any = reduction.send_handle  # its stub knows one of the two kinds of connections


class BackendCrash(VyreError):
    """The process of a backend died while it worked."""


class BackendHang(VyreError):
    """A backend gave no answer in time, and its process was ended."""


class DeviceChanged(VyreError):
    """A backend that was started again is not the one it was: another device, driver or toolchain."""


class MemoryGone(VyreError):
    """Memory of a device was asked for after the process that held it had ended."""


class BackendFault(VyreError):
    """A backend raised an exception of its own; `kind` is its type."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(f"{kind}: {message}", fix="repair the backend; the program is valid.")


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a compiled kernel tells about itself; empty where it does not."""

    lowering: str = ""
    source: str = ""
    assembly: str = ""


def inspect(executable: Any, *, assembly: bool = False) -> Inspection:
    """Source and way of lowering, from the optional attributes of an executable.

    Assembly only where it is asked for: a backend may have to compile again to show it.
    """
    executable = getattr(executable, "inner", executable)
    if isinstance(executable, IsolatedExecutable):
        return executable.inspect(assembly=assembly)
    source = getattr(executable, "source", "")
    source = getattr(source, "text", source)
    shown = getattr(executable, "assembly", "") if assembly else ""
    if callable(shown):
        shown = shown()
    lowering = getattr(executable, "lowering", "")
    return Inspection(*(v if isinstance(v, str) else "" for v in (lowering, source, shown)))


def canaries(backend: Any) -> tuple[tuple[str, str], ...]:
    """Each canary that the backend ran at open, with its fault or nothing; empty where it does not tell."""
    backend = getattr(backend, "inner", backend)
    if isinstance(backend, Isolated):
        return backend.canaries()
    failures = getattr(getattr(backend, "verdict", None), "failures", None)
    if not isinstance(failures, dict):
        return ()
    from vyre.backends.canaries.run import CANARIES

    faults = cast("dict[str, str]", failures)
    return tuple((canary.name, faults.get(canary.name, "")) for canary in CANARIES)


def allocate(backend: Any, nbytes: int) -> memoryview:
    """Memory that a backend runs on without a copy: shared with its process where it has one."""
    backend = getattr(backend, "inner", backend)
    if isinstance(backend, Isolated):
        return backend.allocate(nbytes)
    return np.zeros(nbytes, np.uint8).data


def load(target: str) -> Any:
    """The backend that a target names: `module:Class`, constructed without arguments, or an entry point."""
    if ":" not in target:
        from vyre.backends import get

        return get(target)
    import importlib

    module, _, name = target.partition(":")
    try:
        return getattr(importlib.import_module(module), name)()
    except (ImportError, AttributeError) as error:
        raise DispatchError(
            f"no backend class at {target!r}: {error}.",
            fix="name it as module:Class, importable from where you are.",
        ) from None


class Isolated:
    """The backend `target` in a child process; see the module."""

    def __init__(self, target: str, *, timeout: float = DEFAULT_TIMEOUT) -> None:
        self.target = target
        self.timeout = timeout
        self.restarts = 0
        self.changed = ""
        """What differs about the backend since it was started again; from then on it answers nothing."""
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Any = None
        self._life: int | None = None
        self._segments = Segments()
        self._attached: set[int] = set()
        self._born = (0.0, 0)
        self._patience = threading.local()
        self._info, self._asked = self._start()
        self.name = self._info.name

    def __enter__(self) -> Isolated:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._end()
            self._segments.close()

    def describe(self) -> BackendInfo:
        return self._info

    @contextmanager
    def alone(self) -> Generator[None]:
        """Requests of other threads wait."""
        with self._lock:
            yield

    @contextmanager
    def patience(self, seconds: float) -> Generator[None]:
        """Waits at most so long for an answer, in this thread; the requests of others are not hurried."""
        usual = getattr(self._patience, "seconds", None)
        self._patience.seconds = seconds
        try:
            yield
        finally:
            self._patience.seconds = usual

    @property
    def _limit(self) -> float:
        return getattr(self._patience, "seconds", None) or self.timeout

    def settle(self, seconds: float) -> None:
        """Gives the child time to die of what it did last, and raises `BackendCrash` if it does."""
        with self._lock:
            if self._process is not None:
                time.sleep(seconds)
                self._request("ping")

    def overgrown(self) -> bool:
        """Whether the child has grown by more than `MOST_GROWTH` since it was started, a while ago."""
        with self._lock:
            if self._process is None or time.monotonic() - self._born[0] < LEAST_LIFE:
                return False
            return _resident_bytes(self._process.pid) - self._born[1] > MOST_GROWTH

    def renew(self) -> None:
        """A new child in the place of this one. Memory on its device is gone, as after a crash."""
        with self._lock:
            self._end()
            self._request("ping")

    def canaries(self) -> tuple[tuple[str, str], ...]:
        return self._asked

    def compile(self, program: Program) -> IsolatedExecutable:
        from vyre.wire import byte_digest, encode

        executable = IsolatedExecutable(self, byte_digest(program), encode(program))
        self._request("compile", executable.key, executable.wire)
        return executable

    def resident(self) -> bool:
        """Whether the backend has memory of its own that can be held between runs."""
        return self._request("resident")

    def allocate_on_device(self, nbytes: int) -> RemoteMemory:
        """Zeroed memory of the child's device, which is gone when the child is."""
        with self._lock:
            return RemoteMemory(self, self._request("allocate", nbytes), nbytes)

    def allocate(self, nbytes: int) -> memoryview:
        """Zeroed memory that is shared with the child, for as long as a view of it is held."""
        with self._lock:
            return self._segments.new(nbytes)[1][:nbytes]

    def _drop_unused(self) -> None:
        for segment in self._segments.collect():
            if segment.number in self._attached:
                self._attached.remove(segment.number)
                self._request("detach", segment.number)

    def _start(self) -> tuple[BackendInfo, tuple[tuple[str, str], ...]]:
        """Starts a child, which says what it is and how its canaries are."""
        ours, theirs = socket.socketpair()
        life_read, self._life = os.pipe()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        code = "from vyre.conform.process.child import main; main()"
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code, str(theirs.fileno()), str(life_read), self.target],
                pass_fds=(theirs.fileno(), life_read),
                stdin=subprocess.DEVNULL,
                stdout=2,  # what a backend prints must not mix with ours
                env=environment,
            )
        finally:
            theirs.close()
            os.close(life_read)
        self._connection = Connection(ours.detach())
        self._attached = set()
        told = self._receive(max(START_TIMEOUT, self.timeout))
        self._born = (time.monotonic(), _resident_bytes(self._process.pid))
        return told

    def _start_again(self) -> None:
        """A new child, if it is the same backend; what another one computes is no part of this run."""
        self.restarts += 1
        self._require_same(*self._start())

    def require_same(self) -> None:
        """Asks the child again what it is. Raises `DeviceChanged` where it is no longer what it was."""
        with self._lock:
            self._require_same(*self._request("describe"))

    def _require_same(self, info: BackendInfo, asked: tuple[tuple[str, str], ...]) -> None:
        before = self._info
        differing = [
            f"{f.name} is {getattr(info, f.name)!r}, not {getattr(before, f.name)!r}"
            for f in fields(before)
            if getattr(info, f.name, None) != getattr(before, f.name)
        ]
        differing += [f"canary {name}: {fault or 'right'}" for name, fault in set(asked) - set(self._asked)]
        if differing:
            self._end()
            self.changed = "; ".join(sorted(differing))
            raise self._no_longer()

    def _no_longer(self) -> DeviceChanged:
        return DeviceChanged(
            f"the backend {self.target} was started again and is another one: {self.changed}.",
            fix="see that one device and driver stay in use, then run it again.",
        )

    def _end(self) -> int | None:
        """Ends the child, if there is one, and says how it ended."""
        if self._process is None:
            return None
        self._connection.close()
        if self._life is not None:
            os.close(self._life)
        self._process.kill() if self._process.poll() is None else None
        code = self._process.wait()
        self._process = self._connection = self._life = None
        self._attached = set()
        return code

    def _receive(self, timeout: float) -> Any:
        try:
            if not self._connection.poll(timeout):
                self._end()
                raise BackendHang(
                    f"the backend {self.target} did not answer within {timeout:g} s.",
                    fix="find what hangs, or allow more time with --timeout.",
                )
            status, *values = self._connection.recv()
        except (EOFError, OSError):
            # The child closed its end, so it is dying; its own exit code says more than our kill would.
            try:
                assert self._process is not None
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                pass
            raise BackendCrash(
                f"the process of the backend {self.target} died ({_ending(self._end())}).",
                fix="run the case named here alone, under a debugger.",
            ) from None
        match status:
            case "ok":
                return values[0]
            case "refused":
                op, backend, why, fix = values
                raise UnsupportedByBackend(op, backend, why=why, fix=fix)
            case "unavailable":
                self._end()
                raise DispatchError(values[0], fix=values[1])
            case _:
                raise BackendFault(values[0], values[1])

    def _request(self, *message: Any) -> Any:
        with self._lock:
            if self.changed:
                raise self._no_longer()
            if self._process is None:
                self._start_again()
            with suppress(OSError):  # of a child that is dying, which `_receive` tells
                self._connection.send(message)
            return self._receive(self._limit)

    def _of_life(self, life: int, *message: Any) -> Any:
        """A request about memory of the child number `life`; its numbers mean nothing to the next one."""
        with self._lock:
            if self._process is None or self.restarts != life:
                raise MemoryGone(
                    "the process that held this memory of the device has ended.", fix="allocate it anew."
                )
            return self._request(*message)

    def _run(
        self, executable: IsolatedExecutable, buffers: Mapping[str, memoryview], grid: tuple[int, int, int]
    ) -> None:
        with self._lock:
            self._drop_unused()
            self._run_placed(executable, buffers, grid)
            self._segments.trim()
            self._drop_unused()

    def _run_placed(
        self, executable: IsolatedExecutable, buffers: Mapping[str, memoryview], grid: tuple[int, int, int]
    ) -> None:
        places, copies = self._segments.placed(buffers)
        self._attach(places)
        message = ("run", executable.key, [astuple(p) for p in places], grid)
        if self._request(*message) == "missing":
            self._request("compile", executable.key, executable.wire)
            self._attach(places)
            self._request(*message)
        for view, copy in copies:
            if not view.readonly:
                view.cast("B")[:] = copy

    def _attach(self, places: list[Place]) -> None:
        """Gives the child the segments that it does not have yet."""
        if self._process is None:
            self._request("ping")
        assert self._process is not None
        for segment in self._segments.of(places):
            if segment.number in self._attached:
                continue
            self._connection.send(("attach", segment.number, segment.size))
            _send_handle(self._connection, segment.file.fileno(), self._process.pid)
            self._receive(self._limit)
            self._attached.add(segment.number)


class IsolatedExecutable:
    """A program that the child has compiled, and compiles again after a restart."""

    def __init__(self, owner: Isolated, key: str, wire: bytes) -> None:
        self._owner = owner
        self.key = key
        self.wire = wire

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        self._owner._run(self, buffers, workgroups)

    def bind(self, memories: Sequence[RemoteMemory], grid: tuple[int, int, int]) -> Callable[[], None]:
        """A launch on memory of the device."""
        owner = self._owner
        lives = [m.life for m in memories]
        life = lives[0] if lives else owner.restarts
        message = ("bind", self.key, [m.number for m in memories], grid)
        number = owner._of_life(life, *message)
        if number == "missing":
            owner._of_life(life, "compile", self.key, self.wire)
            number = owner._of_life(life, *message)
        return lambda: owner._of_life(life, "launch", number)

    def inspect(self, *, assembly: bool) -> Inspection:
        owner = self._owner
        found = owner._request("inspect", self.key, assembly)
        if found == "missing":
            owner._request("compile", self.key, self.wire)
            found = owner._request("inspect", self.key, assembly)
        return Inspection(*found)


class RemoteMemory:
    """Memory of the device of an isolated backend, by its number there."""

    def __init__(self, owner: Isolated, number: int, nbytes: int) -> None:
        self._owner = owner
        self.number = number
        self.nbytes = nbytes
        self.life = owner.restarts

    def read(self, target: memoryview) -> None:
        target[:] = self._owner._of_life(self.life, "read", self.number)

    def write(self, source: memoryview) -> None:
        self._owner._of_life(self.life, "write", self.number, bytes(source))

    def free(self) -> None:
        """Memory of a child that is gone went with it."""
        if self._owner.restarts == self.life:
            self._owner._request("free", self.number)


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
