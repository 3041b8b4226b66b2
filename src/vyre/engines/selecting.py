"""`top_k`: the greatest elements and where they stand. NaN is greatest; of equals the first comes first."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vyre.engines.digits import Sorting
from vyre.engines.kernels import U32
from vyre.engines.order import Order
from vyre.engines.plan import Engine, Plan, Shape, SlotPart, Space
from vyre.engines.radix import fitting, sort_steps
from vyre.engines.runs import I, over, step_over
from vyre.ir.buffers import BufferDecl
from vyre.ir.node import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.engines.plan import Bound
    from vyre.ir.program import Program
    from vyre.ir.types import DataType


@cache
def first_program(carrier: DataType, shape: Shape) -> Program:
    """The first keys and their numbers, as many as the output has."""
    keys, numbers = BufferDecl.read("input", 0, carrier), BufferDecl.read("numbers", 1, U32)
    output, indices = BufferDecl.read_write("output", 2, carrier), BufferDecl.read_write("indices", 3, U32)
    body = [Store("output", I, keys[I]), Store("indices", I, numbers[I])]
    return over(shape, output.length, body, (keys, numbers, output, indices))


@lru_cache(maxsize=64)
def top_engine(key: DataType, k: int, *, least: bool = False, shape: Shape | None = None) -> Engine:
    """The `k` greatest (or least) of `input`, or all, into `output`; their numbers into `indices`."""
    order = Order(key, descending=not least, numeric=True)
    cut = fitting(shape or Shape(128, 16), order.carrier, U32)
    sorting = Sorting(order, cut, U32, numbered=True)

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        most = min(k, count)
        outputs = {
            "output": Space(key, most, written=bool(most)),
            "indices": Space(U32, most, written=bool(most)),
        }
        if not most:
            return Plan(outputs, ())
        names = {"input": "input", "output": "sorted", "taken": "numbers"}
        steps, scratch = sort_steps(sorting, count, names)
        scratch["sorted"] = Space(order.carrier, count, written=True)
        scratch["numbers"] = Space(U32, count, written=True)
        bindings: dict[str, Bound] = {
            "input": "sorted",
            "numbers": "numbers",
            "output": SlotPart("output", order.carrier, most),
            "indices": "indices",
        }
        taken = step_over(first_program(order.carrier, cut), cut, most, bindings)
        return Plan(outputs, (*steps, taken), scratch)

    return Engine("top_k", {"input": key}, plan, cut)
