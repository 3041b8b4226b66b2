"""A compaction into a buffer that has room for all elements, with their number beside it.

It reads no count between its dispatches. It is in the suite only: because part of the buffer stays unwritten,
it shows what is written past the result.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import GROUP, LOCAL, PARAMS, U32, opening
from vyre.engines.plan import Engine, Plan, Shape, Space, Step, groups_for
from vyre.engines.prefix import scan_steps
from vyre.ir.buffers import BufferDecl
from vyre.ir.convention import arranged
from vyre.ir.expr import LitU32, Var
from vyre.ir.node import If, Let, Loop, Store
from vyre.ir.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.node import Node


@cache
def scatter_program(shape: Shape) -> Program:
    """Element i goes to the place that the scan of the flags gives it; the last one says the number."""
    values = BufferDecl.read("input", 0, U32)
    output = BufferDecl.read_write("output", 1, U32)
    flags = BufferDecl.read("flags", 3, U32)
    places = BufferDecl.read("places", 4, U32)
    total = BufferDecl.read_write("count", 5, U32, count=1)
    i, keep, place = Var("i"), Var("keep"), Var("place")
    last = i.eq(values.length - LitU32(1))
    body: list[Node] = [
        Let("i", Var("first") + Var("k") * LitU32(shape.lanes)),
        If(
            i < values.length,
            [
                Let("keep", flags[i].ne(0)),
                Let("place", places[i]),
                If(keep, [Store("output", place, values[i])]),
                If(last, [Store("count", LitU32(0), place + keep)]),
            ],
        ),
    ]
    entry: list[Node] = [
        *opening(shape),
        Let("first", GROUP * LitU32(shape.lanes * shape.items) + LOCAL),
        Loop("k", LitU32(0), LitU32(shape.items), body),
    ]
    return Program(arranged((values, output, PARAMS, flags, places, total)), (shape.lanes, 1, 1), entry)


@lru_cache(maxsize=64)
def slotted_engine(*, shape: Shape | None = None) -> Engine:
    """Outputs `output`, of which the first `count[0]` elements are written, and `count`."""
    cut = shape or Shape()

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        outputs = {"output": Space(U32, count), "count": Space(U32, 1, () if count else (0,))}
        if not count:
            return Plan(outputs, ())
        steps, scratch = scan_steps("add", cut, count, "flags", "places", inclusive=False, truth=True)
        scratch["places"] = Space(U32, count)
        names = ("input", "output", "flags", "places", "count")
        groups = groups_for(count, cut.lanes * cut.items)
        steps.append(Step(scatter_program(cut), groups, {name: name for name in names}))
        return Plan(outputs, tuple(steps), scratch)

    return Engine("compact", {"input": U32, "flags": U32}, plan, cut)
