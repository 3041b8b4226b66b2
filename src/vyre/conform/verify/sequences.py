"""Steps of dispatches with what each must leave behind; the steps of one sequence share a backend.

Expected bytes are worked out here with NumPy, from what the program says, by other means than any backend.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.verify.stage import random_u32
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Expr, InvocationId, LitU32, LocalId, Var, WorkgroupId
from vyre.ir.node import Assign, Barrier, If, Let, Loop, Node, Return, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from vyre.backends.protocol import BackendLimits

    Words = NDArray[np.uint32]

U32 = DataType.U32
SIZE = 64
POISON = b"\xa5"
RUNS = 300
PROGRAMS = 24
WIDE = 65_536 + 3
"""Workgroups along one axis, where a device lets it be so many."""
LARGE = (1 << 24) + 67
"""Elements of the largest buffer: more than a float can count, 64 MiB."""
SHAPES = (
    ((4, 2, 8), (3, 5, 2)),
    ((1, 8, 8), (2, 1, 7)),
    ((3, 5, 2), (1, 4, 3)),
    ((8, 8, 1), (5, 3, 1)),
    ((1, 1, 64), (2, 2, 2)),
)


@dataclass(frozen=True, slots=True)
class Step:
    """One dispatch: a program, its buffers and grid, and the buffers that must be there afterwards."""

    program: Program
    buffers: Mapping[str, bytes]
    workgroups: tuple[int, int, int]
    expected: Mapping[str, bytes]
    width: int = 4


_IN = BufferDecl.read("input", 0, U32)
_OUT = BufferDecl.read_write("output", 1, U32)


def _mapped(value: Callable[[Expr], Expr]) -> Program:
    i = Var("i")
    body = (Store("output", i, value(_IN[i])),)
    return Program((_IN, _OUT), (SIZE, 1, 1), (Let("i", InvocationId(0)), If(i < _OUT.length, body)))


def _step(program: Program, data: Words, expected: Any) -> Step:
    want = np.asarray(expected, np.uint32)
    buffers = {"input": data.tobytes(), "output": POISON * want.nbytes}
    return Step(program, buffers, (-(-len(want) // SIZE), 1, 1), {"output": want.tobytes()})


def other_inputs(seed: int, limits: BackendLimits) -> list[Step]:
    """One program on other data each time, of the same length and of others, growing and shrinking."""
    program = _mapped(lambda x: x ^ LitU32(0x5A5A_5A5A))
    steps: list[Step] = []
    for k, count in enumerate((100, 100, 7, 1000, 64, 64, 1, 129, 100)):
        data = random_u32(seed + k, count)
        steps.append(_step(program, data, data ^ np.uint32(0x5A5A_5A5A)))
    return steps


def same_shape(seed: int, limits: BackendLimits) -> list[Step]:
    """Programs that differ in an operator or in a literal alone, in turns, on the same data."""
    add, subtract = (_mapped(lambda x, c=c: x + LitU32(c)) for c in (1, 0xFFFF_FFFF))
    other, shifted = _mapped(lambda x: x * LitU32(3)), _mapped(lambda x: x >> LitU32(1))
    data = random_u32(seed, 200)
    values = [(add, data + np.uint32(1)), (subtract, data - np.uint32(1))]
    values += [(other, data * np.uint32(3)), (shifted, data >> np.uint32(1))]
    return [_step(program, data, want) for program, want in (*values, *values[::-1])]


def many_runs(seed: int, limits: BackendLimits) -> list[Step]:
    """One compiled program, run hundreds of times."""
    program = _mapped(lambda x: x + LitU32(0x9E37))
    steps: list[Step] = []
    for k in range(RUNS):
        data = random_u32(seed + k, 70)
        steps.append(_step(program, data, data + np.uint32(0x9E37)))
    return steps


def many_programs(seed: int, limits: BackendLimits) -> list[Step]:
    """Many programs alive at once, run in another order than they were compiled in."""
    data = random_u32(seed, 64)
    programs = [_mapped(lambda x, c=c: x ^ LitU32(c)) for c in range(1, PROGRAMS + 1)]
    steps = [_step(p, data, data ^ np.uint32(c)) for c, p in enumerate(programs, 1)]
    return [*steps, *steps[::-1]]


def before_is_gone(seed: int, limits: BackendLimits) -> list[Step]:
    """A buffer starts with what the caller put there, whatever an earlier run left in one like it."""
    entry = (Let("i", InvocationId(0)), Store("output", Var("i"), _OUT[Var("i")] + _IN[Var("i")]))
    program = Program((_IN, _OUT), (SIZE, 1, 1), entry)
    steps: list[Step] = []
    for k in range(4):
        data, old = random_u32(seed + k, 128), random_u32(seed + 10 + k, 128)
        buffers = {"input": data.tobytes(), "output": old.tobytes()}
        steps.append(Step(program, buffers, (2, 1, 1), {"output": (data + old).tobytes()}))
    return steps


def ids(seed: int, limits: BackendLimits) -> list[Step]:
    """Every id along every axis, for grids and workgroups of three dimensions."""
    out = BufferDecl.read_write("output", 0, U32)
    steps: list[Step] = []
    for size, grid in SHAPES:
        extent = [s * g for s, g in zip(size, grid, strict=True)]
        i: Expr = (InvocationId(2) * LitU32(extent[1]) + InvocationId(1)) * LitU32(extent[0])
        found = [kind(axis) for kind in (InvocationId, WorkgroupId, LocalId) for axis in range(3)]
        stores = [Store("output", Var("at") + LitU32(k), x) for k, x in enumerate(found)]
        entry = (Let("at", (i + InvocationId(0)) * LitU32(9)), *stores)
        z, y, x = np.indices(extent[::-1], dtype=np.uint32).reshape(3, -1)
        places = (x, y, z)
        rows = [*places]
        rows += [p // np.uint32(s) for p, s in zip(places, size, strict=True)]
        rows += [p % np.uint32(s) for p, s in zip(places, size, strict=True)]
        want = np.stack(rows, axis=1).astype(np.uint32).tobytes()
        program = Program((out,), size, entry)
        steps.append(Step(program, {"output": POISON * len(want)}, grid, {"output": want}))
    return steps


def wide(axis: int, limits: BackendLimits) -> list[Step]:
    """More workgroups along an axis than 16 bits can count, or as many as the device has."""
    count = min(WIDE, limits.workgroups_per_axis)
    size, grid = [1, 1, 1], [1, 1, 1]
    size[axis], grid[axis] = 2, count
    out = BufferDecl.read_write("output", 0, U32)
    entry = (Let("i", InvocationId(axis)), Store("output", Var("i"), WorkgroupId(axis) * LitU32(0x0100_0193)))
    program = Program((out,), (size[0], size[1], size[2]), entry)
    want = np.repeat(np.arange(count, dtype=np.uint32) * np.uint32(0x0100_0193), 2).tobytes()
    return [Step(program, {"output": POISON * len(want)}, (grid[0], grid[1], grid[2]), {"output": want})]


def large(seed: int, limits: BackendLimits) -> list[Step]:
    """A buffer whose last elements have numbers that a float rounds."""
    count = min(LARGE, (limits.buffer_bytes or 4 * LARGE) // 4)
    row = 1 << 14
    out = BufferDecl.read_write("output", 0, U32)
    i: Expr = InvocationId(1) * LitU32(row) + InvocationId(0)
    entry = (Let("i", i), If(Var("i") < out.length, (Store("output", Var("i"), ~Var("i")),)))
    program = Program((out,), (SIZE, 1, 1), entry)
    want = (~np.arange(count, dtype=np.uint32)).tobytes()
    grid = (row // SIZE, -(-count // row), 1)
    return [Step(program, {"output": POISON * len(want)}, grid, {"output": want})]


def loops(seed: int, limits: BackendLimits) -> list[Step]:
    """Long loops, loops in loops, loops that do not run, and bounds from memory."""
    total = Var("total")

    def counted(*body: Node) -> Program:
        entry = (Let("i", InvocationId(0)), Let("total", LitU32(0)), *body, Store("output", Var("i"), total))
        return Program((_IN, _OUT), (SIZE, 1, 1), entry)

    grow = Assign("total", total * LitU32(3) + Var("k"))
    long = counted(Loop("k", LitU32(0), LitU32(70_001), (grow,)))
    inner = Loop("k", LitU32(0), LitU32(300), (grow,))
    nested = counted(Loop("j", LitU32(0), LitU32(250), (inner,)))
    given = counted(Loop("k", LitU32(5), _IN[Var("i")], (grow,)))
    stops = np.array([0, 4, 5, 6, 7, 100, *([9] * 58)], np.uint32)
    turns = (np.arange(5, max(int(s), 5)) for s in stops)
    zeros = np.zeros(SIZE, np.uint32)
    return [
        _step(long, zeros, np.full(SIZE, _folded(range(70_001)))),
        _step(nested, zeros, np.full(SIZE, _folded(k for _ in range(250) for k in range(300)))),
        _step(given, stops, [_folded(t) for t in turns]),
    ]


def _folded(turns: Any) -> int:
    total = 0
    for k in turns:
        total = (total * 3 + int(k)) & 0xFFFF_FFFF
    return total


def returns(seed: int, limits: BackendLimits) -> list[Step]:
    """An invocation that ends early leaves the others alone, and does nothing more."""
    i, x = Var("i"), Var("x")
    leave = If(x > LitU32(0x8000_0000), (Return(),))
    body = (Assign("x", x + LitU32(0x1000_0001)), leave, Store("output", i, x))
    entry = (Let("i", InvocationId(0)), Let("x", _IN[i]), Loop("k", LitU32(0), LitU32(6), body))
    program = Program((_IN, _OUT), (SIZE, 1, 1), entry)
    data = random_u32(seed, 2 * SIZE) >> np.uint32(2)
    want = np.full(2 * SIZE, 0xA5A5_A5A5, np.uint32)
    for at, start in enumerate(data):
        value = int(start)
        for _ in range(6):
            value += 0x1000_0001
            if value > 0x8000_0000:
                break
            want[at] = value
    return [_step(program, data, want)]


def zeroed(seed: int, limits: BackendLimits) -> list[Step]:
    """Workgroup memory starts as zeros, after a workgroup and a program that left other things there."""
    shared = BufferDecl.workgroup("shared", U32, 256)
    local = LocalId(0)
    fill: list[Node] = [
        Loop("k", LitU32(0), LitU32(4), (Store("shared", local + Var("k") * LitU32(SIZE), ~LitU32(0)),)),
        Barrier(),
        Store("output", InvocationId(0), shared[LitU32(255) - local]),
    ]
    look: list[Node] = [
        Let("total", LitU32(0)),
        Loop("k", LitU32(0), LitU32(256), (Assign("total", Var("total") | shared[Var("k")]),)),
        Barrier(),
        Store("shared", local, ~LitU32(0)),
        Store("output", InvocationId(0), Var("total")),
    ]
    programs = [Program((_OUT, shared), (SIZE, 1, 1), entry) for entry in (fill, look)]
    size = 8 * SIZE
    wants = [np.full(size, 0xFFFF_FFFF, np.uint32).tobytes(), bytes(4 * size)]
    return [
        Step(p, {"output": POISON * 4 * size}, (8, 1, 1), {"output": w})
        for p, w in zip(programs, wants, strict=True)
    ]


def boxes(seed: int, limits: BackendLimits) -> list[Step]:
    """Workgroups of three dimensions meet at a barrier and exchange through shared memory."""
    steps: list[Step] = []
    for size, grid in SHAPES:
        count = size[0] * size[1] * size[2]
        shared = BufferDecl.workgroup("shared", U32, count)
        flat: Expr = (LocalId(2) * LitU32(size[1]) + LocalId(1)) * LitU32(size[0]) + LocalId(0)
        group: Expr = (WorkgroupId(2) * LitU32(grid[1]) + WorkgroupId(1)) * LitU32(grid[0]) + WorkgroupId(0)
        at = Var("first") + Var("l")
        entry: list[Node] = [
            Let("l", flat),
            Let("first", group * LitU32(count)),
            Store("shared", Var("l"), _IN[at]),
            Barrier(),
            Store("output", at, shared[LitU32(count - 1) - Var("l")]),
        ]
        groups = grid[0] * grid[1] * grid[2]
        data = random_u32(seed, groups * count)
        want = data.reshape(groups, count)[:, ::-1].tobytes()
        program = Program((_IN, _OUT, shared), size, entry)
        buffers = {"input": data.tobytes(), "output": POISON * len(want)}
        steps.append(Step(program, buffers, grid, {"output": want}))
    return steps


SEQUENCES: Mapping[str, Callable[[int, BackendLimits], list[Step]]] = {
    "other inputs": other_inputs,
    "programs of one shape": same_shape,
    "many runs": many_runs,
    "many programs": many_programs,
    "what was there before": before_is_gone,
    "ids": ids,
    "many workgroups along x": lambda _, limits: wide(0, limits),
    "many workgroups along y": lambda _, limits: wide(1, limits),
    "many workgroups along z": lambda _, limits: wide(2, limits),
    "large buffer": large,
    "loops": loops,
    "early returns": returns,
    "zeroed workgroup memory": zeroed,
    "workgroups of three dimensions": boxes,
}
