"""A graph cut along an axis: the graph of one piece, of whatever length, and how calls are pieced together.

All lengths of the call are known here, and the length of the piece is the one dynamic dimension. Values that
a piece needs whole are computed with each piece; the same value may be there whole and as a piece.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.storage import STORAGE
from vyre.graph.fields import FIELDS, OPERANDS, FieldKind
from vyre.graph.graph import Graph
from vyre.graph.nodes import Broadcast, Constant, Input, Iota, Reshape, Slice
from vyre.graph.sizes import Size
from vyre.graph.types import ValueType
from vyre.planning.needs import Along, NeedsAll, needs
from vyre.planning.pull import is_splat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from vyre.graph.nodes import GraphNode
    from vyre.planning.needs import Wanted

LENGTH = "piece"
"""The dimension that is the length of a piece."""


@dataclass(frozen=True, slots=True)
class Given:
    """An input of the graph of a piece: one of the caller's, or what `array` holds.

    Where a piece has several elements along its axis, they have an axis of their own behind it.
    """

    name: str
    along: Wanted
    array: NDArray[Any] | None = None

    def part(self, inputs: Mapping[str, Any], start: int, stop: int) -> Any:
        """The elements of pieces `start` to `stop - 1`."""
        whole = inputs[self.name] if self.array is None else self.array
        if self.along is None:
            return whole
        part = whole[sliced(self.along, start, stop)]
        k, unit = self.along.axis, self.along.unit
        return part if unit == 1 else part.reshape(*part.shape[:k], stop - start, unit, *part.shape[k + 1 :])


def sliced(along: Along, start: int, stop: int) -> tuple[slice, ...]:
    """The index of some pieces in the whole."""
    return (*(slice(None) for _ in range(along.axis)), slice(start * along.unit, stop * along.unit))


@dataclass(frozen=True, slots=True)
class CutGraph:
    """`count` pieces make the whole. `given` goes by the names of `graph`, `outputs` by the caller's."""

    graph: Graph
    count: int
    given: Mapping[str, Given]
    outputs: Mapping[str, tuple[str, Wanted]]


def cuts(graph: Graph, sizes: Mapping[str, int]) -> Iterator[CutGraph]:
    """The ways to cut a graph at these lengths, first along the axes of its outputs."""
    shapes = {name: of.resolved(sizes) for name, of in graph.types.items()}
    counts = dict.fromkeys(n for name in (*graph.outputs, *graph.inputs) for n in shapes[name] if n > 1)
    for count in counts:
        outputs = {name: _axis(graph, shapes, name, count) for name in graph.outputs}
        if any(along is not None for along in outputs.values()):
            made = _Pieces(graph, sizes, shapes, count, _wanted(graph, shapes, outputs)).made(outputs)
            if made is not None:
                yield made


