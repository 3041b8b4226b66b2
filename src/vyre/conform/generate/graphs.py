"""Random graphs: valid, alive and small, a pure function of a seed.

Every node, element type, accumulator and order is met, ranks from 0 to 4 and sizes 0 and 1 among them.
Dynamic dimensions come with two lengths each. Every value reaches an output.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from vyre.conform.generate.graph_inputs import random_inputs, telling_inputs
from vyre.conform.generate.graph_nodes import GROW, element_wise, matmul
from vyre.conform.generate.graph_values import Growth
from vyre.graph import Graph, Input, Size, ValueType
from vyre.graph.types import ELEMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.types import DataType

__all__ = ["random_graph", "random_inputs", "random_sizes", "telling_inputs"]

_DIMS = ("n", "m", "seq")
_LENGTHS = (1, 2, 3, 3, 4, 5, 6, 7, 9)
_LONG = (0, 17, 33, 70, 130, 260)
_WIDE = 3
"""How many times as many elements one graph in sixteen may have, so that tiles and workgroups are crossed."""


def random_graph(
    seed: int, *, elements: Sequence[DataType] = ELEMENTS, most_nodes: int = 12, most_elements: int = 500
) -> Graph:
    """The graph of this seed over these element types; most have values of at most `most_elements`."""
    rng = Random(f"vyre graphs {seed}")
    dims = _DIMS[: rng.choice((0, 1, 1, 2, 2, 3))]
    wide = rng.randrange(16) == 0
    most = _WIDE * most_elements if wide else most_elements
    growth = Growth(rng, elements, _lengths(seed), dims, most, wide=wide)
    for dim in dims:
        _add_input(growth, dim)
    if not dims or rng.randrange(2):
        _add_input(growth)
    if wide:
        matmul(growth)
    weights, ways = [weight for weight, _ in GROW], [way for _, way in GROW]
    wanted = rng.randrange(2, (most_nodes // 3 if wide else most_nodes) + 1)
    while sum(not isinstance(node, Input) for node in growth.nodes.values()) < wanted:
        rng.choices(ways, weights)[0](growth)
    while any(isinstance(growth.nodes[name], Input) for name in growth.free()) and rng.randrange(12):
        element_wise(growth)
    outputs = growth.free()
    outputs += [name for name in growth.nodes if name in growth.used and rng.randrange(12) == 0]
    rng.shuffle(outputs)
    return Graph(growth.nodes, outputs)


def random_sizes(graph: Graph, seed: int) -> tuple[dict[str, int], dict[str, int]]:
    """Two lengths of every dynamic dimension, for which the graph of this seed was made."""
    first, second = ({dim: lengths[dim] for dim in graph.dims} for lengths in _lengths(seed))
    return first, second


def _lengths(seed: int) -> tuple[dict[str, int], dict[str, int]]:
    rng = Random(f"vyre lengths of graphs {seed}")

    def drawn() -> dict[str, int]:
        return {dim: rng.choice(_LONG) if rng.randrange(10) == 0 else rng.choice(_LENGTHS) for dim in _DIMS}

    return drawn(), drawn()


def _add_input(growth: Growth, dim: str | None = None) -> None:
    """An input, one of its axes the dynamic dimension that it names."""
    rng = growth.rng
    while True:
        shape = list(growth.shape(0, 3))
        if dim is not None:
            shape.insert(rng.randrange(len(shape) + 1), Size(dim))
        if growth.add(Input(ValueType(growth.element(), shape))) is not None:
            return
