"""The team of threads and the chunks they take: every workgroup once, errors and interrupts in order."""

from __future__ import annotations

import ctypes
import gc
import threading
import weakref
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.backends.cpu.cpu_programs import U32
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.cpu.chunks import Chunks
from vyre.backends.cpu.loading import _KERNEL
from vyre.backends.cpu.threads import ThreadTeam
from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
    BufferDecl,
    Let,
    LitU32,
    Loop,
    Program,
    Var,
    WorkgroupId,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def nothing(_escape: object = None) -> None:
    pass


def recorded() -> tuple[list[tuple[int, int]], Callable[..., None], int]:
    """A kernel in Python that writes down its chunks, with the address at which it is called."""
    seen: list[tuple[int, int]] = []

    def kernel(_buffers: int, _hidden: int, first: int, last: int, _scratch: int) -> None:
        seen.append((first, last))

    called = _KERNEL(kernel)
    return seen, called, ctypes.cast(called, ctypes.c_void_p).value or 0


@pytest.mark.parametrize("count", [1, 2, 7, 100, 1001, 65536])
def test_a_team_covers_a_grid_exactly_once(count: int) -> None:
    seen, alive, entry = recorded()
    chunks, team = Chunks(count, 3), ThreadTeam(3)
    team.run(lambda _: chunks.run(entry, None, None, 0), helpers=2, long=False, stop=chunks.stop)
    covered = [k for first, last in seen for k in range(first, last)]
    assert sorted(covered) == list(range(count))
    assert len(seen) <= 3 * 32
    del alive


def test_no_chunk_is_begun_after_a_stop() -> None:
    seen, alive, entry = recorded()
    chunks = Chunks(1000, 2)
    chunks.stop()
    chunks.run(entry, None, None, 0)
    assert not seen
    del alive


def test_every_workgroup_runs_once_on_every_number_of_threads() -> None:
    out = BufferDecl.read_write("out", 0, U32)
    program = Program([out], (64,), [Let("old", Atomic(AtomicOp.Add, "out", WorkgroupId(0), LitU32(1)))])
    for threads in (1, 2, 5):
        on, counts = CpuBackend(threads=threads, canaries=False), np.zeros(9001, np.uint32)
        for turn in range(1, 4):
            on.compile(program).run({"out": counts.view(np.uint8).data}, (9001, 1, 1))
            assert (counts == 64 * turn).all()


def test_a_helper_that_cannot_begin_answers_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OSError("no memory for the place to come back to")

    monkeypatch.setattr("vyre.backends.cpu.helper.Escape", refuse)
    team = ThreadTeam(2)
    for _ in range(2):
        with pytest.raises(OSError, match="place to come back to"):
            team.run(nothing, helpers=1, long=False, stop=nothing)


def test_helpers_work_beside_the_caller() -> None:
    met = threading.Barrier(3, timeout=60)
    names: set[str] = set()

    def work(_escape: object) -> None:
        met.wait()
        names.add(threading.current_thread().name)

    team = ThreadTeam(3)
    team.run(work, helpers=9, long=False, stop=nothing)
    assert len(names) == 2, "the caller and helpers of one name"
    assert len(team._idle) == 2


def test_a_run_inside_a_run_works_alone() -> None:
    team = ThreadTeam(2)
    met = threading.Barrier(2, timeout=60)
    inner: list[str] = []

    def note(_escape: object) -> None:
        inner.append(threading.current_thread().name)

    def work(_escape: object) -> None:
        met.wait()
        if threading.current_thread() is threading.main_thread():
            team.run(note, helpers=1, long=False, stop=nothing)
        met.wait()

    team.run(work, helpers=1, long=False, stop=nothing)
    assert inner == [threading.main_thread().name]


