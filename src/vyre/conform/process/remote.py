"""What a backend in another process has made: programs, runs on shared memory, memory of its device.

Buffers in segments that the child knows are not copied; others are. Memory that nobody here holds any more is
given back by the child as well. A child that was started anew compiles again what it is asked to run.
"""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Any, cast

from vyre.conform.process.inspection import Inspection
from vyre.conform.process.residence import bound, one_by_one
from vyre.conform.process.segments import Segments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre.backends.protocol import Executable
    from vyre.conform.process.residence import ResidentMemory
    from vyre.conform.process.wire import Channel

    Grid = tuple[int, int, int]

_MISSING = "missing"
"""The child's answer about a program that it does not have, or no longer."""


class SharedPool:
    """Memory that this process and the child both see."""

    def __init__(self, wire: Channel) -> None:
        self._wire = wire
        self._segments = Segments()

    def new(self, nbytes: int) -> memoryview:
        """Zeros, shared for as long as a view of them is held."""
        with self._wire.lock:
            return self._segments.new(nbytes)[1][:nbytes]

    def run(self, program: IsolatedExecutable, buffers: Mapping[str, memoryview], grid: Grid) -> None:
        with self._wire.lock:
            self._drop_unused()
            self._run_placed(program, buffers, grid)
            self._segments.trim()
            self._drop_unused()

    def close(self) -> None:
        self._segments.close()

    def _drop_unused(self) -> None:
        for segment in self._segments.collect():
            if segment.number in self._wire.attached:
                self._wire.attached.remove(segment.number)
                self._wire.request("detach", segment.number)

    def _run_placed(self, program: IsolatedExecutable, buffers: Mapping[str, memoryview], grid: Grid) -> None:
        places, copies = self._segments.placed(buffers)
        used = self._segments.of(places)
        self._wire.attach(used)
        message = ("run", program.key, [astuple(p) for p in places], grid)
        if self._wire.request(*message) == _MISSING:
            self._wire.request("compile", program.key, program.encoded)
            self._wire.attach(used)
            self._wire.request(*message)
        for view, copy in copies:
            if not view.readonly:
                view.cast("B")[:] = copy


class IsolatedExecutable:
    """A program that the child has compiled, and compiles again after a restart."""

    def __init__(self, wire: Channel, shared: SharedPool, key: str, encoded: bytes) -> None:
        self._wire = wire
        self._shared = shared
        self.key = key
        self.encoded = encoded

    def run(self, buffers: Mapping[str, memoryview], workgroups: Grid) -> None:
        self._shared.run(self, buffers, workgroups)

    def bind(self, memories: Sequence[ResidentMemory], workgroups: Grid) -> Callable[[], None]:
        """A launch on memory of the device."""
        wire = self._wire
        remote = cast("Sequence[RemoteMemory]", memories)
        life = remote[0].life if remote else wire.restarts
        message = ("bind", self.key, [m.number for m in remote], workgroups)
        number = wire.request_of(life, *message)
        if number == _MISSING:
            wire.request_of(life, "compile", self.key, self.encoded)
            number = wire.request_of(life, *message)
        return lambda: wire.request_of(life, "launch", number)

    def inspect(self, *, assembly: bool) -> Inspection:
        return Inspection(*self.asked_there("inspect", assembly))

    def asked_there(self, what: str, *more: Any) -> Any:
        """The child's answer about this program, which it compiles again where it has it no longer."""
        found: Any = self._wire.request(what, self.key, *more)
        if found == _MISSING:
            self._wire.request("compile", self.key, self.encoded)
            found = self._wire.request(what, self.key, *more)
        return found


class RemoteMemory:
    """Memory of the device of an isolated backend, by its number there."""

    def __init__(self, wire: Channel, number: int, nbytes: int) -> None:
        self._wire = wire
        self.number = number
        self.nbytes = nbytes
        self.life = wire.restarts

    def read(self, target: memoryview) -> None:
        target[:] = self._wire.request_of(self.life, "read", self.number)

    def write(self, source: memoryview) -> None:
        self._wire.request_of(self.life, "write", self.number, bytes(source))

    def free(self) -> None:
        """Memory of a child that is gone went with it."""
        if self._wire.restarts == self.life:
            self._wire.request("free", self.number)


class RemoteResidence:
    """Through the process of an isolated backend; launches are queued there without waiting."""

    def __init__(self, wire: Channel) -> None:
        self._wire = wire

    @property
    def life(self) -> int:
        return self._wire.restarts

    def allocate(self, nbytes: int) -> RemoteMemory:
        """Zeroed memory of the child's device, which is gone when the child is."""
        with self._wire.lock:
            return RemoteMemory(self._wire, self._wire.request("allocate", nbytes), nbytes)

    def bind(
        self, executable: Executable, memories: Sequence[ResidentMemory], grid: Grid
    ) -> Callable[[], None]:
        return bound(executable, memories, grid)

    def row(self, launches: Sequence[Callable[[], None]]) -> Callable[[], None]:
        return one_by_one(launches)
