"""`bucket`: elements brought together by key, each with a ticket that an atomic addition gave it.

The order within a bucket is whatever order the atomics took, so this engine promises none: it is here
because it shows what every single atomic returned.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.registry.engine.engine_inputs import distinct, length, source, work_bound
from vyre.conform.registry.engine.reduce import output
from vyre.conform.registry.engine.withheld import TICKETS
from vyre.conform.spec.engine import EngineCase, EngineSpec, Location
from vyre.conform.spec.invariant import EngineInvariant as Inv
from vyre.engines.kernels import GROUP, LOCAL, PARAMS, U32, opening
from vyre.engines.plan import Engine, Plan, Shape, Space, Step, groups_for
from vyre.engines.prefix import scan_steps
from vyre.ir.buffers import BufferDecl
from vyre.ir.convention import arranged
from vyre.ir.expr import Atomic, LitU32, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.operators import AtomicOp
from vyre.ir.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.node import Node

KEYS = 16


def _opening(shape: Shape, values: BufferDecl, body: list[Node]) -> list[Node]:
    i = Var("i")
    keyed = [Let("key", values[i] % LitU32(KEYS)), *body]
    return [
        *opening(shape),
        Let("i", GROUP * LitU32(shape.lanes) + LOCAL),
        If(i < values.length, keyed),
    ]


@cache
def ticket_program(shape: Shape) -> Program:
    values = BufferDecl.read("input", 0, U32)
    tickets = BufferDecl.read_write("output", 1, U32)
    counts = BufferDecl.read_write("counts", 3, U32)
    ticket = Atomic(AtomicOp.Add, "counts", Var("key"), LitU32(1))
    entry = _opening(shape, values, [Store("output", Var("i"), ticket)])
    return Program(arranged((values, tickets, PARAMS, counts)), (shape.lanes, 1, 1), entry)


@cache
def place_program(shape: Shape) -> Program:
    values = BufferDecl.read("input", 0, U32)
    placed = BufferDecl.read_write("output", 1, U32)
    tickets = BufferDecl.read("tickets", 3, U32)
    starts = BufferDecl.read("starts", 4, U32)
    i = Var("i")
    entry = _opening(shape, values, [Store("output", starts[Var("key")] + tickets[i], values[i])])
    return Program(arranged((values, placed, PARAMS, tickets, starts)), (shape.lanes, 1, 1), entry)


def bucket_engine(shape: Shape) -> Engine:
    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        outputs = {
            "output": Space(U32, count),
            "tickets": Space(U32, count),
            "counts": Space(U32, KEYS, (0,) * KEYS),
        }
        if not count:
            return Plan(outputs, ())
        groups = groups_for(count, shape.lanes)
        counted = {"input": "input", "output": "tickets", "counts": "counts"}
        scanned, scratch = scan_steps("add", shape, KEYS, "counts", "starts", inclusive=False)
        placed = {name: name for name in ("input", "output", "tickets", "starts")}
        steps = (
            Step(ticket_program(shape), groups, counted),
            *scanned,
            Step(place_program(shape), groups, placed),
        )
        return Plan(outputs, steps, scratch | {"starts": Space(U32, KEYS)})

    return Engine("bucket", {"input": U32}, plan, shape)


def _case(seed: int, index: int, invariant: Inv) -> EngineCase:
    rng = source(seed, index)
    return _on({"input": distinct(rng, length(rng, index, least=2))})


def _on(inputs: Mapping[str, Any]) -> EngineCase:
    data = inputs["input"]
    keys = data % KEYS

    def history(outputs: Mapping[str, Any]) -> list[Location]:
        tickets, counts = outputs["tickets"], outputs["counts"]
        return [
            Location(
                f"key {k}", 0, np.ones(int((keys == k).sum()), np.int64), tickets[keys == k], int(counts[k])
            )
            for k in range(KEYS)
        ]

    return EngineCase(bucket_engine, inputs, data, output, work_bound(data.size), history=history, on=_on)


SPEC = EngineSpec(
    "bucket",
    "elements brought together by key, in any order within a key",
    (Inv.NoOutputLost, Inv.NoDuplicate, Inv.Bounded, Inv.Termination, Inv.AtomicLinearizable),
    _case,
    withheld=TICKETS,
)
