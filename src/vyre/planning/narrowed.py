"""Graphs whose values read no more buffers each than a device binds: wide concatenations are cut in parts."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from vyre.graph.graph import Graph
from vyre.graph.nodes import Concat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.graph.nodes import GraphNode


def narrowed(graph: Graph, most: int) -> Graph:
    """The same values from the same inputs, no `Concat` with more than `most` sources."""
    if not any(_is_wide(node, most) for _, node in graph.values):
        return graph
    names = (part for part in map("part{}".format, count()) if part not in graph.nodes)
    values: dict[str, GraphNode] = {}
    for name, node in graph.values:
        values[name] = _cut(node, most, names, values) if isinstance(node, Concat) else node
    return Graph(values, graph.outputs)


def _is_wide(node: GraphNode, most: int) -> bool:
    return isinstance(node, Concat) and len(set(node.sources)) > most


def _cut(node: Concat, most: int, names: Iterator[str], values: dict[str, GraphNode]) -> Concat:
    while _is_wide(node, most):
        parts: list[str] = []
        for start in range(0, len(node.sources), most):
            parts.append(next(names))
            values[parts[-1]] = Concat(node.sources[start : start + most], node.axis)
        node = Concat(tuple(parts), node.axis)
    return node
