"""The lengths of a call: the shapes that are passed, held against the inputs of a graph.

Every dynamic dimension gets one length, from the inputs that name it, and whatever follows from the lengths
is looked at before anything runs: a size that would be negative, a range that leaves its axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import DispatchError
from vyre.graph.nodes import Pad, Slice
from vyre.graph.sizes import Size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.graph.graph import Graph
    from vyre.graph.nodes import GraphNode
    from vyre.graph.types import ValueType


def sizes_of(graph: Graph, shapes: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """The length of every dynamic dimension, in the order of `graph.dims`.

    Raises `DispatchError` where inputs are missing, unknown or of another shape, where two of them contradict
    each other, and where a value of the graph cannot be computed for these lengths.
    """
    _ = graph.types
    _require_names(graph, shapes)
    sizes: dict[str, int] = {}
    source: dict[str, str] = {}
    for name, kind in graph.inputs.items():
        shape = tuple(shapes[name])
        if len(shape) != kind.rank:
            raise DispatchError(
                f"the input {name!r} is {kind} and the shape passed is {list(shape)}.",
                fix=f"pass an array of {kind.rank} axes.",
            )
        for axis, (size, length) in enumerate(zip(kind.shape, shape, strict=True)):
            dim = _plain(size)
            if dim is None:
                continue
            if sizes.setdefault(dim, length) != length:
                raise DispatchError(
                    f"the dimension {dim!r} is {sizes[dim]} in {source[dim]} "
                    f"and {length} in axis {axis} of {name!r}.",
                    fix=f"pass arrays in which {dim} has one length.",
                )
            source.setdefault(dim, f"axis {axis} of {name!r}")
    for name, kind in graph.inputs.items():
        _require_shape(name, kind, tuple(shapes[name]), sizes)
    require_sizes(graph, sizes)
    return {dim: sizes[dim] for dim in graph.dims}


def require_sizes(graph: Graph, sizes: Mapping[str, int]) -> None:
    """Raises `DispatchError` for the first value that cannot be computed for these lengths."""
    for name, node in graph.values:
        kind = graph.types[name]
        if kind.names:
            kind.resolved(sizes)
        for low, high in _ordered(node, graph):
            if low.value(sizes) > high.value(sizes):
                given = ", ".join(f"{dim} = {sizes[dim]}" for dim in sorted(low.names | high.names))
                raise DispatchError(
                    f"the value {name!r} needs {low} <= {high}, which does not hold for {given}.",
                    fix="pass arrays of other lengths.",
                )


def _ordered(node: GraphNode, graph: Graph) -> list[tuple[Size, Size]]:
    """Pairs of which the first may not exceed the second, where that depends on lengths."""
    match node:
        case Slice(source, starts, stops, _):
            axes = zip(starts, stops, graph.types[source].shape, strict=True)
            pairs = [pair for a, b, n in axes for pair in ((Size(0), a), (a, b), (b, n))]
        case Pad(_, before, after, _):
            pairs = [(Size(0), size) for size in (*before, *after)]
        case _:
            return []
    return [(low, high) for low, high in pairs if (high - low).static is None]


def _plain(size: Size) -> str | None:
    """The name, where a size is a name and nothing else."""
    match size.terms:
        case (((name,), 1),):
            return name
        case _:
            return None


def _require_names(graph: Graph, shapes: Mapping[str, Sequence[int]]) -> None:
    wanted = ", ".join(f"{name}: {kind}" for name, kind in graph.inputs.items()) or "no inputs"
    for name in graph.inputs:
        if name not in shapes:
            raise DispatchError(f"the input {name!r} is missing.", fix=f"pass {wanted}.")
    for name in shapes:
        if name not in graph.inputs:
            raise DispatchError(f"the graph has no input {name!r}.", fix=f"pass {wanted}.")


def _require_shape(name: str, kind: ValueType, shape: tuple[int, ...], sizes: Mapping[str, int]) -> None:
    wanted = kind.resolved(sizes)
    if shape != wanted:
        given = ", ".join(f"{dim} = {sizes[dim]}" for dim in sorted(kind.names))
        known = f" with {given}" if given else ""
        raise DispatchError(
            f"the input {name!r} is {kind}{known} and the shape passed is {list(shape)}.",
            fix=f"pass an array of the shape {list(wanted)}.",
        )
