"""Faults of runtimes: the right kernel, on the wrong memory or grid, or with its results treated wrongly."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from lab.mutants.shaped.fault import run_fault
from vyre.ir.buffers import BufferAccess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lab.mutants.backend import Run
    from lab.mutants.shaped.fault import Fault
    from vyre.ir.buffers import BufferDecl
    from vyre.ir.program import Program

    Grid = tuple[int, int, int]
    Buffers = Mapping[str, memoryview]


def faults() -> Iterator[Fault]:
    yield from _results()
    yield from _grids()
    yield from _inputs()


def outputs(program: Program) -> list[BufferDecl]:
    return [b for b in program.buffers if b.access is BufferAccess.ReadWrite]


def _results() -> Iterator[Fault]:
    yield run_fault("last element wrong", partial(_flip, lambda n, stride: slice(n - stride, n - stride + 1)))
    yield run_fault("first element wrong", partial(_flip, lambda n, stride: slice(0, 1)))
    yield run_fault("middle element wrong", partial(_flip, lambda n, stride: slice(n // 2, n // 2 + 1)))
    yield run_fault("last byte kept", partial(_kept, lambda n: n - 1))
    yield run_fault("last 16 bytes kept", partial(_kept, lambda n: max(0, n - 16)))
    yield run_fault("second half kept", partial(_kept, lambda n: n // 2))
    yield run_fault("bytes past 4 KiB kept", partial(_kept, lambda n: 4096), "output elements >= 1025")
    yield run_fault("last output not written back", _last_output)
    yield run_fault("results twice", _twice)
    yield run_fault("nothing runs", lambda run, program, buffers, grid: None)
    yield run_fault("tail of a remainder by 4 words kept", partial(_kept, lambda n: n & ~15))


def _flip(
    place: Callable[[int, int], slice], run: Run, program: Program, buffers: Buffers, grid: Grid
) -> None:
    run(buffers, grid)
    for decl in outputs(program):
        view = buffers[decl.name]
        if view.nbytes:
            memory = np.frombuffer(view, np.uint8)
            memory[place(view.nbytes, decl.element.stride)] ^= 1


def _kept(start: Callable[[int], int], run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    old = {b.name: bytes(buffers[b.name]) for b in outputs(program)}
    run(buffers, grid)
    for name, data in old.items():
        lo = start(len(data))
        if 0 <= lo < len(data):
            buffers[name][lo:] = data[lo:]


def _last_output(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    old = {b.name: bytes(buffers[b.name]) for b in outputs(program)}
    run(buffers, grid)
    changed = [name for name, data in old.items() if bytes(buffers[name]) != data]
    if changed:
        buffers[changed[-1]][:] = old[changed[-1]]


def _twice(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    run(buffers, grid)
    run(buffers, grid)


def _grids() -> Iterator[Fault]:
    cuts: tuple[tuple[str, Callable[[Grid], Grid], str], ...] = (
        ("last workgroup of x missing", lambda g: (g[0] - 1, g[1], g[2]), "grid x >= 2"),
        ("last workgroup of y missing", lambda g: (g[0], g[1] - 1, g[2]), "grid y >= 2"),
        ("last workgroup of z missing", lambda g: (g[0], g[1], g[2] - 1), "grid z >= 2"),
        ("axes x and y exchanged", lambda g: (g[1], g[0], g[2]), "grid >= 2"),
        ("axes y and z exchanged", lambda g: (g[0], g[2], g[1]), "grid >= 2"),
        ("one workgroup only", lambda g: (1, 1, 1), "grid >= 2"),
    )
    for name, change, needs in cuts:

        def around(
            run: Run, program: Program, buffers: Buffers, grid: Grid, change: Callable[[Grid], Grid] = change
        ) -> None:
            made = change(grid)
            if all(made):
                run(buffers, made)

        yield run_fault(name, around, needs)


def _inputs() -> Iterator[Fault]:
    yield run_fault("last element of an input read as 0", _short_inputs)
    yield run_fault("outputs start as zeros", _cleared)
    yield run_fault("two inputs of one size exchanged", _exchanged, "buffers >= 12")


def _short_inputs(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    copies = dict(buffers)
    for b in program.buffers:
        if b.access is BufferAccess.ReadOnly and buffers[b.name].nbytes:
            data = bytearray(buffers[b.name])
            data[-b.element.stride :] = bytes(b.element.stride)
            copies[b.name] = memoryview(data)
    run(copies, grid)


def _cleared(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    for b in outputs(program):
        buffers[b.name][:] = bytes(buffers[b.name].nbytes)
    run(buffers, grid)


def _exchanged(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    copies = dict(buffers)
    inputs = [b.name for b in program.buffers if b.access is BufferAccess.ReadOnly]
    for one, two in combinations(inputs, 2):
        alike = buffers[one].nbytes == buffers[two].nbytes
        if alike and bytes(buffers[one]) != bytes(buffers[two]):
            copies[one], copies[two] = buffers[two], buffers[one]
            break
    run(copies, grid)
