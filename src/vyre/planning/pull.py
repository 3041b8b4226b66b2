"""The element of a value at a place: loaded where the value is stored, else computed from its operands.

A view only changes the place. Whatever is computed here is rounded as if it had been stored: an element
narrower than a word keeps its low bits, and a float has the type that the graph gave it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.element_rules import value_type
from vyre.graph.nodes import (
    Broadcast,
    Concat,
    Constant,
    Copy,
    ElementWise,
    Gather,
    Iota,
    Pad,
    Pick,
    Reshape,
    Slice,
    Transpose,
    Windows,
)
from vyre.graph.sizes import Size
from vyre.ir.expr import Cast, Expr, Lane, LitU32, Select, Var
from vyre.ir.types import DataType
from vyre.ir.walk import transform
from vyre.planning.draft import Draft, Place
from vyre.planning.numbers import ZERO, both, literal, plus, reloaded, times
from vyre.planning.reshaped import reshape_groups

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.graph.graph import Graph
    from vyre.graph.nodes import GraphNode

T = DataType


class Pull:
    """Reads values of a graph inside one program. `stored` says which of them lie in a buffer."""

    def __init__(self, graph: Graph, draft: Draft, stored: Callable[[str], bool]) -> None:
        self.graph = graph
        self.draft = draft
        self._stored = stored
        self.raw = False
        """Whether a stored F64 is read as its bits, for who needs no arithmetic on doubles."""

    def value(self, name: str, place: Place) -> Expr:
        """The element, of the type that is loaded for its value."""
        key = (name, place, self.raw) if self.raw else (name, place)
        found = self.draft.recall(key)
        if found is None:
            found = self.draft.let(self._made(name, place))
            self.draft.note(key, found)
        return found

    def four(self, name: str, place: Place) -> Expr:
        """The element and the three behind it as the lanes of one vector, where they lie in memory like that
        (`layout.lies_in_fours`)."""
        stored, at = self.spot(name, place)
        return self.draft.let(self.draft.read(stored, T.Vec4U32)[at >> LitU32(2)])

    def spot(self, name: str, place: Place) -> tuple[str, Expr]:
        """The stored value that views show, and the number of the element there."""
        if self._stored(name):
            return name, self.draft.flat(place)
        node = self.graph.nodes[name]
        if isinstance(node, Reshape):
            return self.spot(node.source, self._reshaped(place, self._shape(node.source)))
        assert isinstance(node, Transpose | Slice | Broadcast | Windows)
        coords = self._viewed(node, self.draft.coords(place))
        return self.spot(node.source, Place(self._shape(node.source), coords))

    def at(self, name: str, *coords: Expr) -> Expr:
        return self.value(name, Place(self.graph.types[name].shape, coords))

    def behind(self, name: str, coords: tuple[Expr, ...]) -> tuple[str, Place] | None:
        """The stored value that transposes show, and the place there; None for anything else."""
        while not self._stored(name):
            node = self.graph.nodes[name]
            if not isinstance(node, Transpose):
                return None
            coords = self._viewed(node, coords)
            name = node.source
        return name, Place(self._shape(name), coords)

    def _made(self, name: str, place: Place) -> Expr:
        if self._stored(name):
            element = self.graph.types[name].element
            seen = T.U64 if self.raw and element is T.F64 else element
            return self.draft.read(name, seen)[self.draft.flat(place)]
        return self.computed(name, place)

    def computed(self, name: str, place: Place) -> Expr:
        """The element computed from operands, whether or not the value is stored."""
        node = self.graph.nodes[name]
        match node:
            case ElementWise():
                return self._expression(node, place)
            case Constant(type=of, data=data):
                return literal(of.element, splat_bits(data, of.element.stride) or 0)
            case Iota(type=of, axis=axis):
                coord = self.draft.coords(place)[axis]
                return coord if of.element is T.U32 else Cast(T.I32, coord)
            case Copy(source=source):
                return self.value(source, place)
            case Reshape(source=source):
                return self.value(source, self._reshaped(place, self._shape(source)))
            case Transpose() | Slice() | Broadcast() | Windows():
                coords = self._viewed(node, self.draft.coords(place))
                return self.value(node.source, Place(self._shape(node.source), coords))
            case Pad():
                return self._padded(node, self.draft.coords(place))
            case Concat():
                return self._chosen(node, self.draft.coords(place))
            case Gather() | Pick():
                return self._indexed(node, self.draft.coords(place))
            case _:
                raise TypeError(f"{type(node).__name__} is not computed element by element")

    def _shape(self, name: str) -> tuple[Size, ...]:
        return self.graph.types[name].shape

    def _expression(self, node: ElementWise, place: Place) -> Expr:
        given: dict[str, Expr] = {}
        types: dict[str, DataType] = {}
        for number, source in enumerate(node.sources):
            types[f"x{number}"] = self.graph.types[source].element.loaded
            given[f"x{number}"] = self.value(source, place)

        def replaced(part: Expr) -> Expr:
            return given[part.name] if isinstance(part, Var) else part

        made = transform(node.expr, replaced)
        kind = value_type(node, types)
        if node.element is not kind:
            made = reloaded(node.element, self.draft.let(made), kind)
        return made

    def _reshaped(self, place: Place, shape: tuple[Size, ...]) -> Place:
        if place.shape == shape:
            return place
        if place.coords is None:
            return Place(shape, None, place.flat)
        coords: list[Expr] = []
        for have, want in reshape_groups(place.shape, shape):
            group = place.shape[have.start : have.stop]
            flat = self.draft.let(self.draft.joined(place.coords[have.start : have.stop], group), "f")
            coords += self.draft.parted(flat, shape[want.start : want.stop])
        return Place(shape, tuple(coords))

    def _viewed(
        self, node: Transpose | Slice | Broadcast | Windows, coords: tuple[Expr, ...]
    ) -> tuple[Expr, ...]:
        let, size = self.draft.let, self.draft.size
        match node:
            case Transpose(axes=axes):
                found = dict(zip(axes, coords, strict=True))
                return tuple(found[axis] for axis in range(len(axes)))
            case Slice(starts=starts, steps=steps):
                return tuple(
                    let(plus(times(coord, LitU32(step)), size(start)), "c")
                    for coord, start, step in zip(coords, starts, steps, strict=True)
                )
            case Broadcast(source=source):
                shape = self._shape(source)
                kept = coords[len(coords) - len(shape) :]
                return tuple(ZERO if n.static == 1 else c for n, c in zip(shape, kept, strict=True))
            case Windows(axis=axis, stride=stride, dilation=dilation):
                moved = plus(times(coords[axis], LitU32(stride)), times(coords[-1], LitU32(dilation)))
                return (*coords[:axis], let(moved, "c"), *coords[axis + 1 : -1])

    def _padded(self, node: Pad, coords: tuple[Expr, ...]) -> Expr:
        of = self.graph.types[node.source]
        inside: list[Expr] = []
        moved: list[Expr] = []
        for coord, before, after, size in zip(coords, node.before, node.after, of.shape, strict=True):
            # Below `before` the difference wraps to more than any size.
            at = coord if before.static == 0 else self.draft.let(coord - self.draft.size(before), "c")
            moved.append(at)
            if before.static != 0 or after.static != 0:
                inside.append(at < self.draft.size(size))
        value = self.value(node.source, Place(of.shape, tuple(moved)))
        condition = both(inside)
        return value if condition is None else Select(condition, value, literal(of.element, node.value))

    def _chosen(self, node: Concat, coords: tuple[Expr, ...]) -> Expr:
        start = Size(0)
        made: list[tuple[Expr, Expr]] = []
        for source in node.sources:
            shape = self._shape(source)
            first = self.draft.size(start)
            at = coords[node.axis] if start.static == 0 else self.draft.let(coords[node.axis] - first, "c")
            moved = (*coords[: node.axis], at, *coords[node.axis + 1 :])
            made.append((first, self.value(source, Place(shape, moved))))
            start = start + shape[node.axis]
        first, found = made[0]
        for first, value in made[1:]:
            found = self.draft.let(Select(coords[node.axis] < first, found, value))
        return found

    def _indexed(self, node: Gather | Pick, coords: tuple[Expr, ...]) -> Expr:
        of, indices = self.graph.types[node.source], self.graph.types[node.indices]
        axis = node.axis
        if isinstance(node, Pick):
            index = self.value(node.indices, Place(indices.shape, coords))
            behind = axis + 1
        else:
            behind = axis + indices.rank
            index = self.value(node.indices, Place(indices.shape, coords[axis:behind]))
        at, valid = self.index_of(index, indices.element, of.shape[axis])
        moved = (*coords[:axis], at, *coords[behind:])
        value = self.value(node.source, Place(of.shape, moved))
        return Select(valid, value, literal(of.element, 0))

    def index_of(self, index: Expr, element: DataType, size: Size) -> tuple[Expr, Expr]:
        """An index as U32, and whether it is below the size; a negative one wraps to more than any."""
        match element.loaded:
            case T.U64:
                at = self.draft.let(Lane(index, 0), "k")
                valid = Lane(index, 1).eq(0) & (at < self.draft.size(size))
            case kind:
                at = index if kind is T.U32 else self.draft.let(Cast(T.U32, index), "k")
                valid = at < self.draft.size(size)
        return at, self.draft.let(valid, "ok")


def splat_bits(data: bytes, stride: int) -> int | None:
    """The bits of the one element that all are, None where they differ."""
    first = data[:stride]
    return int.from_bytes(first, "little") if first * (len(data) // stride) == data else None


def is_splat(node: GraphNode) -> bool:
    """Whether a value is one literal everywhere."""
    return isinstance(node, Constant) and splat_bits(node.data, node.type.element.stride) is not None
