"""Out-of-bounds rules: a load gives 0, a store changes nothing, for every element type and kind of buffer.

What is expected comes from the reference interpreter. The memory next to a buffer cannot be watched from
here, but other elements of the same buffer can, and a crash is a result as well.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.generate.buffers import random_buffer
from vyre.conform.verify.stage import Trial, TrialStage, exactly, random_u32
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import InvocationId, LitU32, LocalId, Var
from vyre.ir.node import Barrier, If, Let, Node, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.reference import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.records.results import RunPlan

U32 = DataType.U32
SIZE = 32
LENGTHS = (1, 7, 32, 33)
UNIFORM_LENGTHS = (16, 32, 48, 64)
"""Whole multiples of 16 bytes for every type."""
TYPES = tuple(t for t in DataType if t is not DataType.Bytes)


def _indices(case: int, seed: int, length: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """In bounds once each, then past the end, far past it, and at the ends of signed and unsigned."""
    edge = [length, length + 1, length * 2, 0x3FFF_FFFF, 0x4000_0000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF]
    wild = random_u32(seed, 16) | np.uint32(0x8000)
    inside = np.arange(length, dtype=np.uint32)[:: 1 + case % 2]
    found = np.concatenate([inside, np.array(edge, np.uint32), wild])
    return np.random.default_rng(seed).permutation(found)


def _data(of: DataType, seed: int, length: int) -> bytes:
    import random

    return random_buffer(random.Random(seed), of, length)


def _finish(program: Program, buffers: dict[str, bytes], groups: int, plan: RunPlan, width: int) -> Trial:
    expected = run(program, buffers, (groups, 1, 1)).buffers
    return Trial("", program, buffers, (groups, 1, 1), exactly(expected, width=width), plan.repeats)


def load(of: DataType, case: int, seed: int, plan: RunPlan) -> Trial:
    """Loads from read-only and read-write buffers."""
    make = (BufferDecl.read, BufferDecl.read_write)[case // 2 % 2]
    return _load(make("memory", 1, of), LENGTHS[case % len(LENGTHS)], case, seed, plan)


def uniform(of: DataType, case: int, seed: int, plan: RunPlan) -> Trial:
    """Loads from uniform buffers, where some languages lay elements out in another way."""
    return _load(BufferDecl.uniform("memory", 1, of), UNIFORM_LENGTHS[case], case, seed, plan)


def _load(memory: BufferDecl, length: int, case: int, seed: int, plan: RunPlan) -> Trial:
    of = memory.element
    index = _indices(case, seed, length)
    out = BufferDecl.read_write("out", 2, of.loaded)
    where = BufferDecl.read("index", 0, U32)
    i = InvocationId(0)
    program = Program((where, memory, out), (SIZE, 1, 1), [Store("out", i, memory[where[i]])])
    count = len(index)
    buffers = {
        "index": index.tobytes(),
        "memory": _data(of, seed, length),
        "out": b"\xa5" * (count * of.loaded.stride),
    }
    return _finish(program, buffers, -(-count // SIZE), plan, of.loaded.stride)


def store(of: DataType, case: int, seed: int, plan: RunPlan) -> Trial:
    """Stores, in bounds at most once to each element, and the lengths as the program sees them."""
    length = LENGTHS[case % len(LENGTHS)]
    index = _indices(case, seed, length)
    where, value = BufferDecl.read("index", 0, U32), BufferDecl.read("value", 1, of.loaded)
    memory, out = BufferDecl.read_write("memory", 2, of), BufferDecl.read_write("lengths", 3, U32)
    i = InvocationId(0)
    entry: list[Node] = [
        Let("i", i),
        If(
            Var("i") < where.length,
            (Store("memory", where[Var("i")], value[Var("i")]), Store("lengths", Var("i"), memory.length)),
        ),
    ]
    program = Program((where, value, memory, out), (SIZE, 1, 1), entry)
    count = len(index)
    buffers = {
        "index": index.tobytes(),
        "value": _data(of.loaded, seed + 1, count),
        "memory": _data(of, seed, length),
        "lengths": bytes(4 * count),
    }
    return _finish(program, buffers, -(-count // SIZE), plan, of.stride)


def shared(case: int, seed: int, plan: RunPlan) -> Trial:
    """Workgroup memory: the same rules."""
    length = LENGTHS[case % len(LENGTHS)]
    index = np.resize(_indices(case, seed, length), SIZE)
    slots = BufferDecl.workgroup("slots", U32, length)
    where, out = BufferDecl.read("index", 0, U32), BufferDecl.read_write("out", 1, U32)
    local = LocalId(0)
    entry: list[Node] = [
        If(local.eq(LitU32(0)), [Store("slots", LitU32(k), LitU32(0x100 + k)) for k in range(length)]),
        Barrier(),
        Store("slots", LitU32(length) + local, LitU32(0xBAD)),
        Store("slots", LitU32(0xFFFF_FFFF) - local, LitU32(0xBAD)),
        Barrier(),
        Store("out", local, slots[where[local]]),
    ]
    program = Program((where, out, slots), (SIZE, 1, 1), entry)
    return _finish(program, {"index": index.tobytes(), "out": bytes(4 * SIZE)}, 1, plan, 4)


def _subjects() -> dict[str, Callable[[int, int, RunPlan], Trial]]:
    found: dict[str, Callable[[int, int, RunPlan], Trial]] = {}
    for of in TYPES:
        found[f"load {of.value}"] = partial(load, of)
        found[f"store {of.value}"] = partial(store, of)
    found["workgroup memory"] = shared
    found |= {f"uniform {of.value}": partial(uniform, of) for of in TYPES}
    return found


STAGE = TrialStage("bounds", _subjects(), each=4)
