"""`reduce`: all elements joined by one u32 operation, tile by tile until one is left."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import (
    GROUP,
    LOCAL,
    PARAMS,
    U32,
    halving,
    joined_into,
    opening,
    param,
    taken,
)
from vyre.engines.monoids import monoid
from vyre.engines.plan import Engine, Plan, Shape, Space, Step, groups_for
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import LitU32, Var
from vyre.ir.node import If, Let, Loop, Store
from vyre.ir.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.engines.monoids import Monoid
    from vyre.ir.node import Node

MOST_TURNS = 4
_BUSY = 1 << 12
"""Workgroups after which longer turns leave no core idle."""


@cache
def fold_program(joins: Monoid, shape: Shape, *, truth: bool = False) -> Program:
    """Each workgroup joins `lanes * items` elements a turn, `param(0)` turns, into `output[group]`."""
    source = BufferDecl.read("input", 0, joins.element)
    output = BufferDecl.read_write("output", 1, joins.element)
    tile = BufferDecl.workgroup("tile", joins.value, shape.lanes)
    total, index = Var("total"), Var("first") + Var("k") * LitU32(shape.lanes)
    body: list[Node] = [
        Let("i", index),
        *joined_into(joins, total, taken(source, Var("i"), joins, truth=truth), "x"),
    ]
    entry: list[Node] = [
        *opening(shape),
        Let("rounds", param(0) * LitU32(shape.items)),
        Let("first", GROUP * (Var("rounds") * LitU32(shape.lanes)) + LOCAL),
        Let("total", joins.start),
        Loop("k", LitU32(0), Var("rounds"), body),
        Store("tile", LOCAL, total),
        *halving(joins, tile, shape.lanes),
        If(LOCAL.eq(0), [Store("output", GROUP, tile[LitU32(0)])]),
    ]
    return Program((source, output, PARAMS, tile), (shape.lanes, 1, 1), entry)


def turns_for(count: int, shape: Shape, most: int) -> int:
    """How many turns a workgroup takes: more of them as soon as there are workgroups enough."""
    if shape.turns:
        return shape.turns
    turns = 1
    while turns < most and count > _BUSY * shape.lanes * shape.items * turns:
        turns *= 2
    return turns


@lru_cache(maxsize=64)
def reduce_engine(op: str = "add", *, shape: Shape | None = None) -> Engine:
    """The join of all u32; of none, the neutral element."""
    cut = shape or Shape()
    program = fold_program(monoid(op), cut)

    def plan(lengths: Mapping[str, int]) -> Plan:
        count, source = lengths["input"], "input"
        outputs = {"output": Space(U32, 1, () if count else (monoid(op).neutral,), written=bool(count))}
        scratch: dict[str, Space] = {}
        steps: list[Step] = []
        while source != "output" and count:
            turns = turns_for(count, cut, MOST_TURNS)
            groups = groups_for(count, cut.lanes * cut.items * turns)
            target = "output" if groups == 1 else f"level{len(steps)}"
            if groups > 1:
                scratch[target] = Space(U32, groups, written=True)
            steps.append(Step(program, groups, {"input": source, "output": target}, (turns,)))
            count, source = groups, target
        return Plan(outputs, tuple(steps), scratch)

    return Engine("reduce", {"input": U32}, plan, cut)