def test_an_error_in_a_helper_reaches_the_caller() -> None:
    team = ThreadTeam(2)

    def work(_escape: object) -> None:
        if threading.current_thread() is not threading.main_thread():
            raise MemoryError("no scratch")

    for _ in range(2):
        with pytest.raises(MemoryError, match="no scratch"):
            team.run(work, helpers=1, long=False, stop=nothing)
    team.run(nothing, helpers=1, long=False, stop=nothing)


def test_an_interrupt_stops_the_helpers_before_it_is_raised() -> None:
    team = ThreadTeam(2)
    running, stopped, left = threading.Event(), threading.Event(), threading.Event()

    def work(_escape: object) -> None:
        if threading.current_thread() is threading.main_thread():
            running.wait(60)
            raise KeyboardInterrupt
        running.set()
        stopped.wait(60)
        left.set()

    with pytest.raises(KeyboardInterrupt):
        team.run(work, helpers=1, long=False, stop=stopped.set)
    assert left.is_set(), "nobody works on the memory of a run that has ended"
    seen: list[int] = []
    team.run(lambda _: seen.append(1), helpers=1, long=False, stop=nothing)
    assert seen == [1, 1], "the team goes on"


def test_a_helper_keeps_nothing_of_a_run() -> None:
    team, array = ThreadTeam(2), np.zeros(1000)
    gone = weakref.ref(array)
    team.run(lambda _, held=array: held.sum(), helpers=1, long=False, stop=nothing)
    del array
    gc.collect()
    assert gone() is None


def test_threads_end_with_their_team() -> None:
    team = ThreadTeam(3)
    team.run(nothing, helpers=2, long=False, stop=nothing)
    threads = [helper.thread for helper in team._idle]
    assert [t.is_alive() for t in threads] == [True, True]
    del team
    gc.collect()
    for thread in threads:
        thread.join(60)
    assert not any(t.is_alive() for t in threads)


def test_small_grids_wake_nobody() -> None:
    out = BufferDecl.read_write("out", 0, U32)
    on = CpuBackend(threads=4, canaries=False)
    executable = on.compile(Program([out], (64,), [out.store(WorkgroupId(0), LitU32(1))]))
    executable.run({"out": memoryview(bytearray(64))}, (16, 1, 1))
    assert not on._team._idle
    executable.run({"out": memoryview(bytearray(64))}, (4000, 1, 1))
    assert on._team._idle


def test_few_invocations_that_walk_through_much_share_the_threads() -> None:
    """Nobody knows how often a loop turns; the longest buffer says what there is to walk through."""
    out, ends = BufferDecl.read_write("out", 0, U32), BufferDecl.read("ends", 1, U32)
    put = Assign("sum", Var("sum") + out[Var("i")])
    walk = Loop("i", ends[WorkgroupId(0)], ends[WorkgroupId(0) + LitU32(1)], [put])
    begun, done = Let("sum", LitU32(0)), out.store(WorkgroupId(0), Var("sum"))
    on = CpuBackend(threads=4, canaries=False)
    executable = on.compile(Program([out, ends], (1,), [begun, walk, done]))
    for count, at_work in ((1000, 1), (1 << 20, 3)):  # the main thread waits, since no bound is known
        values, places = np.ones(count, np.uint32), np.array([3, count // 2, count // 2, count], np.uint32)
        executable.run({"out": values.view(np.uint8).data, "ends": places.view(np.uint8).data}, (3, 1, 1))
        assert list(values[:3]) == [count // 2 - 3, 0, count // 2]
        assert len(on._team._idle) == at_work


def test_a_thread_comes_back_after_so_many_workgroups() -> None:
    """How the main thread sees an interrupt although it takes part in a long run."""
    seen, alive, entry = recorded()
    chunks = Chunks(10_000, 1, 80)
    chunks.run(entry, None, None, 0)
    assert {last - first for first, last in seen} == {10}
    assert sum(last - first for first, last in seen) == 10_000
    assert Chunks(10_000, 1, 3).size == 1
    del alive
