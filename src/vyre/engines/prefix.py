"""`scan`: the join of all elements before (exclusive) or up to (inclusive) each one.

The joins of whole tiles are scanned first, by the same engine, and each tile starts from its own.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vyre.engines.fold import fold_program
from vyre.engines.kernels import (
    GROUP,
    LOCAL,
    PARAMS,
    U32,
    joined_into,
    monoid,
    opening,
    param,
    taken,
    upward,
)
from vyre.engines.plan import Engine, Plan, Shape, Space, Step, groups_for
from vyre.ir.buffers import BufferDecl
from vyre.ir.convention import arranged
from vyre.ir.expr import LitU32, Select, Var
from vyre.ir.node import Let, Loop, Store
from vyre.ir.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.node import Node


@cache
def sweep_program(op: str, shape: Shape, *, inclusive: bool, truth: bool = False) -> Program:
    """Scans tiles of `lanes * items`; tile `group` starts from `starts[group]` where `param(0)` says so."""
    joins = monoid(op)
    source = BufferDecl.read("input", 0, U32)
    output = BufferDecl.read_write("output", 1, U32)
    starts = BufferDecl.read("starts", 3, U32)
    tile = BufferDecl.workgroup("tile", U32, shape.lanes)
    total, running, items = Var("total"), Var("running"), LitU32(shape.items)

    def element(k: str) -> list[Node]:
        i = Var(f"i_{k}")
        value = taken(source, i, joins, truth=truth)
        return [Let(i.name, Var("first") + Var(k)), Let(f"x_{k}", value)]

    add = joined_into(joins, running, Var("x_m"), "y")
    put = Store("output", Var("i_m"), running)
    neutral = LitU32(joins.neutral)
    start = Select(param(0), starts[GROUP], neutral)
    before = Select(LitU32(0) < LOCAL, tile[LOCAL - LitU32(1)], neutral)
    entry: list[Node] = [
        *opening(shape),
        Let("first", (GROUP * LitU32(shape.lanes) + LOCAL) * items),
        Let("total", neutral),
        Loop("k", LitU32(0), items, [*element("k"), *joined_into(joins, total, Var("x_k"), "x")]),
        Store("tile", LOCAL, total),
        *upward(joins, tile, shape.lanes),
        Let("start", start),
        Let("before", before),
        Let("running", joins.join(Var("start"), Var("before"))),
        Loop("m", LitU32(0), items, [*element("m"), *([*add, put] if inclusive else [put, *add])]),
    ]
    return Program(arranged((source, output, PARAMS, starts, tile)), (shape.lanes, 1, 1), entry)


def scan_steps(
    op: str, shape: Shape, count: int, source: str, target: str, *, inclusive: bool, truth: bool = False
) -> tuple[list[Step], dict[str, Space]]:
    """The steps that scan `source` into `target`, and the buffers between them."""
    tile = shape.lanes * shape.items
    scratch = {f"{target}_none": Space(U32, 1)}
    steps: list[Step] = []
    levels = [(count, source)]
    while levels[-1][0] > tile:
        length, above = levels[-1]
        groups = groups_for(length, tile)
        sums = f"{target}_sums{len(levels)}"
        scratch[sums] = Space(U32, groups)
        program = fold_program(op, shape, truth=truth and len(levels) == 1)
        steps.append(Step(program, groups, {"input": above, "output": sums}, (1,)))
        levels.append((groups, sums))
    starts = ""
    for level in reversed(range(len(levels))):
        length, name = levels[level]
        bottom = level == 0
        output = target if bottom else f"{target}_starts{level}"
        if not bottom:
            scratch[output] = Space(U32, length)
        program = sweep_program(op, shape, inclusive=inclusive and bottom, truth=truth and bottom)
        bindings = {"input": name, "output": output, "starts": starts or f"{target}_none"}
        steps.append(Step(program, groups_for(length, tile), bindings, (int(bool(starts)),)))
        starts = output
    return steps, scratch


@lru_cache(maxsize=64)
def scan_engine(op: str = "add", *, inclusive: bool = True, shape: Shape | None = None) -> Engine:
    """As many results as there are elements."""
    cut = shape or Shape()

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        outputs = {"output": Space(U32, count)}
        if not count:
            return Plan(outputs, ())
        steps, scratch = scan_steps(op, cut, count, "input", "output", inclusive=inclusive)
        return Plan(outputs, tuple(steps), scratch)

    return Engine("scan", {"input": U32}, plan, cut)