def _axis(graph: Graph, shapes: Mapping[str, tuple[int, ...]], name: str, count: int) -> Wanted:
    """The first axis along which an output is made of so many pieces; None where there is none."""
    for axis, length in enumerate(shapes[name]):
        if length % count == 0 and length:
            along = Along(axis, length // count)
            try:
                _wanted(graph, shapes, {name: along})
            except NeedsAll:
                continue
            return along
    return None


def _wanted(
    graph: Graph, shapes: Mapping[str, tuple[int, ...]], outputs: Mapping[str, Wanted]
) -> dict[str, dict[Wanted, None]]:
    """What is needed of every value for these parts of the outputs. Raises `NeedsAll`."""
    found: dict[str, dict[Wanted, None]] = {name: {along: None} for name, along in outputs.items()}
    for name, node in reversed(graph.values):
        operands = [shapes[operand] for operand in node.operands]
        for along in found.get(name, ()):
            for operand, part in zip(node.operands, _parts(node, along, shapes[name], operands), strict=True):
                found.setdefault(operand, {})[part] = None
    return found


def _parts(
    node: GraphNode, along: Wanted, shape: tuple[int, ...], operands: Sequence[tuple[int, ...]]
) -> Sequence[Wanted]:
    if along is None or not operands:
        return [None] * len(operands)
    return needs(node, along, shape, operands)


class _Pieces:
    """The values of the graph of a piece, operands first."""

    def __init__(
        self,
        graph: Graph,
        sizes: Mapping[str, int],
        shapes: Mapping[str, tuple[int, ...]],
        count: int,
        wanted: Mapping[str, Mapping[Wanted, None]],
    ) -> None:
        self._graph, self._sizes, self._shapes = graph, sizes, shapes
        self._count, self._parts = count, wanted
        self._names: dict[tuple[str, Wanted], str] = {}
        self._values: dict[str, GraphNode] = {}
        self._given: dict[str, Given] = {}

    def made(self, outputs: Mapping[str, Wanted]) -> CutGraph | None:
        """None where no input tells the length of a piece."""
        for name, node in self._graph.values:
            for along in self._parts.get(name, ()):
                made = self._name(name, along)
                self._values[made] = self._node(made, name, node, along)
        if all(given.along is None for given in self._given.values()):
            return None
        named = {name: (self._names[name, along], along) for name, along in outputs.items()}
        graph = Graph(self._values, dict.fromkeys(made for made, _ in named.values()))
        return CutGraph(graph, self._count, self._given, named)

    def _name(self, name: str, along: Wanted) -> str:
        made = name if along is None else self._fresh(f"{name}_{along.axis}_{along.unit}")
        self._names[name, along] = made
        return made

    def _shape(self, name: str, along: Wanted) -> tuple[Size, ...]:
        shape = [Size(length) for length in self._shapes[name]]
        if along is not None:
            shape[along.axis] = Size(LENGTH) * along.unit
        return tuple(shape)

    def _node(self, made: str, name: str, node: GraphNode, along: Wanted) -> GraphNode:
        shape = self._shape(name, along)
        match node:
            case Input():
                return self._input(made, Given(name, along), node.type, shape)
            case Constant():
                return node if along is None else self._constant(made, name, node, along, shape)
            case Iota(axis=axis) if along is not None and axis == along.axis:
                numbers = np.arange(self._shapes[name][axis], dtype=STORAGE[node.type.element])
                lengths = [-1 if k == axis else 1 for k in range(len(shape))]
                whole = np.broadcast_to(numbers.reshape(lengths), self._shapes[name])
                return self._input(made, Given(name, along, whole), node.type, shape)
            case Iota():
                return replace(node, type=ValueType(node.type.element, shape))
            case _:
                return self._over(node, name, along, shape)

    def _input(self, made: str, given: Given, of: ValueType, shape: tuple[Size, ...]) -> GraphNode:
        along = given.along
        if along is None or along.unit == 1:
            self._given[made] = given
            return Input(ValueType(of.element, shape))
        apart = self._fresh(f"{made}_apart")
        self._given[apart] = given
        units = (Size(LENGTH), Size(along.unit))
        self._values[apart] = Input(
            ValueType(of.element, (*shape[: along.axis], *units, *shape[along.axis + 1 :]))
        )
        return Reshape(apart, shape)

    def _fresh(self, name: str) -> str:
        while name in self._graph.nodes or name in self._values:
            name += "_"
        return name

    def _constant(
        self, made: str, name: str, node: Constant, along: Along, shape: tuple[Size, ...]
    ) -> GraphNode:
        element = node.type.element
        if not is_splat(node):
            whole = np.frombuffer(node.data, STORAGE[element]).reshape(self._shapes[name])
            return self._input(made, Given(name, along, whole), node.type, shape)
        one = self._fresh(f"{made}_one")
        self._values[one] = Constant(ValueType(element), node.data[: element.stride])
        return Broadcast(one, shape)

    def _over(self, node: GraphNode, name: str, along: Wanted, shape: tuple[Size, ...]) -> GraphNode:
        """The node over parts of its operands, all sizes in numbers but the length of the piece."""
        operands = [self._shapes[operand] for operand in node.operands]
        parts = _parts(node, along, self._shapes[name], operands)
        named = iter([self._names[pair] for pair in zip(node.operands, parts, strict=True)])
        changed: dict[str, Any] = {}
        for field in FIELDS[type(node)]:
            value: Any = getattr(node, field.name)
            if field.kind is FieldKind.Operands:
                changed[field.name] = tuple(next(named) for _ in value)
            elif field.kind in OPERANDS:
                changed[field.name] = None if value is None else next(named)
            elif field.kind is FieldKind.Sizes:
                changed[field.name] = tuple(Size(size.value(self._sizes)) for size in value)
        if isinstance(node, Broadcast | Reshape):
            changed["shape"] = shape
        if isinstance(node, Slice) and along is not None:
            stops = list(changed["stops"])
            stops[along.axis] = shape[along.axis]
            changed["stops"] = tuple(stops)
        return replace(node, **changed)
