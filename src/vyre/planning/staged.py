"""Reductions of few long rows in two stages, so that more than one workgroup has work.

In the tree of decision 9 aligned runs of a power of two are subtrees, and what is left at the end is one too.
So a row is cut into such runs, each is reduced in the accumulator, and then their results are: the same tree.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from math import prod
from typing import TYPE_CHECKING

from vyre.graph.graph import Graph
from vyre.graph.nodes import Concat, Joining, Reduce, Reshape, Slice
from vyre.graph.sizes import Size
from vyre.ir.operators import ReduceOrder
from vyre.planning.joins import MOVES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.graph.nodes import GraphNode

LONG = 1 << 16
"""Elements of a row from which on it is worth two stages."""
PARTS = 256
"""Runs of all rows together that are aimed at: below the number from which on an invocation takes a row."""
LEAST = 1 << 12
"""Elements of a run."""
TEAM_PARTS = 1 << 12
"""The same as `PARTS` where a team takes a row, however many there are."""
_ARGUMENTS = (Joining.ArgMin, Joining.ArgMax)


def staged(graph: Graph, *, team: bool = False) -> Graph:
    """The same values from the same inputs, few long rows of known length reduced in two stages."""
    parts = TEAM_PARTS if team else PARTS
    cut = {
        name: run
        for name, node in graph.values
        if isinstance(node, Reduce) and (run := _run_of(graph, node, parts)) is not None
    }
    if not cut:
        return graph
    names = (name for name in map("stage{}".format, count()) if name not in graph.nodes)
    values: dict[str, GraphNode] = {}
    for name, node in graph.values:
        run = cut.get(name)
        values[name] = node if run is None else _twice(graph, node, run, names, values)
    return Graph(values, graph.outputs)


def _run_of(graph: Graph, node: Reduce, parts: int) -> int | None:
    """How long the runs of a reduction are; None where it is not cut."""
    if node.joining in _ARGUMENTS or node.order is ReduceOrder.Strict:
        return None
    if node.axes != tuple(range(node.axes[0], node.axes[-1] + 1)):
        return None
    shape = [size.static for size in graph.types[node.source].shape]
    if None in shape or 0 in shape:
        return None
    length = prod(shape[axis] or 1 for axis in node.axes)
    rows = prod(size or 1 for size in shape) // length
    if length < LONG or rows * 2 > parts:
        return None
    run = max(LEAST, 1 << (-(-length * rows // parts) - 1).bit_length())
    return run if length >= 2 * run else None


def _twice(
    graph: Graph, node: GraphNode, run: int, names: Iterator[str], values: dict[str, GraphNode]
) -> Reduce:
    assert isinstance(node, Reduce)

    def add(made: GraphNode) -> str:
        name = next(names)
        values[name] = made
        return name

    shape = graph.types[node.source].shape
    axis = node.axes[0]
    before, after = shape[:axis], shape[node.axes[-1] + 1 :]
    length = prod(shape[k].static or 1 for k in node.axes)
    number, rest = divmod(length, run)
    kept = graph.types[node.source].element if node.joining in MOVES else node.accumulator
    first = replace(node, element=kept, axes=(axis,))
    row = node.source if len(node.axes) == 1 else add(Reshape(node.source, (*before, Size(length), *after)))

    def part(start: int, stop: int) -> str:
        if not rest:
            return row
        starts, stops = ([*(Size(0) for _ in before), Size(start)], [*before, Size(stop)])
        steps = (1,) * (len(before) + 1 + len(after))
        return add(Slice(row, (*starts, *(Size(0) for _ in after)), (*stops, *after), steps))

    runs = add(Reshape(part(0, number * run), (*before, Size(number), Size(run), *after)))
    parts = add(replace(first, source=runs, axes=(axis + 1,)))
    if rest:
        last = add(replace(first, source=part(number * run, length)))
        parts = add(Concat((parts, add(Reshape(last, (*before, Size(1), *after)))), axis))
    return replace(node, source=parts, axes=(axis,))
