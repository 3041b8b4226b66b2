"""Every way into a backend is taken where it lives, in a process of its own and behind a lock too."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from vyre.backends.cpu.backend import CpuBackend
from vyre.conform.process.entrances import ALONE, ENTRANCES, Asked
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


def memory(*words: int) -> dict[str, bytes]:
    return {"in": np.array(words, np.uint32).tobytes(), "out": bytes(4 * len(words))}


MEMORIES = [memory(*DATA.tolist()), memory(*(DATA * 3).tolist()), memory(*DATA.tolist(), 77)]
FIRST, SECOND, THIRD = (
    (number, {"out": (np.frombuffer(m["in"], np.uint32) + np.uint32(5)).tobytes()})
    for number, m in enumerate(MEMORIES)
)
MADE = FIRST, SECOND, THIRD
RUNS = {
    "once": (0,),
    "again": (0, 1, 0, 2, ALONE, 0),
    "interleaved": (0, 1, 0),
    "threads": (0, 1, 0, 1),
    "after another": (0,),
}


def asked(entrance: str = "run", dispatch: str = "once", order: tuple[int, ...] = (0,)) -> Asked:
    return Asked(PROGRAM, MEMORIES, (3, 1, 1), entrance, dispatch, order)


def test_every_entrance_and_pattern_takes_its_memories_in_another_process() -> None:
    with Isolated("cpu", timeout=120) as apart:
        backend = Locked(apart)
        executable = backend.compile(PROGRAM)
        assert backend.offered(executable) == frozenset(ENTRANCES)
        for entrance in ENTRANCES:
            before = [SECOND] * (entrance != "run") + [SECOND] * (entrance == "bind again")
            assert backend.performed(executable, asked(entrance)) == [*before, FIRST]
        for dispatch, order in RUNS.items():
            found = backend.performed(executable, asked(dispatch=dispatch, order=order))
            assert [one for one in found if one[0] > ALONE] == [MADE[n] for n in order if n != ALONE]
            assert [n for n, _ in found] == [*order], "a run of one workgroup is told too"
        apart.renew()  # what the new process does not have is compiled again
        assert backend.performed(executable, asked("bind")) == [SECOND, FIRST]


def test_a_backend_in_this_process_is_asked_here() -> None:
    backend = CpuBackend(threads=1)
    executable = backend.compile(PROGRAM)
    assert held(backend).offered(executable) == Locked(backend).offered(executable) == frozenset(ENTRANCES)
    found = held(backend).performed(executable, asked("borrow", "threads", (0, 1)))
    assert found == [SECOND, FIRST, SECOND]


def test_a_small_case_launches_one_binding_four_times() -> None:
    backend = CpuBackend(threads=1)
    executable = backend.compile(PROGRAM)
    found = held(backend).performed(executable, asked("bind again", "again", (0, 1, 0, 2)))
    first, second = [SECOND, FIRST] * 2, [FIRST, SECOND] * 2
    assert found == [SECOND, *first, *second, *first, *[THIRD] * 4]


def test_a_backend_that_is_wrong_in_two_threads_is_seen_through_its_process() -> None:
    with Isolated("tests.wrong.memory:WrongTogether", timeout=120) as apart:
        backend = Locked(apart)
        executable = backend.compile(PROGRAM)
        assert backend.offered(executable) == {"run"}
        assert backend.performed(executable, asked(dispatch="again", order=(0, 0, 0))) == [FIRST] * 3
        assert backend.performed(executable, asked(dispatch="threads", order=(0, 0))) != [FIRST] * 2
