"""`scan`: the join of all elements before (exclusive) or up to (inclusive) each one.

The joins of whole tiles are scanned first, by the same engine, and each tile starts from its own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from vyre.engines.fold import fold_program
from vyre.engines.kernels import U32
from vyre.engines.monoids import monoid
from vyre.engines.plan import Engine, Plan, Shape, Space, Step, groups_for
from vyre.engines.sweeps import Scanning, sweep_program, totals_program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.engines.monoids import Monoid
    from vyre.ir.program import Program
    from vyre.ir.types import DataType


_TILE_BYTES = 12 << 10
"""Of the elements of a tile: every device has 16 KiB of workgroup memory."""


def _fitting(shape: Shape, value: DataType) -> Shape:
    """The shape with as many items as the memory of a workgroup holds."""
    while shape.lanes > 1 and shape.items > 1 and shape.lanes * shape.items * value.stride > _TILE_BYTES:
        shape = replace(shape, items=shape.items // 2)
    return shape


def scan_steps(
    op: str | Monoid,
    shape: Shape,
    count: int,
    source: str,
    target: str,
    *,
    inclusive: bool,
    truth: bool = False,
    heads: str = "",
) -> tuple[list[Step], dict[str, Space]]:
    """The steps that scan `source` into `target`, and the buffers between them."""
    joins = monoid(op) if isinstance(op, str) else op
    scanning = Scanning(joins, _fitting(shape, joins.value), bool(heads), truth)
    tile, element = scanning.tile, joins.element
    scratch = {f"{target}_none": Space(element, 1)}
    steps: list[Step] = []
    levels = [(count, source, heads)]
    while levels[-1][0] > tile:
        length, above, flags = levels[-1]
        groups = groups_for(length, tile)
        sums = f"{target}_sums{len(levels)}"
        scratch[sums] = Space(element, groups, written=True)
        bindings = {"input": above, "output": sums}
        if heads:
            scratch[f"{sums}_heads"] = Space(U32, groups, written=True)
            bindings |= {"heads": flags, "heads_out": f"{sums}_heads"}
        at = replace(scanning, truth=truth and len(levels) == 1)
        steps.append(Step(_totals(at), groups, bindings, (1, tile)))
        levels.append((groups, sums, f"{sums}_heads" if heads else ""))
    starts = ""
    for level in reversed(range(len(levels))):
        length, name, flags = levels[level]
        bottom = level == 0
        output = target if bottom else f"{target}_starts{level}"
        if not bottom:
            scratch[output] = Space(element, length, written=True)
        at = replace(scanning, truth=truth and bottom)
        program = sweep_program(at, inclusive=inclusive and bottom, carried=not bottom)
        bindings = {"input": name, "output": output, "starts": starts or f"{target}_none"}
        if heads:
            bindings["heads"] = flags
        steps.append(Step(program, groups_for(length, tile), bindings, (int(bool(starts)), tile)))
        starts = output
    return steps, scratch


def _totals(scanning: Scanning) -> Program:
    """Elements are read in rows where their order does not matter."""
    if scanning.op.commutes and not scanning.segmented and not scanning.walks:
        return fold_program(scanning.op, scanning.shape, truth=scanning.truth)
    return totals_program(scanning)


@lru_cache(maxsize=64)
def scan_engine(
    op: str | Monoid = "add", *, inclusive: bool = True, segmented: bool = False, shape: Shape | None = None
) -> Engine:
    """As many results as there are elements; `heads` of a segmented scan say where it starts anew."""
    cut = shape or Shape()
    joins = monoid(op) if isinstance(op, str) else op
    inputs = {"input": joins.element} | ({"heads": U32} if segmented else {})

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        outputs = {"output": Space(joins.element, count, written=bool(count))}
        if not count:
            return Plan(outputs, ())
        heads = "heads" if segmented else ""
        steps, scratch = scan_steps(joins, cut, count, "input", "output", inclusive=inclusive, heads=heads)
        return Plan(outputs, tuple(steps), scratch)

    return Engine("scan", inputs, plan, cut)
