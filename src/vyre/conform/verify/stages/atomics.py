"""Atomics by what can be observed: some order of the operations explains every value, per location.

Many invocations work on few locations at once, in storage and in workgroup memory; what each one got back
and what is left in the end must be the history of some order (decision 12). Out of bounds an atomic gives 0
and changes nothing (decision 5).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.verify.stage import Trial, TrialStage, random_u32
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, InvocationId, LitU32, LocalId, Var, WorkgroupId
from vyre.ir.node import Barrier, If, Let, Node, Store
from vyre.ir.operators import AtomicOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.reference.atomics import AtomicEvent, History, check

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from vyre.conform.records.results import RunPlan

    Words = NDArray[np.uint32]
    Verdict = tuple[tuple[str, ...], str, str] | None

U32 = DataType.U32
SIZE = 64
GROUPS = 24
CELLS = 5
_BITWISE = (AtomicOp.Or, AtomicOp.And)
OUTSIDE = (CELLS, CELLS + 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF)


def _values(op: AtomicOp, case: int, seed: int, count: int) -> tuple[Words, Words]:
    """Operands and expected values; every other case makes all operations alike, to meet more often."""
    raw = random_u32(seed, count)
    if op is AtomicOp.CompareExchange:
        expected = (random_u32(seed + 1, count) % np.uint32(4)).astype(np.uint32)
        value = raw % np.uint32(4) if case % 2 else np.arange(4, 4 + count, dtype=np.uint32)
        return value.astype(np.uint32), expected if case % 2 else np.zeros(count, np.uint32)
    if op is AtomicOp.Add and case % 2 == 0:
        return np.ones(count, np.uint32), raw
    if op in (AtomicOp.Or, AtomicOp.Xor) and case % 2 == 0:
        return np.left_shift(np.uint32(1), raw % np.uint32(32)).astype(np.uint32), raw
    if op is AtomicOp.And and case % 2 == 0:
        return ~np.left_shift(np.uint32(1), raw % np.uint32(32)).astype(np.uint32), raw
    return raw, raw


def _each_bit_once(op: AtomicOp, position: Words) -> tuple[Words, Words, Words]:
    """Values, cells and what these start as, such that every bit is changed by one operation alone.

    Where many change the same bit, it does not show that one of them was lost.
    """
    turn = position // np.uint32(CELLS)
    bit = np.where(turn < 32, np.left_shift(np.uint32(1), turn % np.uint32(32)), 0).astype(np.uint32)
    where = (position % np.uint32(CELLS)).astype(np.uint32)
    if op is AtomicOp.And:
        return ~bit, where, np.full(CELLS, 0xFFFF_FFFF, np.uint32)
    return bit, where, np.zeros(CELLS, np.uint32)


def _initial(op: AtomicOp, seed: int) -> Words:
    if op is AtomicOp.CompareExchange:
        return np.zeros(CELLS, np.uint32)
    return random_u32(seed + 2, CELLS)


def _operation(op: AtomicOp, buffer: str) -> Atomic:
    i = Var("i")
    value = BufferDecl.read("value", 0, U32)[i]
    if op is AtomicOp.CompareExchange:
        return Atomic(op, buffer, Var("cell"), value, BufferDecl.read("expected", 1, U32)[i])
    return Atomic(op, buffer, Var("cell"), value)


_INPUTS = (
    BufferDecl.read("value", 0, U32),
    BufferDecl.read("expected", 1, U32),
    BufferDecl.read("where", 2, U32),
)


def storage(op: AtomicOp, case: int, seed: int, plan: RunPlan) -> Trial:
    """All workgroups on a few cells of a storage buffer, some of them out of bounds."""
    count = GROUPS * SIZE
    value, expected = _values(op, case, seed, count)
    where = random_u32(seed + 3, count) % np.uint32(CELLS)
    outside = random_u32(seed + 4, count) % np.uint32(8) == 0
    where[outside] = np.array(OUTSIDE, np.uint32)[value[outside] % np.uint32(len(OUTSIDE))]
    initial = _initial(op, seed)
    if case == 2 and op in _BITWISE:
        value, where, initial = _each_bit_once(op, np.arange(count, dtype=np.uint32))
    entry: list[Node] = [
        Let("i", InvocationId(0)),
        Let("cell", _INPUTS[2][Var("i")]),
        Store("old", Var("i"), _operation(op, "cells")),
    ]
    cells = BufferDecl.read_write("cells", 3, U32)
    old = BufferDecl.read_write("old", 4, U32)
    program = Program((*_INPUTS, cells, old), (SIZE, 1, 1), entry)
    buffers = {
        "value": value.tobytes(),
        "expected": expected.tobytes(),
        "where": where.tobytes(),
        "cells": initial.tobytes(),
        "old": np.full(count, 0xA5A5_A5A5, np.uint32).tobytes(),
    }

    def judge(found: Mapping[str, bytes]) -> Verdict:
        returned = np.frombuffer(found["old"], np.uint32)
        final = np.frombuffer(found["cells"], np.uint32)
        return _lawful(op, value, expected, where, returned, initial, final)

    return Trial("", program, buffers, (GROUPS, 1, 1), judge, plan.repeats, alike=False)


def workgroup(op: AtomicOp, case: int, seed: int, plan: RunPlan) -> Trial:
    """Each workgroup on cells of its own shared memory."""
    count = GROUPS * SIZE
    value, expected = _values(op, case, seed, count)
    where = random_u32(seed + 3, count) % np.uint32(CELLS)
    initial = _initial(op, seed)
    if case == 2 and op in _BITWISE:
        value, where, initial = _each_bit_once(op, np.arange(count, dtype=np.uint32) % np.uint32(SIZE))
    start = BufferDecl.read("initial", 3, U32)
    shared = BufferDecl.workgroup("shared", U32, CELLS, atomic=True)
    old = BufferDecl.read_write("old", 4, U32)
    final = BufferDecl.read_write("final", 5, U32)
    local = LocalId(0)
    entry: list[Node] = [
        Let("i", InvocationId(0)),
        Let("cell", _INPUTS[2][Var("i")]),
        If(local < LitU32(CELLS), (Store("shared", local, start[local]),)),
        Barrier(),
        Store("old", Var("i"), _operation(op, "shared")),
        Barrier(),
        If(
            local < LitU32(CELLS),
            (Store("final", WorkgroupId(0) * LitU32(CELLS) + local, shared[local]),),
        ),
    ]
    program = Program((*_INPUTS, start, old, final, shared), (SIZE, 1, 1), entry)
    buffers = {
        "value": value.tobytes(),
        "expected": expected.tobytes(),
        "where": where.tobytes(),
        "initial": initial.tobytes(),
        "old": np.full(count, 0xA5A5_A5A5, np.uint32).tobytes(),
        "final": bytes(4 * GROUPS * CELLS),
    }

    def judge(found: Mapping[str, bytes]) -> Verdict:
        returned = np.frombuffer(found["old"], np.uint32)
        after = np.frombuffer(found["final"], np.uint32).reshape(GROUPS, CELLS)
        for group in range(GROUPS):
            mine = slice(group * SIZE, (group + 1) * SIZE)
            wrong = _lawful(
                op, value[mine], expected[mine], where[mine], returned[mine], initial, after[group]
            )
            if wrong is not None:
                return ((f"workgroup {group}", *wrong[0]), wrong[1], wrong[2])
        return None

    return Trial("", program, buffers, (GROUPS, 1, 1), judge, plan.repeats, alike=False)


def _lawful(
    op: AtomicOp, value: Words, expected: Words, where: Words, returned: Words, initial: Words, final: Words
) -> Verdict:
    for cell in range(CELLS):
        mine = np.flatnonzero(where == cell)
        compared = op is AtomicOp.CompareExchange
        events = tuple(
            AtomicEvent(op, int(value[k]), int(returned[k]), int(expected[k]) if compared else None)
            for k in mine
        )
        wrong = check(History(int(initial[cell]), int(final[cell]), events))
        if wrong is not None:
            place = f"cell {cell}: {len(events)} times {op.value}, from 0x{initial[cell]:X}"
            return (place,), "the history of some order", wrong
    strays = np.flatnonzero((where >= CELLS) & (returned != 0))
    if len(strays):
        k = int(strays[0])
        return (f"index 0x{where[k]:X} of {CELLS} cells",), "0x0", f"0x{returned[k]:X}"
    return None


def _subjects() -> dict[str, Callable[[int, int, RunPlan], Trial]]:
    found: dict[str, Callable[[int, int, RunPlan], Trial]] = {}
    for op in AtomicOp:
        found[f"storage {op.value}"] = partial(storage, op)
        found[f"workgroup {op.value}"] = partial(workgroup, op)
    return found


STAGE = TrialStage("atomics", _subjects(), each=4)
