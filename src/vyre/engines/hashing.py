"""Hash tables: `build` puts the numbers of keys into slots, `find` looks keys up.

A slot holds 0, or 1 and the number of a key. Which slot a key gets depends on who came first; what is found
does not: of equal keys the table holds the lowest number. A table has at least twice as many slots as keys,
and no search takes more steps than it has slots.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import U32, param
from vyre.engines.order import Order
from vyre.engines.plan import Engine, Plan, Shape, SlotPart, Space
from vyre.engines.runs import NOTHING, I, filled, over, step_over
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, Lane, LitU32, Var
from vyre.ir.node import Assign, Break, If, Let, Loop, Store
from vyre.ir.operators import AtomicOp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.engines.plan import Bound, Step
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.ir.program import Program
    from vyre.ir.types import DataType

ABSENT = 0xFFFF_FFFF
"""What is found for a key that the table does not have."""
_SLOT, _HELD, _KEY = Var("slot"), Var("held"), Var("key")


def slots_for(count: int) -> int:
    """A power of two, at least twice the number of keys."""
    return 1 << (2 * max(count, 1) - 1).bit_length()


def _hashed(order: Order, key: Expr) -> Expr:
    """A number that every bit of the key changes: multiplications, with their upper halves mixed in."""
    mixed: Expr | None = None
    words = (key,) if order.carrier is U32 else (Lane(key, 0), Lane(key, 1))
    for word in words:
        given = word if mixed is None else word ^ mixed
        step = given * LitU32(0x9E37_79B1)
        step = (step ^ (step >> LitU32(15))) * LitU32(0x85EB_CA77)
        mixed = step ^ (step >> LitU32(13))
    assert mixed is not None
    return mixed


def _searched(order: Order, key: Expr, turn: list[Node]) -> list[Node]:
    """Goes from slot to slot, at most `param(0)`, a power of two, until `turn` breaks."""
    mask = param(0) - LitU32(1)
    onward = Assign("slot", (_SLOT + LitU32(1)) & mask)
    return [
        Let("key", key),
        Let("slot", _hashed(order, _KEY) & mask),
        Loop("turn", LitU32(0), param(0), [*turn, onward]),
    ]


@cache
def build_program(order: Order, shape: Shape) -> Program:
    keys = BufferDecl.read("input", 0, order.carrier)
    slots = BufferDecl.read_write("output", 1, U32)
    mine = I + LitU32(1)
    taken = Atomic(AtomicOp.CompareExchange, "output", _SLOT, mine, LitU32(0))
    lowest = Let("other", Atomic(AtomicOp.Min, "output", _SLOT, mine))
    equal = order.differ(_KEY, keys[_HELD - LitU32(1)]).eq(0)
    turn: list[Node] = [
        Let("held", taken),
        If(_HELD.eq(0), [Break()]),
        If(equal, [lowest, Break()]),
    ]
    return over(shape, keys.length, _searched(order, keys[I], turn), (keys, slots))


@cache
def find_program(order: Order, shape: Shape) -> Program:
    queries, keys = BufferDecl.read("input", 0, order.carrier), BufferDecl.read("keys", 1, order.carrier)
    slots = BufferDecl.read("slots", 2, U32)
    output = BufferDecl.read_write("output", 3, U32)
    equal = order.differ(_KEY, keys[_HELD - LitU32(1)]).eq(0)
    turn: list[Node] = [
        Let("held", slots[_SLOT]),
        If(_HELD.eq(0), [Break()]),
        If(equal, [Assign("found", _HELD - LitU32(1)), Break()]),
    ]
    body = [
        Let("found", LitU32(ABSENT)),
        *_searched(order, queries[I], turn),
        Store("output", I, Var("found")),
    ]
    return over(shape, queries.length, body, (queries, keys, slots, output))


def _build_steps(order: Order, shape: Shape, count: int, keys: str, slots: str) -> list[Step]:
    """Clears the slots, and puts the keys into them."""
    size = slots_for(count)
    bindings: dict[str, Bound] = {"input": SlotPart(keys, order.carrier, count), "output": slots}
    put = step_over(build_program(order, shape), shape, count, bindings, (size,))
    return [filled(shape, size, slots, 0), put] if count else [filled(shape, size, slots, 0)]


def _find_steps(order: Order, shape: Shape, count: int, keys: int, slots: int) -> list[Step]:
    """Looks up `input` in `keys`."""
    if not count or not keys:
        return [filled(shape, count, "output", ABSENT)] if count else []
    sizes = {"input": count, "keys": keys}
    bindings: dict[str, Bound] = {name: SlotPart(name, order.carrier, n) for name, n in sizes.items()}
    bindings |= {"slots": "slots", "output": "output"}
    return [step_over(find_program(order, shape), shape, count, bindings, (slots,))]


@lru_cache(maxsize=64)
def build_engine(key: DataType, *, shape: Shape | None = None) -> Engine:
    """The slots of a table of the keys `input`."""
    cut, order = shape or Shape(), Order(key)

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        output = {"output": Space(U32, slots_for(count), written=True)}
        return Plan(output, tuple(_build_steps(order, cut, count, "input", "output")), NOTHING)

    return Engine("hash_build", {"input": key}, plan, cut)


@lru_cache(maxsize=64)
def find_engine(key: DataType, *, shape: Shape | None = None) -> Engine:
    """For each of `input` the lowest number of an equal one of `keys`, or `ABSENT`."""
    cut, order = shape or Shape(), Order(key)

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        output = {"output": Space(U32, count, written=bool(count))}
        return Plan(output, tuple(_find_steps(order, cut, count, lengths["keys"], lengths["slots"])), NOTHING)

    return Engine("hash_find", {"input": key, "keys": key, "slots": U32}, plan, cut)


@lru_cache(maxsize=64)
def table_engine(key: DataType, *, shape: Shape | None = None) -> Engine:
    """The same with a table that is built for this one use."""
    cut, order = shape or Shape(), Order(key)

    def plan(lengths: Mapping[str, int]) -> Plan:
        count, keys = lengths["input"], lengths["keys"]
        slots = slots_for(keys)
        steps = _build_steps(order, cut, keys, "keys", "slots")
        steps += _find_steps(order, cut, count, keys, slots)
        output = {"output": Space(U32, count, written=bool(count))}
        return Plan(output, tuple(steps), NOTHING | {"slots": Space(U32, slots, written=True)})

    return Engine("hash", {"input": key, "keys": key}, plan, cut)
