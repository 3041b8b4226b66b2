"""Nodes that move elements and change none of their bits: each says where an element comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.types import DataType
from vyre.reference.tensors.elements import Elements, Place, made, with_axis
from vyre.reference.tensors.numbers import integer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.graph.nodes import Concat, Pad, Slice, Transpose, Windows


def transposed(node: Transpose, of: Elements, shape: Place) -> Elements:
    def at(place: Place) -> int:
        source = [0] * len(place)
        for coordinate, axis in zip(place, node.axes, strict=True):
            source[axis] = coordinate
        return of.at(source)

    return made(shape, at)


def sliced(node: Slice, of: Elements, shape: Place, sizes: Mapping[str, int]) -> Elements:
    starts = [start.value(sizes) for start in node.starts]

    def at(place: Place) -> int:
        ranges = zip(starts, place, node.steps, strict=True)
        return of.at([start + coordinate * step for start, coordinate, step in ranges])

    return made(shape, at)


def broadcast(of: Elements, shape: Place) -> Elements:
    new = len(shape) - len(of.shape)

    def at(place: Place) -> int:
        axes = zip(place[new:], of.shape, strict=True)
        return of.at([0 if size == 1 else coordinate for coordinate, size in axes])

    return made(shape, at)


def windows(node: Windows, of: Elements, shape: Place) -> Elements:
    def at(place: Place) -> int:
        *rest, within = place
        coordinate = place[node.axis] * node.stride + within * node.dilation
        return of.at(with_axis(tuple(rest), node.axis, coordinate))

    return made(shape, at)


def padded(node: Pad, of: Elements, shape: Place, element: DataType, sizes: Mapping[str, int]) -> Elements:
    before = [size.value(sizes) for size in node.before]
    value = int(node.value != 0) if element is DataType.Bool else node.value

    def at(place: Place) -> int:
        source = [coordinate - first for coordinate, first in zip(place, before, strict=True)]
        inside = all(0 <= c < size for c, size in zip(source, of.shape, strict=True))
        return of.at(source) if inside else value

    return made(shape, at)


def concatenated(node: Concat, of: list[Elements], shape: Place) -> Elements:
    def at(place: Place) -> int:
        coordinate = place[node.axis]
        for part in of:
            length = part.shape[node.axis]
            if coordinate < length:
                return part.at(with_axis(place, node.axis, coordinate))
            coordinate -= length
        raise AssertionError("the shape of a concatenation is that of its parts")

    return made(shape, at)


def gathered(axis: int, of: Elements, indices: Elements, shape: Place, element: DataType) -> Elements:
    """`element` is the type of the indices."""
    rank = len(indices.shape)

    def at(place: Place) -> int:
        index = integer(element, indices.at(place[axis : axis + rank]))
        if not 0 <= index < of.shape[axis]:
            return 0
        return of.at((*place[:axis], index, *place[axis + rank :]))

    return made(shape, at)


def picked(axis: int, of: Elements, indices: Elements, element: DataType) -> Elements:
    """`element` is the type of the indices."""

    def at(place: Place) -> int:
        index = integer(element, indices.at(place))
        return of.at(with_axis(place, axis, index)) if 0 <= index < of.shape[axis] else 0

    return made(indices.shape, at)
