"""Adversaries of data races: programs that are free of them, where a careless backend makes one.

Each is run again and again; every run must give the one right answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.verify.stage import Trial, TrialStage, exactly, random_u32
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, Cast, InvocationId, LitU32, LocalId, Select, Var, WorkgroupId
from vyre.ir.node import Assign, Barrier, If, Let, Loop, Node, Store
from vyre.ir.operators import AtomicOp
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.conform.records.results import RunPlan

U32 = DataType.U32
SIZE = 64
GROUPS = 61
COUNT = SIZE * GROUPS
_RUNS = 4
"""Runs of an adversary for every run of an ordinary case."""


def _half_stores(of: DataType, case: int, seed: int, plan: RunPlan) -> Trial:
    """Neighbouring invocations store neighbouring halves of one word."""
    source = BufferDecl.read("input", 0, U32)
    output = BufferDecl.read_write("output", 1, of)
    i = InvocationId(0)
    entry = [Store("output", i, Cast(of, source[i]))]
    program = Program((source, output), (SIZE, 1, 1), entry)
    data = random_u32(seed, COUNT)
    expected = data.astype(np.uint16)
    buffers = {"input": data.tobytes(), "output": b"\xa5" * (2 * COUNT)}
    judge = exactly({"output": expected.tobytes()}, width=2)
    return Trial("", program, buffers, (GROUPS, 1, 1), judge, _RUNS * plan.repeats)


def half(case: int, seed: int, plan: RunPlan) -> Trial:
    return _half_stores(DataType.F16 if case % 2 else DataType.BF16, case, seed, plan)


def byte(case: int, seed: int, plan: RunPlan) -> Trial:
    """Neighbouring invocations store neighbouring bytes of one word, which keep the low bits of theirs."""
    source = BufferDecl.read("input", 0, U32)
    output = BufferDecl.read_write("output", 1, DataType.U8 if case % 2 else DataType.I8)
    i = InvocationId(0)
    program = Program((source, output), (SIZE, 1, 1), [Store("output", i, source[i])])
    data = random_u32(seed, COUNT)
    buffers = {"input": data.tobytes(), "output": b"\xa5" * COUNT}
    judge = exactly({"output": data.astype(np.uint8).tobytes()}, width=1)
    return Trial("", program, buffers, (GROUPS, 1, 1), judge, _RUNS * plan.repeats)


def scattered(case: int, seed: int, plan: RunPlan) -> Trial:
    """A permutation: every element is written by another workgroup than its neighbours."""
    source = BufferDecl.read("input", 0, U32)
    where = BufferDecl.read("where", 1, U32)
    output = BufferDecl.read_write("output", 2, U32)
    i = InvocationId(0)
    program = Program((source, where, output), (SIZE, 1, 1), [Store("output", where[i], source[i])])
    data = random_u32(seed, COUNT)
    order = np.random.default_rng(seed).permutation(COUNT).astype(np.uint32)
    expected = np.zeros(COUNT, np.uint32)
    expected[order] = data
    buffers = {"input": data.tobytes(), "where": order.tobytes(), "output": bytes(4 * COUNT)}
    judge = exactly({"output": expected.tobytes()})
    return Trial("", program, buffers, (GROUPS, 1, 1), judge, _RUNS * plan.repeats)


def histogram(case: int, seed: int, plan: RunPlan) -> Trial:
    """Counts in workgroup memory, then added to storage: atomics on both, with a barrier between."""
    bins = 16
    source = BufferDecl.read("input", 0, U32)
    output = BufferDecl.read_write("output", 1, U32)
    local_bins = BufferDecl.workgroup("bins", U32, bins, atomic=True)
    local = LocalId(0)
    entry: list[Node] = [
        If(local < LitU32(bins), (Store("bins", local, LitU32(0)),)),
        Barrier(),
        Let("a", Atomic(AtomicOp.Add, "bins", source[InvocationId(0)] % LitU32(bins), LitU32(1))),
        Barrier(),
        If(local < LitU32(bins), (Let("b", Atomic(AtomicOp.Add, "output", local, local_bins[local])),)),
    ]
    program = Program((source, output, local_bins), (SIZE, 1, 1), entry)
    data = random_u32(seed, COUNT)
    if case % 2:
        data %= np.uint32(2)
    expected = np.bincount(data % np.uint32(bins), minlength=bins).astype(np.uint32)
    buffers = {"input": data.tobytes(), "output": bytes(4 * bins)}
    judge = exactly({"output": expected.tobytes()})
    return Trial("", program, buffers, (GROUPS, 1, 1), judge, _RUNS * plan.repeats)


def scan(case: int, seed: int, plan: RunPlan) -> Trial:
    """A prefix sum in workgroup memory: two barriers a step, each of them needed."""
    source = BufferDecl.read("input", 0, U32)
    output = BufferDecl.read_write("output", 1, U32)
    shared = BufferDecl.workgroup("shared", U32, SIZE)
    local, stride = Var("l"), LitU32(1) << Var("s")
    body: list[Node] = [
        Let("left", Select(local < stride, LitU32(0), shared[local - stride])),
        Barrier(),
        Store("shared", local, shared[local] + Var("left")),
        Barrier(),
    ]
    entry: list[Node] = [
        Let("l", LocalId(0)),
        Store("shared", local, source[InvocationId(0)]),
        Barrier(),
        Loop("s", LitU32(0), LitU32(6), body),
        Store("output", InvocationId(0), shared[local]),
    ]
    program = Program((source, output, shared), (SIZE, 1, 1), entry)
    data = random_u32(seed, COUNT)
    expected = np.cumsum(data.reshape(GROUPS, SIZE), axis=1, dtype=np.uint32)
    buffers = {"input": data.tobytes(), "output": bytes(4 * COUNT)}
    judge = exactly({"output": expected.tobytes()})
    return Trial("", program, buffers, (GROUPS, 1, 1), judge, _RUNS * plan.repeats)


def fresh_memory(case: int, seed: int, plan: RunPlan) -> Trial:
    """Workgroup memory that is written before it is read: nothing of an earlier workgroup shines through."""
    source = BufferDecl.read("input", 0, U32)
    output = BufferDecl.read_write("output", 1, U32)
    shared = BufferDecl.workgroup("shared", U32, SIZE)
    local = LocalId(0)
    entry: list[Node] = [
        Store("shared", local, source[WorkgroupId(0)]),
        Barrier(),
        Let("total", LitU32(0)),
        Loop("k", LitU32(0), LitU32(SIZE), (Assign("total", Var("total") + shared[Var("k")]),)),
        Store("output", InvocationId(0), Var("total")),
    ]
    program = Program((source, output, shared), (SIZE, 1, 1), entry)
    data = random_u32(seed, GROUPS)
    expected = np.repeat(data * np.uint32(SIZE), SIZE)
    buffers = {"input": data.tobytes(), "output": bytes(4 * COUNT)}
    judge = exactly({"output": expected.tobytes()})
    return Trial("", program, buffers, (GROUPS, 1, 1), judge, _RUNS * plan.repeats)


STAGE = TrialStage(
    "races",
    {
        "adjacent halves": half,
        "adjacent bytes": byte,
        "scattered stores": scattered,
        "histogram": histogram,
        "prefix sum": scan,
        "fresh workgroup memory": fresh_memory,
    },
    each=4,
)
