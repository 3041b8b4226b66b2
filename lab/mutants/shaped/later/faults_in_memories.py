"""Faults of drivers that keep, exchange or share memory between runs and between buffers."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from lab.mutants.shaped.fault import run_fault
from vyre.ir.buffers import BufferAccess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lab.mutants.backend import Around, Run
    from lab.mutants.shaped.fault import Fault
    from vyre.ir.program import Program

    Grid = tuple[int, int, int]
    Buffers = Mapping[str, memoryview]
    Bytes = np.ndarray[tuple[int], np.dtype[np.uint8]]
    Chosen = Callable[[Program], list[str]]

T = TypeVar("T")
_READS, _WRITES, _UNIFORM = BufferAccess.ReadOnly, BufferAccess.ReadWrite, BufferAccess.Uniform
_KEPT = 16
"""Programs of which something is kept."""


def faults() -> Iterator[Fault]:
    yield from _histories()
    yield from _exchanges()


def _names(access: BufferAccess, program: Program) -> list[str]:
    return [b.name for b in program.buffers if b.access is access]


class _Kept(Generic[T]):
    """Something of the last programs, one thing of each."""

    def __init__(self) -> None:
        self.found: dict[Program, T] = {}

    def put(self, program: Program, new: T) -> T | None:
        """What was kept before."""
        old = self.found.pop(program, None)
        self.found[program] = new
        while len(self.found) > _KEPT:
            del self.found[next(iter(self.found))]
        return old


def _histories() -> Iterator[Fault]:
    again = "run >= 2"

    def some(access: BufferAccess, places: slice) -> Chosen:
        return lambda program: _names(access, program)[places]

    def always(old: bytes, new: bytes) -> bool:
        return True

    def alike(old: bytes, new: bytes) -> bool:
        return old[:4] == new[:4]

    first, last = slice(0, 1), slice(-1, None)
    yield run_fault("grid of the run before", _grid(), again, "grid >= 2")
    yield run_fault("length of the run before", _length(), again)
    yield run_fault("first input of the run before", _stale(some(_READS, first), always), again)
    yield run_fault("last input of the run before", _stale(some(_READS, last), always), again)
    yield run_fault(
        "inputs of the run before where their first words are equal",
        _stale(some(_READS, slice(None)), alike),
        again,
    )
    yield run_fault(
        "inputs of the first run for ever", _stale(some(_READS, slice(None)), always, ever=True), again
    )
    yield run_fault(
        "uniforms of the first run for ever",
        _stale(some(_UNIFORM, slice(None)), always, ever=True),
        again,
        "access = Uniform",
    )
    yield run_fault("last output of the run before", _left(some(_WRITES, last)), again)
    yield run_fault("results of the other of two threads", _of_the_other(), "threads >= 2")


def _grid() -> Around:
    kept = _Kept[tuple[int, int, int]]()

    def around(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
        run(buffers, kept.put(program, grid) or grid)

    return around


def _length() -> Around:
    kept = _Kept[dict[str, int]]()

    def around(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
        names = _names(_READS, program)
        old = kept.put(program, {name: buffers[name].nbytes for name in names}) or {}
        cut = {name: buffers[name][: old.get(name, buffers[name].nbytes)] for name in names}
        run({**buffers, **cut}, grid)

    return around


def _stale(chosen: Chosen, alike: Callable[[bytes, bytes], bool], *, ever: bool = False) -> Around:
    """The chosen buffers hold what they held in the run before, or in the first run `ever`."""
    kept = _Kept[dict[str, bytes]]()

    def around(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
        now = {name: bytes(buffers[name]) for name in chosen(program)}
        old = kept.put(program, now) or {}
        if ever and old:
            kept.put(program, old)
        same = {n: d for n, d in old.items() if n in now and len(d) == len(now[n]) and alike(d, now[n])}
        run({**buffers, **{name: memoryview(bytearray(data)) for name, data in same.items()}}, grid)

    return around


def _left(chosen: Chosen) -> Around:
    kept = _Kept[dict[str, bytes]]()

    def around(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
        run(buffers, grid)
        now = {name: bytes(buffers[name]) for name in chosen(program)}
        for name, data in (kept.put(program, now) or {}).items():
            if len(data) == buffers[name].nbytes:
                buffers[name][:] = data

    return around


def _of_the_other() -> Around:
    kept = _Kept[tuple[int, dict[str, bytes]]]()
    lock = threading.Lock()

    def around(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
        run(buffers, grid)
        now = {name: bytes(buffers[name]) for name in _names(_WRITES, program)}
        with lock:
            old = kept.put(program, (threading.get_ident(), now))
        if old is not None and old[0] != threading.get_ident():
            for name, data in old[1].items():
                if len(data) == buffers[name].nbytes:
                    buffers[name][:] = data

    return around


def _exchanges() -> Iterator[Fault]:
    yield run_fault("inputs of equal size rotated", partial(_rotated, _READS), "buffers >= 3")
    yield run_fault("outputs of equal size rotated", partial(_rotated, _WRITES), "buffers >= 3")
    yield run_fault("last input read behind the one before", _behind, "buffers >= 3")
    yield run_fault("outputs of equal size share memory", _shared, "buffers >= 3")
    yield run_fault(
        "an output past its middle is moved a word", partial(_after, _moved), "output elements >= 4"
    )
    yield run_fault("odd words of an input exchanged with even ones", _crossed, "buffer elements >= 2")
    yield run_fault("lengths of inputs exchanged", _lengths, "buffers >= 3")


def _sizes(names: list[str], buffers: Buffers) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for name in names:
        found.setdefault(buffers[name].nbytes, []).append(name)
    return found


def _rotated(access: BufferAccess, run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    changed = dict(buffers)
    for group in _sizes(_names(access, program), buffers).values():
        changed |= {name: buffers[other] for name, other in zip(group, group[1:] + group[:1], strict=True)}
    run(changed, grid)


def _behind(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    """The last input begins a word later than it does."""
    names = _names(_READS, program)[-1:]
    moved = {name: memoryview(bytearray(bytes(buffers[name][4:]) + bytes(4))) for name in names}
    run({**buffers, **{n: m[: buffers[n].nbytes] for n, m in moved.items()}}, grid)


def _shared(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    run(buffers, grid)
    for group in _sizes(_names(_WRITES, program), buffers).values():
        for name in group[1:]:
            buffers[group[0]][:] = bytes(buffers[name])


def _after(change: Callable[[Bytes], None], run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    run(buffers, grid)
    for name in _names(_WRITES, program):
        change(np.frombuffer(buffers[name], np.uint8))


def _moved(data: Bytes) -> None:
    half = len(data) // 2
    data[half:] = np.roll(data[half:], 4)


def _crossed(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    changed = dict(buffers)
    for name in _names(_READS, program):
        data = np.frombuffer(bytes(buffers[name]), np.uint8).copy()
        whole = data[: len(data) & ~7]
        whole[:] = whole.reshape(-1, 2, 4)[:, ::-1].reshape(-1)
        changed[name] = data.data
    run(changed, grid)


def _lengths(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    """The second input has the length of the first, as far as it goes."""
    names = _names(_READS, program)
    changed = dict(buffers)
    if len(names) > 1:
        changed[names[1]] = buffers[names[1]][: buffers[names[0]].nbytes]
    run(changed, grid)
