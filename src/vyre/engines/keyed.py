"""`unique` and `reduce_by_key`: one result for each run of equal keys, in their order."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import U32
from vyre.engines.order import Order
from vyre.engines.plan import Engine, Plan, Shape, SlotPart, Space
from vyre.engines.prefix import scan_steps
from vyre.engines.runs import I, counted_places, heads_program, kept_steps, over, step_over
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import LitU32, Var
from vyre.ir.node import If, Let, Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.engines.monoids import Monoid
    from vyre.engines.plan import Bound, Step
    from vyre.ir.program import Program
    from vyre.ir.types import DataType


def heads_step(order: Order, shape: Shape, count: int, keys: str, target: str) -> Step:
    """Flags the first key of every run."""
    bindings: dict[str, Bound] = {"input": SlotPart(keys, order.carrier, count), "output": target}
    return step_over(heads_program(order, shape), shape, count, bindings)


@lru_cache(maxsize=64)
def unique_engine(key: DataType, *, shape: Shape | None = None) -> Engine:
    """The first key of every run, into `output`; of sorted keys, every key once."""
    cut, order = shape or Shape(), Order(key)

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        if not count:
            return Plan({"output": Space(key, 0)}, ())
        steps, scratch, kept = kept_steps(order.carrier, cut, count, "input", "heads", "output")
        scratch["heads"] = Space(U32, count, written=True)
        first = heads_step(order, cut, count, "input", "heads")
        return Plan({"output": Space(key, kept, written=True)}, (first, *steps), scratch)

    return Engine("unique", {"input": key}, plan, cut)


@cache
def ends_program(order: Order, value: DataType, shape: Shape) -> Program:
    """The last element of a run puts its key, and what was joined up to it, in the place of the run."""
    keys = BufferDecl.read("input", 0, order.carrier)
    joined = BufferDecl.read("joined", 1, value)
    heads, places = BufferDecl.read("heads", 2, U32), BufferDecl.read("places", 3, U32)
    output = BufferDecl.read_write("output", 4, order.carrier)
    results = BufferDecl.read_write("results", 5, value)
    after = I + LitU32(1)
    ends = after.eq(keys.length) | heads[after]
    place = Let("place", places[I] + heads[I] - LitU32(1))
    stores = [place, Store("output", Var("place"), keys[I]), Store("results", Var("place"), joined[I])]
    return over(shape, keys.length, [If(ends, stores)], (keys, joined, heads, places, output, results))


@lru_cache(maxsize=64)
def by_key_engine(key: DataType, op: Monoid, *, shape: Shape | None = None) -> Engine:
    """For each run of equal keys its key, into `output`, and the join of its values, into `results`."""
    cut, order, value = shape or Shape(), Order(key), op.element

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        if not count:
            return Plan({"output": Space(key, 0), "results": Space(value, 0)}, ())
        joins, between = scan_steps(op, cut, count, "values", "joined", inclusive=True, heads="heads")
        places, scratch, kept = counted_places(cut, count, "heads")
        scratch |= between
        scratch |= {
            "heads": Space(U32, count, written=True),
            "joined": Space(value, count, written=True),
        }
        bindings: dict[str, Bound] = {
            "input": SlotPart("input", order.carrier, count),
            "output": SlotPart("output", order.carrier, count),
        }
        bindings |= {name: name for name in ("joined", "heads", "places", "results")}
        fill = step_over(ends_program(order, value, cut), cut, count, bindings)
        first = heads_step(order, cut, count, "input", "heads")
        outputs = {"output": Space(key, kept, written=True), "results": Space(value, kept, written=True)}
        return Plan(outputs, (first, *joins, *places, fill), scratch)

    return Engine("reduce_by_key", {"input": key, "values": value}, plan, cut)
