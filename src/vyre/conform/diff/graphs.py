"""A graph by the evaluator and by something else that runs graphs: the first element in which they differ.

A case that differs is made small: values are given instead of computed as long as the difference stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.storage import STORAGE, array_of_bits, bits_of
from vyre.errors import ValidationError
from vyre.graph import Graph, Input
from vyre.ir.types import DataType
from vyre.reference.tensors import Elements, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from vyre.graph import GraphNode

    Run = Callable[[Graph, Mapping[str, NDArray[Any]]], Mapping[str, NDArray[Any]]]
    """Arrays in, arrays out, as the planner's `run_graph`."""


@dataclass(frozen=True, slots=True)
class GraphDifference:
    """The first element that differs; `place` is None where the shape or the width does."""

    output: str
    place: tuple[int, ...] | None
    expected: str
    found: str

    def __str__(self) -> str:
        where = self.output if self.place is None else f"{self.output}{list(self.place)}"
        return f"{where} is {self.found}, and the evaluator says {self.expected}"


@dataclass(frozen=True, slots=True)
class GraphCase:
    """A graph with its inputs."""

    graph: Graph
    inputs: Mapping[str, Elements]


def arrays_of(case: GraphCase) -> dict[str, NDArray[Any]]:
    """The inputs as arrays that hold their elements."""
    types = case.graph.inputs
    return {
        name: array_of_bits(types[name].element, given.bits, given.shape)
        for name, given in case.inputs.items()
    }


def first_difference(
    case: GraphCase, run: Run, *, expected: Mapping[str, Elements] | None = None
) -> GraphDifference | None:
    """None where all outputs have the bits that the evaluator gives, or gave before."""
    if expected is None:
        expected = evaluate(case.graph, case.inputs)
    found = run(case.graph, arrays_of(case))
    for name, wanted in expected.items():
        element = case.graph.types[name].element
        given = found[name]
        shape = f"{given.dtype} {list(given.shape)}"
        width = DataType.Bool.stride if given.dtype == np.bool_ else given.itemsize
        if given.shape != wanted.shape or width != element.stride:
            return GraphDifference(name, None, f"{element.value} {list(wanted.shape)}", shape)
        for index, (want, have) in enumerate(zip(wanted.bits, bits_of(given), strict=True)):
            if want != have:
                place = tuple(int(c) for c in np.unravel_index(index, wanted.shape))
                return GraphDifference(name, place, _shown(element, want), _shown(element, have))
    return None


def _shown(element: DataType, bits: int) -> str:
    dtype = STORAGE[element]
    plain = element is DataType.BF16 or not element.is_float
    number = "" if plain else f" ({array_of_bits(element, [bits], (1,))[0]})"
    return f"{bits:#0{2 + dtype.itemsize * 2}x}{number}"


def smallest(case: GraphCase, differs: Callable[[GraphCase], bool]) -> GraphCase:
    """The smallest case found that still differs: one output, and values given where computing them is not
    needed for the difference."""
    for name in case.graph.outputs:
        alone = _pruned(case.graph.values, [name], case.inputs)
        if len(case.graph.outputs) > 1 and differs(alone):
            case = alone
            break
    known = evaluate(Graph(case.graph.values, case.graph.nodes), case.inputs)
    # From the last to the first: what is cut early takes the most with it.
    for name, node in reversed(case.graph.values):
        if name in case.graph.outputs or isinstance(node, Input) or name not in case.graph.nodes:
            continue
        given = Input(case.graph.types[name])
        values = [(n, given if n == name else other) for n, other in case.graph.values]
        cut = _pruned(values, case.graph.outputs, {**case.inputs, name: known[name]})
        if differs(cut):
            case = cut
    return case


def _pruned(
    values: Iterable[tuple[str, GraphNode]], outputs: Iterable[str], inputs: Mapping[str, Elements]
) -> GraphCase:
    """Only what the outputs need; all inputs where one of them names a dimension that the others do not."""
    pairs, wanted = list(values), tuple(outputs)
    needed = set(wanted)
    for name, node in reversed(pairs):
        if name in needed:
            needed.update(node.operands)
    graph = Graph([pair for pair in pairs if pair[0] in needed], wanted)
    try:
        _ = graph.types
    except ValidationError:
        graph = Graph([p for p in pairs if p[0] in needed or isinstance(p[1], Input)], wanted)
    return GraphCase(graph, {name: inputs[name] for name in graph.inputs})
