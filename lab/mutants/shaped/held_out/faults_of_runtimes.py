"""Faults of drivers and runtimes: grids cut, tails of copies lost, bindings mixed up."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from lab.mutants.shaped.fault import run_fault
from vyre.ir.buffers import BufferAccess
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lab.mutants.backend import Run
    from lab.mutants.shaped.fault import Fault
    from vyre.ir.program import Program

    Grid = tuple[int, int, int]
    Buffers = Mapping[str, memoryview]


def faults() -> Iterator[Fault]:
    yield from _grids()
    yield from _inputs()
    yield from _outputs()


def _names(program: Program, *accesses: BufferAccess) -> list[str]:
    return [b.name for b in program.buffers if b.access in accesses]


def _cut(change: Callable[[Grid], Grid], run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    made = change(grid)
    if all(made):
        run(buffers, made)


def _grids() -> Iterator[Fault]:
    for axis, name in enumerate("xyz"):

        def low(grid: Grid, axis: int = axis) -> Grid:
            x, y, z = (n & 0xFFFF if k == axis else n for k, n in enumerate(grid))
            return x, y, z

        def capped(grid: Grid, axis: int = axis) -> Grid:
            x, y, z = (min(n, 65_535) if k == axis else n for k, n in enumerate(grid))
            return x, y, z

        def even(grid: Grid, axis: int = axis) -> Grid:
            x, y, z = (n & ~1 if k == axis else n for k, n in enumerate(grid))
            return x, y, z

        yield run_fault(f"grid {name} in 16 bits", partial(_cut, low), f"grid {name} >= 65536")
        yield run_fault(f"grid {name} ends at 65,535", partial(_cut, capped), f"grid {name} >= 65536")
        yield run_fault(f"odd workgroup of {name} missing", partial(_cut, even), f"grid {name} odd")
    yield run_fault(
        "grid ends at 1024", partial(_cut, lambda g: (min(g[0], 1024), g[1], g[2])), "grid x >= 1025"
    )
    yield run_fault("layers past the first missing", partial(_cut, lambda g: (g[0], g[1], 1)), "grid z >= 2")
    yield run_fault("rows past the first missing", partial(_cut, lambda g: (g[0], 1, g[2])), "grid y >= 2")


def _changed(
    access: BufferAccess, change: Callable[[bytearray, int], None],
    run: Run, program: Program, buffers: Buffers, grid: Grid,
) -> None:  # fmt: skip
    """Runs on copies of the inputs of one access, changed."""
    copies = dict(buffers)
    for b in program.buffers:
        if b.access is access and buffers[b.name].nbytes:
            data = bytearray(buffers[b.name])
            change(data, b.element.stride)
            copies[b.name] = memoryview(data)
    run(copies, grid)


def _cleared(start: Callable[[int, int], int]) -> Callable[[bytearray, int], None]:
    def change(data: bytearray, stride: int) -> None:
        lo = min(start(len(data), stride), len(data))
        data[lo:] = bytes(len(data) - lo)

    return change


def _inputs() -> Iterator[Fault]:
    reads, uniform = BufferAccess.ReadOnly, BufferAccess.Uniform
    yield run_fault("input past 64 KiB read as 0", partial(_changed, reads, _cleared(lambda n, s: 65_536)))
    yield run_fault("input past 256 bytes read as 0", partial(_changed, reads, _cleared(lambda n, s: 256)))
    yield run_fault(
        "tail of an input past 16 bytes read as 0", partial(_changed, reads, _cleared(lambda n, s: n & ~15))
    )
    yield run_fault(
        "bytes of an input past its last word read as 0",
        partial(_changed, reads, _cleared(lambda n, s: n & ~3)),
    )
    yield run_fault("first element of an input read as 0", partial(_changed, reads, _first_zero))
    yield run_fault(
        "uniform read as 0", partial(_changed, uniform, _cleared(lambda n, s: 0)), "access = Uniform"
    )
    yield run_fault(
        "uniform past 16 bytes read as 0", partial(_changed, uniform, _cleared(lambda n, s: 16)),
        "access = Uniform", "uniform bytes >= 20",
    )  # fmt: skip
    yield run_fault(
        "last element of a uniform read as 0", partial(_changed, uniform, _cleared(lambda n, s: n - s)),
        "access = Uniform",
    )  # fmt: skip
    yield run_fault("last input is the one before", _repeated, "buffers >= 3")


def _first_zero(data: bytearray, stride: int) -> None:
    data[:stride] = bytes(stride)


def _repeated(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    copies = dict(buffers)
    inputs = _names(program, BufferAccess.ReadOnly)
    if len(inputs) >= 2 and buffers[inputs[-1]].nbytes == buffers[inputs[-2]].nbytes:
        copies[inputs[-1]] = buffers[inputs[-2]]
    run(copies, grid)


def _kept(
    places: Callable[[int, int], slice], run: Run, program: Program, buffers: Buffers, grid: Grid
) -> None:
    """Some bytes of every output stay what they were."""
    decls = [b for b in program.buffers if b.access is BufferAccess.ReadWrite]
    old = {b.name: bytes(buffers[b.name]) for b in decls}
    run(buffers, grid)
    for b in decls:
        where = places(len(old[b.name]), b.element.stride)
        memory = np.frombuffer(buffers[b.name], np.uint8)
        memory[where] = np.frombuffer(old[b.name], np.uint8)[where]


def _outputs() -> Iterator[Fault]:
    yield run_fault("last element kept", partial(_kept, lambda n, s: slice(max(0, n - s), None)))
    yield run_fault("first element kept", partial(_kept, lambda n, s: slice(0, s)))
    yield run_fault("bytes past the last word kept", partial(_kept, lambda n, s: slice(n & ~3, None)))
    yield run_fault("tail past 256 bytes kept", partial(_kept, lambda n, s: slice(n & ~255, None)))
    yield run_fault(
        "bytes past 64 KiB kept", partial(_kept, lambda n, s: slice(65_536, None)), "output elements >= 4097"
    )
    yield run_fault(
        "bytes past 1 MiB kept", partial(_kept, lambda n, s: slice(1 << 20, None)), "output elements >= 65537"
    )
    yield run_fault(
        "middle element kept", partial(_kept, lambda n, s: slice(n // s // 2 * s, n // s // 2 * s + s))
    )
    yield run_fault("everything kept", partial(_kept, lambda n, s: slice(0, None)))
    yield run_fault("first output gets the second", _mixed, "buffers >= 2")
    yield run_fault("tiny floats flushed on the way back", _tiny, "element type = F32")
    yield run_fault("outputs filled with ones before", _filled)


def _mixed(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    run(buffers, grid)
    found = _names(program, BufferAccess.ReadWrite)
    if len(found) >= 2 and buffers[found[0]].nbytes == buffers[found[1]].nbytes:
        buffers[found[0]][:] = bytes(buffers[found[1]])


def _tiny(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    run(buffers, grid)
    for b in program.buffers:
        if b.access is BufferAccess.ReadWrite and b.element is DataType.F32:
            words = np.frombuffer(buffers[b.name], np.uint32)
            words[(words & 0x7F80_0000) == 0] &= 0x8000_0000


def _filled(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    for name in _names(program, BufferAccess.ReadWrite):
        buffers[name][:] = b"\xff" * buffers[name].nbytes
    run(buffers, grid)
