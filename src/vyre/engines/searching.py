"""`searchsorted`, `merge` and the set operations: what is found by halving sorted arrays.

The number of halvings follows from the length, so every search takes the same number of steps.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import U32, param
from vyre.engines.keyed import heads_step
from vyre.engines.order import Order
from vyre.engines.plan import Engine, Plan, Shape, SlotPart, Space
from vyre.engines.runs import NOTHING, I, filled, kept_steps, over, step_over
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import LitU32, Select, Var
from vyre.ir.node import Assign, Let, Loop, Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.engines.plan import Bound, Step
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.ir.program import Program
    from vyre.ir.types import DataType

_LOW, _HIGH, _MIDDLE = Var("low"), Var("high"), Var("middle")


def halved(order: Order, table: BufferDecl, key: Expr, right: Expr | int) -> list[Node]:
    """Names the first place at which `key` can stand in `table` `low`; the last one where `right` is not 0.

    `param(0)` is the number of halvings.
    """
    before = order.less(Var("found"), key)
    behind = order.less(key, Var("found")).eq(0)
    chosen = (behind if right else before) if isinstance(right, int) else Select(right, behind, before)
    turn: list[Node] = [
        Let("middle", _LOW + ((_HIGH - _LOW) >> LitU32(1))),
        Let("found", table[_MIDDLE]),
        Let("up", (_LOW < _HIGH) & chosen.ne(0)),
        Assign("high", Select(Var("up") | (_LOW >= _HIGH), _HIGH, _MIDDLE)),
        Assign("low", Select(Var("up"), _MIDDLE + LitU32(1), _LOW)),
    ]
    return [Let("low", LitU32(0)), Let("high", table.length), Loop("turn", LitU32(0), param(0), turn)]


@cache
def search_program(order: Order, shape: Shape, *, right: bool) -> Program:
    table = BufferDecl.read("table", 0, order.carrier)
    keys = BufferDecl.read("input", 1, order.carrier)
    output = BufferDecl.read_write("output", 2, U32)
    body = [Let("key", keys[I]), *halved(order, table, Var("key"), int(right)), Store("output", I, _LOW)]
    return over(shape, keys.length, body, (table, keys, output))


@lru_cache(maxsize=64)
def search_engine(key: DataType, *, right: bool = False, shape: Shape | None = None) -> Engine:
    """Where each key of `input` can stand in the sorted `table`, before its equals or after them."""
    cut, order = shape or Shape(), Order(key)

    def plan(lengths: Mapping[str, int]) -> Plan:
        count, size = lengths["input"], lengths["table"]
        output = {"output": Space(U32, count, written=bool(count))}
        if not count or not size:
            return Plan(output, (filled(cut, count, "output", 0),) if count else (), NOTHING)
        bindings = _seen(order, {"table": size, "input": count}) | {"output": "output"}
        program = search_program(order, cut, right=right)
        return Plan(output, (step_over(program, cut, count, bindings, (size.bit_length(),)),))

    return Engine("searchsorted", {"table": key, "input": key}, plan, cut)


@cache
def merge_program(order: Order, shape: Shape) -> Program:
    """A key goes to its own number and that of the keys of `table` before it; `param(1)` counts equals."""
    table = BufferDecl.read("table", 0, order.carrier)
    keys = BufferDecl.read("input", 1, order.carrier)
    output = BufferDecl.read_write("output", 2, order.carrier)
    body = [
        Let("key", keys[I]),
        *halved(order, table, Var("key"), param(1)),
        Store("output", I + _LOW, Var("key")),
    ]
    return over(shape, keys.length, body, (table, keys, output))


@lru_cache(maxsize=64)
def merge_engine(key: DataType, *, shape: Shape | None = None) -> Engine:
    """The keys of the sorted `input` and `other` in order; of equal ones those of `input` come first."""
    cut, order = shape or Shape(), Order(key)

    def plan(lengths: Mapping[str, int]) -> Plan:
        sizes = {"input": lengths["input"], "other": lengths["other"]}
        total = sum(sizes.values())
        steps: list[Step] = []
        for name, table, right in (("input", "other", 0), ("other", "input", 1)):
            if sizes[name]:
                # A table of no keys is not looked into, and not every device binds one.
                searched = table if sizes[table] else name
                bindings: dict[str, Bound] = {
                    "table": SlotPart(searched, order.carrier, sizes[searched]),
                    "input": SlotPart(name, order.carrier, sizes[name]),
                    "output": SlotPart("output", order.carrier, total),
                }
                params = (sizes[table].bit_length(), right)
                steps.append(step_over(merge_program(order, cut), cut, sizes[name], bindings, params))
        return Plan({"output": Space(key, total, written=bool(total))}, tuple(steps))

    return Engine("merge", {"input": key, "other": key}, plan, cut)


@cache
def member_program(order: Order, shape: Shape) -> Program:
    """Flags the first of equal keys where it is in `table`, or where `param(1)` is set, where it is not."""
    table = BufferDecl.read("table", 0, order.carrier)
    keys = BufferDecl.read("input", 1, order.carrier)
    output = BufferDecl.read_write("output", 2, U32)
    first = I.eq(0) | order.differ(Var("key"), keys[I - LitU32(1)]).ne(0)
    inside = (table.length > _LOW) & order.differ(Var("key"), table[_LOW]).eq(0)
    body: list[Node] = [
        Let("key", keys[I]),
        *halved(order, table, Var("key"), 0),
        Store("output", I, first & (inside ^ param(1))),
    ]
    return over(shape, keys.length, body, (table, keys, output))


@lru_cache(maxsize=64)
def member_engine(key: DataType, *, inside: bool, shape: Shape | None = None) -> Engine:
    """Every key of the sorted `input` that is (or is not) in the sorted `table`, once."""
    cut, order = shape or Shape(), Order(key)

    def plan(lengths: Mapping[str, int]) -> Plan:
        count, size = lengths["input"], lengths["table"]
        if not count or (inside and not size):
            return Plan({"output": Space(key, 0)}, ())
        steps, scratch, kept = kept_steps(order.carrier, cut, count, "input", "flags", "output")
        scratch["flags"] = Space(U32, count, written=True)
        bindings = _seen(order, {"table": size, "input": count}) | {"output": "flags"}
        params = (size.bit_length(), int(not inside))
        flag = step_over(member_program(order, cut), cut, count, bindings, params)
        if not size:
            flag = heads_step(order, cut, count, "input", "flags")
        return Plan({"output": Space(key, kept, written=True)}, (flag, *steps), scratch)

    return Engine("members", {"table": key, "input": key}, plan, cut)


def _seen(order: Order, lengths: Mapping[str, int]) -> dict[str, Bound]:
    return {name: SlotPart(name, order.carrier, length) for name, length in lengths.items()}
