"""Faults of drivers: grids cut, pages and bindings lost, memory of another run, inputs written to."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from lab.mutants.shaped.fault import run_fault
from vyre.ir.buffers import BufferAccess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lab.mutants.backend import Around, Run
    from lab.mutants.shaped.fault import Fault
    from vyre.ir.buffers import BufferDecl
    from vyre.ir.program import Program

    Grid = tuple[int, int, int]
    Buffers = Mapping[str, memoryview]
    Places = Callable[[int, int], slice]

INPUTS = (BufferAccess.ReadOnly, BufferAccess.Uniform)


def faults() -> Iterator[Fault]:
    yield from _grids()
    yield from _outputs()
    yield from _inputs()
    yield from _bindings()
    yield from _memories()


def _decls(program: Program, *accesses: BufferAccess) -> list[BufferDecl]:
    return [b for b in program.buffers if b.access in accesses]


def _written(program: Program) -> list[BufferDecl]:
    return _decls(program, BufferAccess.ReadWrite)


def _cut(change: Callable[[Grid], Grid], run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    made = change(grid)
    if all(made):
        run(buffers, made)


def _grids() -> Iterator[Fault]:
    cuts: tuple[tuple[str, Callable[[Grid], Grid], str], ...] = (
        ("grid x rounded down to 4", lambda g: (g[0] & ~3, g[1], g[2]), "grid x >= 1"),
        ("grid x in 8 bits", lambda g: (g[0] & 255, g[1], g[2]), "grid x >= 256"),
        ("grid y in 8 bits", lambda g: (g[0], g[1] & 255, g[2]), "grid y >= 256"),
        ("grid z in 6 bits", lambda g: (g[0], g[1], g[2] & 63), "grid z >= 64"),
        ("grid y ends at 32", lambda g: (g[0], min(g[1], 32), g[2]), "grid y >= 33"),
        ("grid z ends at 4", lambda g: (g[0], g[1], min(g[2], 4)), "grid z >= 5"),
        ("grid x halved", lambda g: ((g[0] + 1) // 2, g[1], g[2]), "grid x >= 2"),
        ("grid x ends at 32,767", lambda g: (min(g[0], 32_767), g[1], g[2]), "grid x >= 32768"),
        ("grid axes x and z exchanged", lambda g: (g[2], g[1], g[0]), "grid >= 2"),
        ("grid all along x", lambda g: (g[0] * g[1] * g[2], 1, 1), "grid y >= 2"),
    )
    for name, change, need in cuts:
        yield run_fault(name, partial(_cut, change), need)


def _kept(places: Places, run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    """Some bytes of every output stay what they were."""
    old = {b.name: bytes(buffers[b.name]) for b in _written(program)}
    run(buffers, grid)
    for b in _written(program):
        where = places(len(old[b.name]), b.element.stride)
        np.frombuffer(buffers[b.name], np.uint8)[where] = np.frombuffer(old[b.name], np.uint8)[where]


def _after(
    change: Callable[[np.ndarray[tuple[int], np.dtype[np.uint8]], int], None],
    run: Run, program: Program, buffers: Buffers, grid: Grid,
) -> None:  # fmt: skip
    """Every output is changed when the run is over, by its bytes and the size of an element."""
    run(buffers, grid)
    for b in _written(program):
        change(np.frombuffer(buffers[b.name], np.uint8), b.element.stride)


def _outputs() -> Iterator[Fault]:
    kept: tuple[tuple[str, Places, tuple[str, ...]], ...] = (
        ("second page of an output kept", lambda n, s: slice(4096, 8192), ("output elements >= 4097",)),
        ("last 64 bytes of an output kept", lambda n, s: slice(max(0, n - 64), None), ()),
        ("tail past 128 bytes of an output kept", lambda n, s: slice(n & ~127, None), ()),
        ("element 32 of an output kept", lambda n, s: slice(32 * s, 33 * s), ("output elements >= 33",)),
        ("elements of an output past 1,000 kept", lambda n, s: slice(1000 * s, None),
         ("output elements >= 1001",)),
        ("every 16th element of an output kept", lambda n, s: slice(15 * s, None, 16 * s),
         ("output elements >= 16",)),
        ("output of one element kept", lambda n, s: slice(0, n if n == s else 0), ("output elements = 1",)),
        ("bytes of an output past 32 KiB kept", lambda n, s: slice(32_768, None),
         ("output elements >= 32769",)),
        ("first 16 bytes of an output kept", lambda n, s: slice(0, 16), ()),
    )  # fmt: skip
    for name, places, needs in kept:
        yield run_fault(name, partial(_kept, places), *needs)
    yield run_fault("output an element on", partial(_after, _rolled), "output elements >= 2")
    yield run_fault("output past 64 KiB is its start", partial(_after, _mirrored), "output elements >= 65537")
    yield run_fault("last two elements exchanged", partial(_after, _exchanged), "output elements >= 2")
    yield run_fault("outputs of one size exchanged", _swapped, "buffers >= 3")


def _rolled(data: np.ndarray[tuple[int], np.dtype[np.uint8]], stride: int) -> None:
    data[:] = np.roll(data, stride)


def _mirrored(data: np.ndarray[tuple[int], np.dtype[np.uint8]], stride: int) -> None:
    if len(data) > 65_536:
        data[65_536:] = np.resize(data[:65_536], len(data) - 65_536)


def _exchanged(data: np.ndarray[tuple[int], np.dtype[np.uint8]], stride: int) -> None:
    if len(data) >= 2 * stride:
        data[-2 * stride :] = np.roll(data[-2 * stride :], stride)


def _swapped(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    run(buffers, grid)
    found = [buffers[b.name] for b in _written(program)]
    for at, one in enumerate(found):
        for two in found[at + 1 :]:
            old = bytes(one)
            if one.nbytes == two.nbytes and old != bytes(two):
                one[:], two[:] = bytes(two), old
                return


def _changed(
    access: BufferAccess, change: Callable[[bytearray, int], None],
    run: Run, program: Program, buffers: Buffers, grid: Grid,
) -> None:  # fmt: skip
    copies = dict(buffers)
    for b in _decls(program, access):
        data = bytearray(buffers[b.name])
        change(data, b.element.stride)
        copies[b.name] = memoryview(data)
    run(copies, grid)


def _zeros(places: Places) -> Callable[[bytearray, int], None]:
    def change(data: bytearray, stride: int) -> None:
        where = range(len(data))[places(len(data), stride)]
        data[where.start : where.stop] = bytes(len(where))

    return change


def _inputs() -> Iterator[Fault]:
    reads, uniform = BufferAccess.ReadOnly, BufferAccess.Uniform

    def zeros(access: BufferAccess, places: Places) -> Around:
        return partial(_changed, access, _zeros(places))

    yield run_fault("input past 4 KiB read as 0", zeros(reads, lambda n, s: slice(4096, None)))
    yield run_fault(
        "last 32 bytes of an input read as 0", zeros(reads, lambda n, s: slice(max(0, n - 32), n))
    )
    yield run_fault("second half of an input read as 0", zeros(reads, lambda n, s: slice(n // 2, n)))
    yield run_fault(
        "uniform past 64 bytes read as 0",
        zeros(uniform, lambda n, s: slice(64, None)),
        "uniform bytes >= 68",
    )
    yield run_fault(
        "uniform past 1 KiB read as 0",
        zeros(uniform, lambda n, s: slice(1024, None)),
        "uniform bytes >= 1028",
    )
    yield run_fault("last element of an input written to", _scribbled)


def _scribbled(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    run(buffers, grid)
    for b in _decls(program, *INPUTS):
        view = buffers[b.name]
        if view.nbytes and not view.readonly:
            view[view.nbytes - 1] ^= 1


def _bindings() -> Iterator[Fault]:
    for number in (3, 5, 8, 16):
        yield run_fault(f"buffer {number} not bound", partial(_unbound, number), f"buffers >= {number}")
    yield run_fault("first input bound to the last", _last_for_first, "buffers >= 3")


def _unbound(number: int, run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    """One buffer by its number, from 1 on, is an empty page: zeros are read, and what is written is lost."""
    name = [b.name for b in program.buffers if b.access.bound][number - 1 : number]
    run({**buffers, **{n: memoryview(bytearray(buffers[n].nbytes)) for n in name}}, grid)


def _last_for_first(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    names = [b.name for b in _decls(program, BufferAccess.ReadOnly)]
    copies = dict(buffers)
    for other in reversed(names[1:]):
        if buffers[other].nbytes == buffers[names[0]].nbytes:
            copies[names[0]] = buffers[other]
            break
    run(copies, grid)


class _Memory:
    """What the runs of the last programs left behind, as a cache that asks for the program alone does."""

    def __init__(self) -> None:
        self.found: OrderedDict[Program, dict[str, bytes]] = OrderedDict()

    def exchange(self, program: Program, new: dict[str, bytes]) -> dict[str, bytes]:
        """What was kept of this program before; none where sizes differ."""
        old = self.found.pop(program, {})
        self.found[program] = new
        while len(self.found) > 16:
            self.found.popitem(last=False)
        same = {name: len(data) for name, data in old.items()} == {n: len(d) for n, d in new.items()}
        return old if same else {}


def _memories() -> Iterator[Fault]:
    again = "run >= 2"
    yield run_fault("inputs of the run before", _stale(BufferAccess.ReadOnly), again)
    yield run_fault("uniforms of the run before", _stale(BufferAccess.Uniform), again, "access = Uniform")
    yield run_fault("outputs start as the run before left them", _left(), again)
    yield run_fault("results of the run before", _results(), again)


def _stale(access: BufferAccess) -> Around:
    memory = _Memory()

    def around(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
        now = {b.name: bytes(buffers[b.name]) for b in _decls(program, access)}
        old = memory.exchange(program, now)
        run({**buffers, **{n: memoryview(bytearray(d)) for n, d in old.items()}}, grid)

    return around


def _left() -> Around:
    memory = _Memory()

    def around(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
        names = [b.name for b in _written(program)]
        for name, data in memory.exchange(program, {n: bytes(buffers[n]) for n in names}).items():
            buffers[name][:] = data
        run(buffers, grid)
        memory.exchange(program, {n: bytes(buffers[n]) for n in names})

    return around


def _results() -> Around:
    memory = _Memory()

    def around(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
        run(buffers, grid)
        now = {b.name: bytes(buffers[b.name]) for b in _written(program)}
        for name, data in memory.exchange(program, now).items():
            buffers[name][:] = data

    return around
