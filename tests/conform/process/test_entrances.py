"""Every way into a backend is taken where it lives, in a process of its own and behind a lock too."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from vyre.backends.cpu.backend import CpuBackend
from vyre.conform.process.entrances import ENTRANCES, Asked
from vyre.conform.process.held import held
from vyre.conform.process.isolate import Isolated
from vyre.conform.process.locked import Locked
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import InvocationId, Var
from vyre.ir.node import Let, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType

READ = BufferDecl.read("in", 0, DataType.U32)
OUT = BufferDecl.read_write("out", 1, DataType.U32)
PROGRAM = Program(
    (READ, OUT), (4, 1, 1), (Let("i", InvocationId(0)), Store("out", Var("i"), READ[Var("i")] + 5))
)
DATA = np.arange(8, dtype=np.uint32)
INPUTS = {"in": DATA.tobytes(), "out": bytes(32)}
WANTED = {"out": (DATA + np.uint32(5)).tobytes()}
RUNS = {"once": 1, "again": 3, "interleaved": 2, "threads": 2, "after another": 1}


def asked(entrance: str = "run", dispatch: str = "once") -> Asked:
    return Asked(PROGRAM, INPUTS, (2, 1, 1), entrance, dispatch)


def test_every_entrance_and_pattern_gives_the_same_bytes_from_another_process() -> None:
    with Isolated("cpu", timeout=120) as apart:
        backend = Locked(apart)
        executable = backend.compile(PROGRAM)
        assert backend.offered(executable) == frozenset(ENTRANCES)
        for entrance in ENTRANCES:
            assert backend.performed(executable, asked(entrance)) == [WANTED] * (1 + (entrance != "run"))
        for dispatch, runs in RUNS.items():
            assert backend.performed(executable, asked(dispatch=dispatch)) == [WANTED] * runs
        apart.renew()  # what the new process does not have is compiled again
        assert backend.performed(executable, asked("bind")) == [WANTED] * 2


def test_a_backend_in_this_process_is_asked_here() -> None:
    backend = CpuBackend(threads=1)
    executable = backend.compile(PROGRAM)
    assert held(backend).offered(executable) == Locked(backend).offered(executable) == frozenset(ENTRANCES)
    assert held(backend).performed(executable, asked("borrow", "threads")) == [WANTED] * 3


def test_a_backend_that_is_wrong_in_two_threads_is_seen_through_its_process() -> None:
    with Isolated("tests.wrong.memory:WrongTogether", timeout=120) as apart:
        backend = Locked(apart)
        executable = backend.compile(PROGRAM)
        assert backend.offered(executable) == {"run"}
        assert backend.performed(executable, asked(dispatch="again")) == [WANTED] * 3
        assert backend.performed(executable, asked(dispatch="threads")) != [WANTED] * 2
