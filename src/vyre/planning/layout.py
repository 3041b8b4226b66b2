"""Where the elements of views lie in the buffer behind them: strides, as far as a chain of views has any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.nodes import Broadcast, Reshape, Slice, Transpose, Windows
from vyre.graph.sizes import Size
from vyre.planning.reshaped import viewable

if TYPE_CHECKING:
    from collections.abc import Container

    from vyre.graph.graph import Graph

Strides = tuple[Size, ...]


def row_major(shape: tuple[Size, ...]) -> Strides:
    found: list[Size] = []
    step = Size(1)
    for size in reversed(shape):
        found.append(step)
        step = step * size
    return tuple(reversed(found))


def strides_of(graph: Graph, name: str, stored: Container[str]) -> Strides | None:
    """The distance between neighbours along each axis; None for what is computed, which has none."""
    chain: list[str] = []
    while name not in stored:
        node = graph.nodes[name]
        if not isinstance(node, Transpose | Slice | Broadcast | Reshape | Windows):
            return None
        chain.append(name)
        name = node.source
    strides: Strides | None = row_major(graph.types[name].shape)
    for view in reversed(chain):
        if strides is None:
            return None
        strides = _after(graph, view, strides)
    return strides


def lies_in_fours(graph: Graph, name: str, stored: Container[str], axis: int) -> bool:
    """Whether four neighbours along an axis, of which the first is a multiple of four, are four in the buffer
    of which that is true as well."""
    strides = strides_of(graph, name, stored)
    if strides is None or strides[axis] != Size(1):
        return False
    if not all(by == axis % len(strides) or by_four(stride) for by, stride in enumerate(strides)):
        return False
    while name not in stored:
        node = graph.nodes[name]
        assert isinstance(node, Transpose | Slice | Broadcast | Reshape | Windows)
        if isinstance(node, Slice):
            before = strides_of(graph, node.source, stored)
            if before is None or not all(map(by_four, map(Size.__mul__, before, node.starts))):
                return False
        name = node.source
    return by_four(graph.types[name].count)


def by_four(size: Size) -> bool:
    """Whether it is a multiple of four for every length."""
    return all(factor % 4 == 0 for _, factor in size.terms)


def is_copy(graph: Graph, name: str, stored: Container[str]) -> bool:
    """Whether a reshape of elements in memory is more than a view of them."""
    node = graph.nodes[name]
    assert isinstance(node, Reshape)
    before = strides_of(graph, node.source, stored)
    return before is not None and _after(graph, name, before) is None


def _after(graph: Graph, name: str, strides: Strides) -> Strides | None:
    match graph.nodes[name]:
        case Transpose(axes=axes):
            return tuple(strides[axis] for axis in axes)
        case Slice(steps=steps):
            return tuple(stride * step for stride, step in zip(strides, steps, strict=True))
        case Broadcast(source=source, shape=shape):
            have = graph.types[source].shape
            kept = (Size(0) if n.static == 1 else stride for n, stride in zip(have, strides, strict=True))
            return (*(Size(0),) * (len(shape) - len(have)), *kept)
        case Windows(axis=axis, stride=stride, dilation=dilation):
            moved = strides[axis]
            return (*strides[:axis], moved * stride, *strides[axis + 1 :], moved * dilation)
        case Reshape(source=source, shape=shape):
            return viewable(strides, graph.types[source].shape, shape)
        case node:
            raise TypeError(f"{type(node).__name__} is not a view")
