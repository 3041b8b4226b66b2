"""`gather`, `scatter` and `partition`: elements brought to other places."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import U32
from vyre.engines.order import carrier_of
from vyre.engines.plan import Engine, Plan, Shape, SlotPart, Space
from vyre.engines.runs import NOTHING, I, counted_places, filled, over, step_over
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, LitU32, Select, Var
from vyre.ir.node import Let, Store
from vyre.ir.operators import AtomicOp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.engines.plan import Bound
    from vyre.ir.program import Program
    from vyre.ir.types import DataType


@cache
def gather_program(carrier: DataType, shape: Shape) -> Program:
    """Element i is `input[indices[i]]`; a load past the end gives zero."""
    values, indices = BufferDecl.read("input", 0, carrier), BufferDecl.read("indices", 1, U32)
    output = BufferDecl.read_write("output", 2, carrier)
    return over(shape, indices.length, [Store("output", I, values[indices[I]])], (values, indices, output))


@lru_cache(maxsize=64)
def gather_engine(element: DataType, *, shape: Shape | None = None) -> Engine:
    """`output[i] = input[indices[i]]`, or 0 where there is no such element."""
    cut, carrier = shape or Shape(), carrier_of(element)

    def plan(lengths: Mapping[str, int]) -> Plan:
        count, size = lengths["indices"], lengths["input"]
        if not count:
            return Plan({"output": Space(element, 0)}, ())
        if not size:
            words = count * element.stride // 4
            zeros = filled(cut, words, SlotPart("output", U32, words), 0)
            return Plan({"output": Space(element, count, written=True)}, (zeros,), NOTHING)
        bindings: dict[str, Bound] = {
            "input": SlotPart("input", carrier, size),
            "indices": "indices",
            "output": SlotPart("output", carrier, count),
        }
        step = step_over(gather_program(carrier, cut), cut, count, bindings)
        return Plan({"output": Space(element, count, written=True)}, (step,))

    return Engine("gather", {"input": element, "indices": U32}, plan, cut)


@cache
def claim_program(shape: Shape) -> Program:
    """Every place learns the number, from 1 on, of the last element that goes there."""
    indices = BufferDecl.read("indices", 0, U32)
    winners = BufferDecl.read_write("output", 1, U32)
    claim = Let("old", Atomic(AtomicOp.Max, "output", indices[I], I + LitU32(1)))
    return over(shape, indices.length, [claim], (indices, winners))


@cache
def settle_program(carrier: DataType, shape: Shape) -> Program:
    """Every place takes what it was claimed by, or keeps what `into` has there."""
    values, into = BufferDecl.read("input", 0, carrier), BufferDecl.read("into", 1, carrier)
    winners = BufferDecl.read("winners", 2, U32)
    output = BufferDecl.read_write("output", 3, carrier)
    winner = Var("winner")
    body = [
        Let("winner", winners[I]),
        Store("output", I, Select(winner, values[winner - LitU32(1)], into[I])),
    ]
    return over(shape, into.length, body, (values, into, winners, output))


@lru_cache(maxsize=64)
def scatter_engine(element: DataType, *, shape: Shape | None = None) -> Engine:
    """`into` with `input[i]` at `indices[i]`; the last of several stays, one past the end is dropped."""
    cut, carrier = shape or Shape(), carrier_of(element)

    def plan(lengths: Mapping[str, int]) -> Plan:
        count, size = lengths["input"], lengths["into"]
        output = {"output": Space(element, size, written=bool(size))}
        if not size:
            return Plan(output, ())
        sizes = {"input": count, "into": size, "output": size}
        bindings: dict[str, Bound] = {name: SlotPart(name, carrier, n) for name, n in sizes.items()}
        if not count:
            bindings["input"] = bindings["into"]  # nothing is taken from it
        claim = step_over(claim_program(cut), cut, count, {"indices": "indices", "output": "winners"})
        settle = step_over(settle_program(carrier, cut), cut, size, bindings | {"winners": "winners"})
        return Plan(output, (claim, settle) if count else (settle,), {"winners": Space(U32, size)})

    return Engine("scatter", {"input": element, "indices": U32, "into": element}, plan, cut)


@cache
def part_program(carrier: DataType, shape: Shape) -> Program:
    """An element with its flag set goes to its place, another one behind all of those."""
    values = BufferDecl.read("input", 0, carrier)
    flags, places = BufferDecl.read("flags", 1, U32), BufferDecl.read("places", 2, U32)
    count = BufferDecl.read("count", 3, U32, count=1)
    output = BufferDecl.read_write("output", 4, carrier)
    place = Var("place")
    body = [
        Let("place", places[I]),
        Store("output", Select(flags[I], place, count[LitU32(0)] + I - place), values[I]),
    ]
    return over(shape, values.length, body, (values, flags, places, count, output))


@lru_cache(maxsize=64)
def partition_engine(element: DataType, *, shape: Shape | None = None) -> Engine:
    """The elements with their flag set, then the others, each in their order; `count` of them are set."""
    cut, carrier = shape or Shape(), carrier_of(element)

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        outputs = {
            "output": Space(element, count, written=bool(count)),
            "count": Space(U32, 1, () if count else (0,), written=bool(count)),
        }
        if not count:
            return Plan(outputs, ())
        steps, scratch, _ = counted_places(cut, count, "flags")
        del scratch["count"]
        bindings: dict[str, Bound] = {name: SlotPart(name, carrier, count) for name in ("input", "output")}
        bindings |= {name: name for name in ("flags", "places", "count")}
        put = step_over(part_program(carrier, cut), cut, count, bindings)
        return Plan(outputs, (*steps, put), scratch)

    return Engine("partition", {"input": element, "flags": U32}, plan, cut)
