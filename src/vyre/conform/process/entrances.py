"""The ways into a backend and the patterns of dispatches, by protocol alone, where the backend lives.

    offered(backend, executable)                 the entrances that there are
    performed(backend, executable, asked)        what each run of the asked dispatches left

Each result holds every ReadWrite buffer after one run. What is only read must be as it was. A backend in a
process of its own is asked there (`held(backend).performed`): its memory, its loans and its threads are real.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
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
    from collections.abc import Callable, Iterator, Mapping

    from vyre.backends.protocol import Backend, DeviceMemory, Executable

    Results = Mapping[str, bytes]

ENTRANCES = ("run", "run_limited", "bind", "bind again", "borrow", "copy")
_OTHER_SIZE = 257


@dataclass(frozen=True, slots=True)
class Asked:
    """A program with the bytes of its buffers and its grid, the way in, and the pattern of its dispatches."""

    program: Program
    inputs: Mapping[str, bytes]
    workgroups: tuple[int, int, int]
    entrance: str
    dispatch: str


def offered(backend: Backend, executable: Executable) -> frozenset[str]:
    """The entrances that this backend has for this program."""
    found = {"run"}
    if isinstance(executable, LimitedExecutable):
        found.add("run_limited")
    if isinstance(backend, ResidentBackend) and isinstance(executable, ResidentExecutable):
        found |= set(ENTRANCES) - {"run", "run_limited"}
    return frozenset(found)


def performed(backend: Backend, executable: Executable, asked: Asked) -> list[Results]:
    """The results of every run, by its entrance and in its pattern, and of `run` besides."""
    return list(_performed(backend, executable, asked))


def _performed(backend: Backend, executable: Executable, asked: Asked) -> Iterator[Results]:
    if asked.entrance != "run":
        yield _run(backend, executable, asked)

    def once() -> Results:
        return _ENTRANCES[asked.entrance](backend, executable, asked)

    match asked.dispatch:
        case "again":
            yield from (once() for _ in range(3))
        case "interleaved":
            other = _other(backend)
            for _ in range(2):
                yield once()
                other()
        case "threads":
            with ThreadPoolExecutor(2) as pool:
                yield from [f.result() for f in [pool.submit(once) for _ in range(2)]]
        case "after another":
            _other(backend)()
            yield once()
        case _:
            yield once()


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


def _run(backend: Backend, executable: Executable, asked: Asked) -> Results:
    return run_bytes(executable, asked.program, asked.inputs, asked.workgroups)


class _Counted:
    """An executable that is run with a limit on its turns which it does not reach."""

    def __init__(self, executable: LimitedExecutable) -> None:
        self._executable = executable

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        self._executable.run_limited(buffers, workgroups, U32_MAX)


def _run_limited(backend: Backend, executable: Executable, asked: Asked) -> Results:
    assert isinstance(executable, LimitedExecutable)
    return run_bytes(_Counted(executable), asked.program, asked.inputs, asked.workgroups)


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


def _resident(
    make: Callable[[ResidentBackend, bytes], DeviceMemory], launches: int
) -> Callable[[Backend, Executable, Asked], Results]:
    def run(backend: Backend, executable: Executable, asked: Asked) -> Results:
        assert isinstance(backend, ResidentBackend)
        assert isinstance(executable, ResidentExecutable)
        bound = [b for b in asked.program.buffers if b.access.bound]
        memories = [make(backend, asked.inputs[b.name]) for b in bound]
        launch = executable.bind(memories, asked.workgroups)
        for turn in range(launches):
            if turn:
                for decl, memory in zip(bound, memories, strict=True):
                    memory.write(memoryview(asked.inputs[decl.name]))
            launch()
        found: dict[str, bytes] = {}
        for decl, memory in zip(bound, memories, strict=True):
            target = bytearray(memory.nbytes)
            memory.read(memoryview(target))
            found[decl.name] = bytes(target)
        for memory in memories:
            memory.free()
        return _kept(asked, bound, found)

    return run


def _kept(asked: Asked, bound: list[BufferDecl], found: Mapping[str, bytes]) -> Results:
    for decl in bound:
        if not decl.access.writable and found[decl.name] != asked.inputs[decl.name]:
            raise VyreError(
                f"the backend changed the buffer {decl.name!r}, which is read-only.",
                fix="leave the memory of ReadOnly and Uniform buffers as it is.",
            )
    return {b.name: found[b.name] for b in bound if b.access is BufferAccess.ReadWrite}


_ENTRANCES: Mapping[str, Callable[[Backend, Executable, Asked], Results]] = {
    "run": _run,
    "run_limited": _run_limited,
    "bind": _resident(_allocated, 1),
    "bind again": _resident(_allocated, 2),
    "borrow": _resident(_borrowed, 1),
    "copy": _resident(_copied, 1),
}
