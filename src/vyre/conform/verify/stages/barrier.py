"""The four properties of a barrier: visibility after it, isolation before it, scope, uniform control flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.verify.stage import Trial, TrialStage, exactly, random_u32
from vyre.errors import VyreError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import InvocationId, LitU32, LocalId, Var, WorkgroupId
from vyre.ir.node import Barrier, If, Let, Loop, Node, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.validate import validate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.conform.records.results import RunPlan

    Words = NDArray[np.uint32]

U32 = DataType.U32
SIZES = (2, 32, 64, 128, 256)
GROUPS = 37


def _shared(size: int) -> tuple[BufferDecl, BufferDecl, BufferDecl]:
    return (
        BufferDecl.read("input", 0, U32),
        BufferDecl.read_write("output", 1, U32),
        BufferDecl.workgroup("shared", U32, size),
    )


def _trial(program: Program, data: Words, expected: Words, plan: RunPlan) -> Trial:
    buffers = {"input": data.tobytes(), "output": bytes(expected.nbytes)}
    judge = exactly({"output": expected.astype(np.uint32).tobytes()})
    return Trial("", program, buffers, (GROUPS, 1, 1), judge, plan.repeats)


def visibility(case: int, seed: int, plan: RunPlan) -> Trial:
    """Each invocation writes its own element and, after the barrier, reads those of others; many times."""
    size, rounds = SIZES[case % len(SIZES)], 1 + case % 4
    step = 1 + seed % (size - 1) if size > 2 else 1
    source, output, shared = _shared(size)
    local, i, n = LocalId(0), InvocationId(0), LitU32(size)
    body: list[Node] = [
        Barrier(),
        Let("x", shared[(Var("l") + LitU32(step)) % n]),
        Barrier(),
        Store("shared", Var("l"), Var("x")),
    ]
    entry: list[Node] = [
        Let("l", local),
        Store("shared", Var("l"), source[i]),
        Loop("r", LitU32(0), LitU32(rounds), body),
        Barrier(),
        Store("output", i, shared[(Var("l") + LitU32(step)) % n]),
    ]
    program = Program((source, output, shared), (size, 1, 1), entry)
    data = random_u32(seed, GROUPS * size)
    rows = data.reshape(GROUPS, size)
    for _ in range(rounds + 1):
        rows = np.roll(rows, -step, axis=1)
    return _trial(program, data, rows.reshape(-1), plan)


def storage_visibility(case: int, seed: int, plan: RunPlan) -> Trial:
    """The same through a storage buffer: a barrier orders those accesses too, within the workgroup."""
    size = SIZES[case % len(SIZES)]
    source = BufferDecl.read("input", 0, U32)
    scratch = BufferDecl.read_write("scratch", 1, U32)
    output = BufferDecl.read_write("output", 2, U32)
    first = WorkgroupId(0) * LitU32(size)
    entry: list[Node] = [
        Let("i", InvocationId(0)),
        Store("scratch", Var("i"), source[Var("i")] ^ LitU32(0xFFFF_FFFF)),
        Barrier(),
        Store("output", Var("i"), scratch[first + (LitU32(size - 1) - LocalId(0))]),
    ]
    program = Program((source, scratch, output), (size, 1, 1), entry)
    data = random_u32(seed, GROUPS * size)
    mirrored = ~data.reshape(GROUPS, size)[:, ::-1]
    trial = _trial(program, data, mirrored.reshape(-1), plan)
    return Trial(
        "",
        program,
        {**trial.buffers, "scratch": bytes(data.nbytes)},
        trial.workgroups,
        trial.judge,
        plan.repeats,
    )


def isolation(case: int, seed: int, plan: RunPlan) -> Trial:
    """What is read before a barrier is never what is only written after it."""
    size = SIZES[case % len(SIZES)]
    source, output, shared = _shared(size)
    neighbour = (LocalId(0) + LitU32(1)) % LitU32(size)
    entry: list[Node] = [
        Store("shared", LocalId(0), source[InvocationId(0)]),
        Barrier(),
        Let("before", shared[neighbour]),
        Barrier(),
        Store("shared", LocalId(0), LitU32(0xDEAD_BEEF)),
        Barrier(),
        Let("after", shared[neighbour]),
        Store("output", InvocationId(0), Var("before") + (Var("after") ^ LitU32(0xDEAD_BEEF))),
    ]
    program = Program((source, output, shared), (size, 1, 1), entry)
    data = random_u32(seed, GROUPS * size)
    expected = np.roll(data.reshape(GROUPS, size), -1, axis=1)
    return _trial(program, data, expected.reshape(-1), plan)


def scope(case: int, seed: int, plan: RunPlan) -> Trial:
    """Workgroup memory and barriers of one workgroup mean nothing to another."""
    size = SIZES[case % len(SIZES)]
    source, output, shared = _shared(size)
    entry: list[Node] = [
        Store("shared", LocalId(0), WorkgroupId(0) * LitU32(0x0100_0193) + source[InvocationId(0)]),
        Barrier(),
        Loop(
            "r",
            LitU32(0),
            LitU32(4),
            (
                Let("x", shared[(LocalId(0) + Var("r")) % LitU32(size)]),
                Barrier(),
                Store("shared", (LocalId(0) + Var("r")) % LitU32(size), Var("x") + LitU32(1)),
                Barrier(),
            ),
        ),
        Store("output", InvocationId(0), shared[LitU32(size - 1) - LocalId(0)]),
    ]
    program = Program((source, output, shared), (size, 1, 1), entry)
    data = random_u32(seed, GROUPS * size)
    groups = np.arange(GROUPS, dtype=np.uint32)[:, None] * np.uint32(0x0100_0193)
    expected = (data.reshape(GROUPS, size) + groups + np.uint32(4))[:, ::-1]
    return _trial(program, data, expected.reshape(-1), plan)


def uniform(case: int, seed: int, plan: RunPlan) -> Trial:
    """A barrier works under a condition that all share; under a divergent one there is no program."""
    size = SIZES[case % len(SIZES)]
    source, output, shared = _shared(size)
    switch = BufferDecl.uniform("switch", 2, U32, count=4)
    mirrored = shared[LitU32(size - 1) - LocalId(0)]
    entry: list[Node] = [
        Store("shared", LocalId(0), source[InvocationId(0)]),
        If(
            switch[LitU32(0)].eq(LitU32(1)),
            (Barrier(), Store("output", InvocationId(0), mirrored)),
            (Store("output", InvocationId(0), LitU32(7)),),
        ),
    ]
    program = Program((source, output, switch, shared), (size, 1, 1), entry)
    divergent = Program((source, output, shared), (size, 1, 1), [If(LocalId(0) < LitU32(1), (Barrier(),))])
    if not any(d.code == "V010" for d in validate(divergent)):
        raise VyreError("a divergent barrier passes the validator.", fix="repair rule V010.")
    data = random_u32(seed, GROUPS * size)
    taken = case % 2 == 0
    expected = data.reshape(GROUPS, size)[:, ::-1].reshape(-1) if taken else np.full(data.size, 7, np.uint32)
    trial = _trial(program, data, expected, plan)
    words = np.array([int(taken), 0, 0, 0], np.uint32)
    return Trial(
        "", program, {**trial.buffers, "switch": words.tobytes()}, trial.workgroups, trial.judge, plan.repeats
    )


STAGE = TrialStage(
    "barrier",
    {
        "visibility": visibility,
        "storage visibility": storage_visibility,
        "isolation": isolation,
        "scope": scope,
        "uniform control flow": uniform,
    },
    each=10,
)
