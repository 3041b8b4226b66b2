"""`sort`: keys in order, and what goes with them, by a stable radix sort from the lowest digit up."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from vyre.engines.digits import Sorting, count_program, place_program
from vyre.engines.kernels import U32
from vyre.engines.order import Order, carrier_of
from vyre.engines.plan import Engine, Plan, Shape, SlotPart, Space, Step, groups_for
from vyre.engines.prefix import scan_steps
from vyre.engines.ranks import MOST_ITEMS, Ranks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.types import DataType

_TILE_BYTES = 14 << 10
"""Workgroup memory of a tile: every device has 16 KiB, and the starts of the digits take one."""
_MOST_WALKS = 16
"""Tiles of one invocation: enough for the cores that memory can feed; every one costs a row of counts."""
_MOST_TURNS = 16
_BUSY = 1 << 12
"""Workgroups after which more turns leave no core idle."""
_SHORTEST_WALK = 1 << 14


def fitting(shape: Shape, key: DataType, payload: DataType | None, room: int = _TILE_BYTES) -> Shape:
    """The shape with as many items as the memory of a workgroup holds."""
    if shape.lanes > 1:
        shape = replace(shape, items=min(shape.items, MOST_ITEMS))
        while shape.items > 1 and Ranks.bytes(shape, key, payload) > room:
            shape = replace(shape, items=shape.items // 2)
    return shape


def turns_of(count: int, shape: Shape) -> int:
    """Turns of a tile: every tile costs a row of counts, and there are enough to keep the device busy."""
    if shape.lanes == 1:
        return shape.turns or groups_for(max(groups_for(count, _MOST_WALKS), _SHORTEST_WALK), shape.items)
    turns = shape.turns or 1
    while not shape.turns and turns < _MOST_TURNS and count > _BUSY * shape.lanes * shape.items * turns:
        turns *= 2
    return turns


def sort_steps(sorting: Sorting, count: int, names: Mapping[str, str]) -> tuple[list[Step], dict[str, Space]]:
    """The steps that sort `names["input"]` into `names["output"]`, and payloads `given` into `taken`."""
    carrier, payload, shape = sorting.order.carrier, sorting.payload, sorting.shape
    turns = turns_of(count, shape)
    tiles = groups_for(count, sorting.tile * turns)
    passes = [(shift, word) for word in range(carrier.stride // 4) for shift in range(0, 32, sorting.bits)]
    scratch = {"sort_keys": Space(carrier, count, written=True)}
    if payload is not None:
        scratch["sort_payload"] = Space(payload, count, written=True)
    table = Space(U32, sorting.bins * tiles, written=True)
    scratch |= {"sort_counts": table, "sort_starts": table}
    steps: list[Step] = []
    keys, held = names["input"], names.get("given", "")
    for number, chosen in enumerate(passes):
        first = number == 0
        # The passes go to and fro between the output and one more buffer, and end in the output.
        to_keys, to_held = "sort_keys", "sort_payload"
        if (len(passes) - number) % 2:
            to_keys, to_held = names["output"], names.get("taken", "")
        params = (*chosen, turns)
        source = SlotPart(keys, carrier, count)
        counted = {"input": source, "output": "sort_counts"}
        steps.append(Step(count_program(sorting), tiles, counted, params))
        scanned, more = scan_steps(
            "add", shape_of_scan(shape), sorting.bins * tiles, "sort_counts", "sort_starts", inclusive=False
        )
        steps += scanned
        scratch |= more
        bindings = {"input": source, "output": SlotPart(to_keys, carrier, count), "starts": "sort_starts"}
        if payload is not None:
            bindings["taken"] = SlotPart(to_held, payload, count)
            if not (first and sorting.numbered):
                bindings["given"] = SlotPart(held, payload, count)
        steps.append(Step(place_program(sorting, first=first), tiles, bindings, params))
        keys, held = to_keys, to_held
    return steps, scratch


def shape_of_scan(shape: Shape) -> Shape:
    """How the counts are scanned: by the same lanes, each of which takes at least four."""
    return replace(shape, items=max(shape.items, 4), turns=0)


@lru_cache(maxsize=64)
def sort_engine(
    key: DataType,
    value: DataType | None = None,
    *,
    numbered: bool = False,
    descending: bool = False,
    shape: Shape | None = None,
) -> Engine:
    """Keys `input` sorted into `output`; `values` go with them into `sorted_values`.

    `numbered` makes the values the numbers of the keys: there is no input then, and `sorted_values` are the
    places from which the keys were taken.
    """
    order = Order(key, descending)
    held = U32 if numbered else value
    payload = None if held is None else carrier_of(held)
    cut = fitting(shape or Shape(128, 16), order.carrier, payload)
    sorting = Sorting(order, cut, payload, numbered)
    inputs = {"input": key} if value is None or numbered else {"input": key, "values": value}

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        outputs = {"output": Space(key, count, written=bool(count))}
        if held is not None:
            outputs["sorted_values"] = Space(held, count, written=bool(count))
        if not count:
            return Plan(outputs, ())
        names = {"input": "input", "output": "output", "given": "values", "taken": "sorted_values"}
        steps, scratch = sort_steps(sorting, count, names)
        return Plan(outputs, tuple(steps), scratch)

    return Engine("sort", inputs, plan, cut)
