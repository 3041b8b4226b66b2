"""A graph while it grows: values that fit two lengths of every dynamic dimension, and operands on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.generate.buffers import ordinary_bits, random_bits
from vyre.conform.generate.graph_expressions import ElementExpressions
from vyre.errors import DispatchError
from vyre.graph import (
    Broadcast,
    Constant,
    ElementWise,
    Graph,
    GraphNode,
    Input,
    Iota,
    Reshape,
    Size,
    ValueType,
    require_sizes,
)
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from random import Random

Shape = tuple[Size, ...]

_SIZES = (1, 1, 2, 2, 3, 3, 4, 5, 7, 8)
_RARE = (0, 16, 17, 33, 65)
_WIDE = (15, 16, 17, 31, 33, 65, 130, 300)
_MOST_INPUTS = 8


class Growth:
    """Values that were added so far. For both `lengths` each has at most `most` elements and no negative
    size."""

    def __init__(
        self,
        rng: Random,
        elements: Sequence[DataType],
        lengths: Sequence[Mapping[str, int]],
        dims: Sequence[str],
        most: int,
        *,
        wide: bool,
    ) -> None:
        self.rng = rng
        self.elements = tuple(elements)
        self.lengths = tuple(lengths)
        self.dims = tuple(dims)
        self.most = most
        self.wide = wide
        self.expressions = ElementExpressions(rng, elements)
        self.nodes: dict[str, GraphNode] = {}
        self.types: dict[str, ValueType] = {}
        self.used: set[str] = set()

    # Values.

    def add(self, node: GraphNode) -> str | None:
        """The name of the new value, or None where it does not fit the lengths."""
        known: list[tuple[str, GraphNode]] = [("dims", Input(ValueType(DataType.U32, self.dims)))]
        known += [(name, Input(self.types[name])) for name in dict.fromkeys(node.operands)]
        small = Graph([*known, ("value", node)], ["value"])
        kind = small.types["value"]
        try:
            for lengths in self.lengths:
                require_sizes(small, lengths)
        except DispatchError:
            return None
        if self.largest(kind.shape) > self.most:
            return None
        prefix = "x" if isinstance(node, Input) else "v"
        name = f"{prefix}{sum(known.startswith(prefix) for known in self.nodes)}"
        self.nodes[name] = node
        self.types[name] = kind
        self.used.update(node.operands)
        return name

    def largest(self, shape: Iterable[Size]) -> int:
        """Elements of a shape, for the lengths that make them most."""
        sizes = tuple(shape)
        return max(ValueType(DataType.U32, sizes).count.value(lengths) for lengths in self.lengths)

    def least(self, size: Size) -> int:
        """The size for the lengths that make it least."""
        return min(size.value(lengths) for lengths in self.lengths)

    def free(self) -> list[str]:
        """Values that nothing uses yet."""
        return [name for name in self.nodes if name not in self.used]

    def pick(self, fits: Callable[[ValueType], bool]) -> str | None:
        """A value of which this holds: mostly one that nothing uses yet, or a late one."""
        rng = self.rng
        found = [name for name, kind in self.types.items() if fits(kind)]
        if not found:
            return None
        fresh = [name for name in found if name not in self.used]
        if fresh and rng.randrange(2):
            return rng.choice(fresh)
        return rng.choice(found[-3:] if rng.randrange(2) else found)

    # Types and sizes.

    def element(self) -> DataType:
        """Any element, F32 more often than others."""
        often = DataType.F32 in self.elements and self.rng.randrange(4) == 0
        return DataType.F32 if often else self.rng.choice(self.elements)

    def size(self) -> Size:
        rng = self.rng
        if self.dims and rng.randrange(3) == 0:
            return Size(rng.choice(self.dims))
        if self.wide and rng.randrange(2):
            return Size(rng.choice(_WIDE))
        return Size(rng.choice(_RARE) if rng.randrange(16) == 0 else rng.choice(_SIZES))

    def shape(self, least_rank: int = 0, most_rank: int = 4) -> Shape:
        """A shape of few enough elements."""
        while True:
            shape = tuple(self.size() for _ in range(self.rng.randrange(least_rank, most_rank + 1)))
            if self.largest(shape) <= self.most // 2:
                return shape

    # Operands.

    def like(self, shape: Shape, elements: Sequence[DataType]) -> str | None:
        """A value of this shape that holds one of these: one that is there, or a new one."""
        rng = self.rng
        wanted = [t for t in elements if t in self.elements]
        if not wanted or self.largest(shape) > self.most:
            return None
        found = self.pick(lambda kind: kind.shape == shape and kind.element in wanted)
        if found is not None and rng.randrange(4):
            return found
        plain = DataType.F32 in wanted and rng.randrange(2) == 0
        element = DataType.F32 if plain else rng.choice(wanted)
        others = [self._converted, self._broadcast, self._constant, self._coordinates, self._input]
        rng.shuffle(others)
        # Numbers that were converted or counted have short fractions, and sums of them hide where they round.
        ways = [self._input, *others] if rng.randrange(2) else others
        for way in ways:
            made = way(shape, element)
            if made is not None:
                return made
        return None

    def _converted(self, shape: Shape, element: DataType) -> str | None:
        source = self.pick(lambda kind: kind.shape == shape)
        if source is None:
            return None
        expr = self.expressions.converted(self.types[source].element.loaded, element.loaded)
        return self.add(ElementWise(expr, (source,), element))

    def _broadcast(self, shape: Shape, element: DataType) -> str | None:
        def fits(kind: ValueType) -> bool:
            tail = shape[len(shape) - kind.rank :] if kind.rank <= len(shape) else ()
            return (
                kind.element is element
                and kind.rank == len(tail)
                and kind.shape != shape
                and all(have == want or have.static == 1 for have, want in zip(kind.shape, tail, strict=True))
            )

        source = self.pick(fits)
        return None if source is None else self.add(Broadcast(source, shape))

    def _input(self, shape: Shape, element: DataType) -> str | None:
        inputs = sum(isinstance(node, Input) for node in self.nodes.values())
        return self.add(Input(ValueType(element, shape))) if inputs < _MOST_INPUTS else None

    def _constant(self, shape: Shape, element: DataType) -> str | None:
        """A constant, of size 1 along dynamic axes and some others, and broadcast."""
        rng = self.rng
        static = [size if size.static is not None and rng.randrange(3) else Size(1) for size in shape]
        kind = ValueType(element, static[rng.randrange(len(static) + 1) :] if rng.randrange(2) else static)
        draw = random_bits if rng.randrange(3) == 0 else ordinary_bits
        count = kind.count.static or 0
        # A Bool of any bytes but zeros is true.
        drawn = DataType.U32 if element is DataType.Bool else element.loaded
        mask = (1 << element.bits) - 1
        bits = [
            (draw(rng, drawn) & mask) * (element is not DataType.Bool or rng.randrange(2))
            for _ in range(count)
        ]
        made = self.add(Constant(kind, b"".join(v.to_bytes(element.stride, "little") for v in bits)))
        if made is None or kind.shape == shape:
            return made
        return self.add(Broadcast(made, shape))

    def _coordinates(self, shape: Shape, element: DataType) -> str | None:
        """Coordinates, as they are, or in an expression: a triangle, a ramp."""
        rng = self.rng
        if not shape:
            one = self.add(Iota(ValueType(DataType.U32, (1,)), 0)) if DataType.U32 in self.elements else None
            return None if one is None else self._converted_scalar(one, element)
        words = [t for t in (DataType.U32, DataType.I32) if t in self.elements]
        if not words:
            return None
        kinds = [rng.choice(words) for _ in range(rng.randrange(1, 3))]
        axes = [rng.randrange(len(shape)) for _ in kinds]
        if len(kinds) == 1 and kinds[0] is element:
            return self.add(Iota(ValueType(element, shape), axes[0]))
        sources = [self.add(Iota(ValueType(t, shape), axis)) for t, axis in zip(kinds, axes, strict=True)]
        names = tuple(name for name in sources if name is not None)
        if len(names) != len(kinds):
            return None
        expr = self.expressions.simple([t.loaded for t in kinds], element.loaded)
        return self.add(ElementWise(expr, names, element))

    def _converted_scalar(self, one: str, element: DataType) -> str | None:
        scalar = self.add(Reshape(one, ()))
        if scalar is None or element is DataType.U32:
            return scalar
        expr = self.expressions.converted(DataType.U32, element.loaded)
        return self.add(ElementWise(expr, (scalar,), element))
