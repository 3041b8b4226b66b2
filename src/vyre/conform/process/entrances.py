"""The ways into a backend and the patterns of dispatches, by protocol alone, where the backend lives.

    offered(backend, executable)                 the entrances that there are
    performed(backend, executable, asked)        what each run of the asked dispatches left

Runs of one compiled program take turns with several memories, so that whatever is left of the run before
shows. Each result says which memory was taken, and holds every ReadWrite buffer after one run. What is only
read must be as it was. A backend in a process of its own is asked there (`held(backend).performed`): its
memory, its loans and its threads are real.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from vyre.backends.execute import run_bytes
from vyre.backends.protocol import LimitedExecutable, ResidentBackend, ResidentExecutable
from vyre.errors import VyreError
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.expr import InvocationId, Var
from vyre.ir.limits import U32_MAX
from vyre.ir.node import Let, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from vyre.backends.protocol import Backend, DeviceMemory, Executable

    Results = Mapping[str, bytes]
    Performed = tuple[int, Results]
    """Which memory was taken, and what the run left in it."""

    Entrance = Callable[[Backend, Executable, "Asked", int], list[Performed]]

ENTRANCES = ("run", "run_limited", "bind", "bind again", "borrow", "copy")
ALONE = -1
"""In an order: a run of one workgroup between the others. Its result names ALONE less the memory taken."""

_MANY = 3
"""Runs from which on a case is so small that its bindings are launched more often too."""

_OTHER_SIZE = 257


@dataclass(frozen=True, slots=True)
class Asked:
    """A program, its grid, the way in, the pattern of its dispatches, and the bytes of its buffers: one
    memory or several, of which each run takes the one that `order` names. The first two have equal sizes."""

    program: Program
    memories: Sequence[Mapping[str, bytes]]
    workgroups: tuple[int, int, int]
    entrance: str = "run"
    dispatch: str = "once"
    order: Sequence[int] = (0,)

    @property
    def last(self) -> int:
        """The second memory where there is one."""
        return min(1, len(self.memories) - 1)


def offered(backend: Backend, executable: Executable) -> frozenset[str]:
    """The entrances that this backend has for this program."""
    found = {"run"}
    if isinstance(executable, LimitedExecutable):
        found.add("run_limited")
    if isinstance(backend, ResidentBackend) and isinstance(executable, ResidentExecutable):
        found |= set(ENTRANCES) - {"run", "run_limited"}
    return frozenset(found)


def performed(backend: Backend, executable: Executable, asked: Asked) -> list[Performed]:
    """The results of every run, by its entrance and in its pattern, and of `run` besides, with the memory of
    another run."""
    return list(_performed(backend, executable, asked))


def _performed(backend: Backend, executable: Executable, asked: Asked) -> Iterator[Performed]:
    if asked.entrance != "run":
        yield from _run(backend, executable, asked, asked.last)

    def once(memory: int) -> list[Performed]:
        enter = _ENTRANCES[asked.entrance]
        if memory == ALONE:
            found = enter(backend, executable, replace(asked, workgroups=(1, 1, 1)), 0)
            return [(ALONE - taken, results) for taken, results in found]
        return enter(backend, executable, asked, memory)

    match asked.dispatch:
        case "interleaved":
            other = _other(backend)
            for memory in asked.order:
                yield from once(memory)
                other()
        case "threads":
            with ThreadPoolExecutor(len(asked.order)) as pool:
                for found in [pool.submit(once, memory) for memory in asked.order]:
                    yield from found.result()
        case "after another":
            _other(backend)()
            yield from once(asked.order[0])
        case _:
            for memory in asked.order:
                yield from once(memory)


def _other(backend: Backend) -> Callable[[], None]:
    """Another program, whose results are looked at as well."""
    out = BufferDecl.read_write("out", 0, DataType.U32)
    entry = (Let("i", InvocationId(0)), Store("out", Var("i"), Var("i") * 3 + 1))
    program = Program((out,), (16, 1, 1), entry)
    executable = backend.compile(program)
    wanted = (np.arange(_OTHER_SIZE, dtype=np.uint32) * np.uint32(3) + np.uint32(1)).tobytes()

    def run() -> None:
        found = run_bytes(executable, program, {"out": bytes(4 * _OTHER_SIZE)}, (17, 1, 1))
        if found["out"] != wanted:
            raise VyreError("a small program between the runs went wrong.", fix="run it by itself.")

    return run


def _run(backend: Backend, executable: Executable, asked: Asked, memory: int) -> list[Performed]:
    return [(memory, run_bytes(executable, asked.program, asked.memories[memory], asked.workgroups))]


class _Counted:
    """An executable that is run with a limit on its turns which it does not reach."""

    def __init__(self, executable: LimitedExecutable) -> None:
        self._executable = executable

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        self._executable.run_limited(buffers, workgroups, U32_MAX)


def _run_limited(backend: Backend, executable: Executable, asked: Asked, memory: int) -> list[Performed]:
    assert isinstance(executable, LimitedExecutable)
    counted = _Counted(executable)
    return [(memory, run_bytes(counted, asked.program, asked.memories[memory], asked.workgroups))]


def _allocated(backend: ResidentBackend, data: bytes) -> DeviceMemory:
    memory = backend.allocate(len(data))
    memory.write(memoryview(data))
    return memory


def _copied(backend: ResidentBackend, data: bytes) -> DeviceMemory:
    source, memory = _allocated(backend, data), backend.allocate(len(data))
    memory.copy(source)
    source.free()
    return memory


def _borrowed(backend: ResidentBackend, data: bytes) -> DeviceMemory:
    return backend.borrow(memoryview(bytearray(data)))


def _resident(make: Callable[[ResidentBackend, bytes], DeviceMemory], *, again: bool = False) -> Entrance:
    """A launch of a binding; where it is done `again`, after launches of this binding with other bytes."""

    def run(backend: Backend, executable: Executable, asked: Asked, memory: int) -> list[Performed]:
        assert isinstance(backend, ResidentBackend)
        assert isinstance(executable, ResidentExecutable)
        bound = [b for b in asked.program.buffers if b.access.bound]
        turns = [memory]
        if again:
            before = asked.last - memory if memory < 2 else memory
            turns = [before, memory] * (2 if len(asked.order) > _MANY else 1)
        memories = [make(backend, asked.memories[turns[0]][b.name]) for b in bound]
        launch = executable.bind(memories, asked.workgroups)
        results: list[Performed] = []
        for turn, number in enumerate(turns):
            given = asked.memories[number]
            if turn:
                for decl, place in zip(bound, memories, strict=True):
                    place.write(memoryview(given[decl.name]))
            launch()
            found: dict[str, bytes] = {}
            for decl, place in zip(bound, memories, strict=True):
                target = bytearray(place.nbytes)
                place.read(memoryview(target))
                found[decl.name] = bytes(target)
            results.append((number, _kept(given, bound, found)))
        for place in memories:
            place.free()
        return results

    return run


def _kept(given: Mapping[str, bytes], bound: list[BufferDecl], found: Mapping[str, bytes]) -> Results:
    for decl in bound:
        if not decl.access.writable and found[decl.name] != given[decl.name]:
            raise VyreError(
                f"the backend changed the buffer {decl.name!r}, which is read-only.",
                fix="leave the memory of ReadOnly and Uniform buffers as it is.",
            )
    return {b.name: found[b.name] for b in bound if b.access is BufferAccess.ReadWrite}


_ENTRANCES: Mapping[str, Entrance] = {
    "run": _run,
    "run_limited": _run_limited,
    "bind": _resident(_allocated),
    "bind again": _resident(_allocated, again=True),
    "borrow": _resident(_borrowed),
    "copy": _resident(_copied),
}
