"""A backend is asked how it is held, whoever holds it; one that lacks what it promises is told so."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.mutants.backend import Mutated
from vyre.backends.protocol import BackendInfo
from vyre.backends.reference.backend import ReferenceBackend
from vyre.conform.process.held import Held, InProcess, held
from vyre.conform.process.inspection import inspect
from vyre.conform.process.isolate import Isolated
from vyre.conform.process.load import load
from vyre.conform.process.locked import Locked
from vyre.errors import DispatchError
from vyre.ir import BufferDecl, DataType, InvocationId, Program

if TYPE_CHECKING:
    from collections.abc import Mapping

OUT = BufferDecl.read_write("out", 0, DataType.U32)
PROGRAM = Program([OUT], (1, 1, 1), [OUT.store(InvocationId(0), InvocationId(0))])


class NoCompiler:
    """Half a backend."""

    name = "half"


class Elsewhere:
    """Memory that is not the host's."""

    nbytes = 16
    span = ("elsewhere", 0, 16)

    def read(self, target: memoryview) -> None: ...

    def write(self, source: memoryview) -> None: ...

    def copy(self, source: object) -> None: ...

    def free(self) -> None: ...


class Unbound:
    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None: ...


class Forgetful:
    """Holds memory on its device, and cannot run on it."""

    name = "forgetful"

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "none")

    def compile(self, program: Program) -> Unbound:
        return Unbound()

    def allocate(self, nbytes: int) -> Elsewhere:
        return Elsewhere()

    def borrow(self, data: memoryview) -> Elsewhere:
        return Elsewhere()


def test_half_a_backend_is_refused_where_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent), *sys.path])
    with pytest.raises(DispatchError, match="is not a Backend"):
        load(f"{__name__}:NoCompiler")
    with pytest.raises(DispatchError, match="is not a Backend"):
        Isolated(f"{__name__}:NoCompiler")


@pytest.mark.parametrize("locked", [False, True])
def test_memory_that_nothing_runs_on_is_told(locked: bool) -> None:
    backend = Locked(Forgetful()) if locked else Forgetful()
    home = held(backend).residence()
    assert home is not None
    with pytest.raises(DispatchError, match="cannot run on it"):
        home.bind(backend.compile(PROGRAM), [home.allocate(16)], (1, 1, 1))


def test_a_lock_is_held_as_what_is_behind_it() -> None:
    backend = Locked(Forgetful())
    assert isinstance(backend, Held)
    assert held(backend) is backend
    assert (backend.timeout, backend.restarts, backend.changed, backend.overgrown()) == (None, 0, "", False)


def test_a_mutant_is_judged_by_its_own_kernels() -> None:
    """Memory of the right backend behind it would run the right kernels."""
    mutant = Mutated(Forgetful())
    assert isinstance(held(mutant), InProcess)
    assert held(mutant).residence() is None


def test_an_executable_behind_a_lock_shows_its_source() -> None:
    class Shown(Unbound):
        source = "the source"
        lowering = 7  # what is not text is taken for silence

        def assembly(self) -> str:
            return "the code"

    class Showing(ReferenceBackend):
        def compile(self, program: Program) -> Shown:  # pyright: ignore[reportIncompatibleMethodOverride]
            return Shown()

    found = inspect(Locked(Showing()).compile(PROGRAM), assembly=True)
    assert (found.source, found.lowering, found.assembly) == ("the source", "", "the code")
    assert inspect(Locked(Showing()).compile(PROGRAM)).assembly == ""
