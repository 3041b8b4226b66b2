"""What part of its operands a part of a value needs: whether a value can be computed in parts along an axis.

A value is cut along an axis into pieces that follow from pieces of its operands alone, or from all of one.
That is so where elements do not see their neighbours along the axis: element by element, for rows and columns
of a product, for what is reduced or scanned along another axis. No bits depend on the pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from vyre.graph.nodes import (
    Broadcast,
    Concat,
    Copy,
    ElementWise,
    Gather,
    MatMul,
    Pad,
    Pick,
    Recurrence,
    Reduce,
    Reshape,
    Scan,
    Scatter,
    Slice,
    Transpose,
    Windows,
)
from vyre.graph.sizes import Size
from vyre.planning.reshaped import reshape_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.graph.nodes import GraphNode

    Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Along:
    """Pieces along an axis, `unit` elements for each that is counted."""

    axis: int
    unit: int = 1

    def at(self, axis: int) -> Along:
        return Along(axis, self.unit)


Wanted = Along | None
"""A piece of a value, or all of it."""


class NeedsAll(Exception):
    """A piece of a value would need more than pieces of its operands."""


def needs(node: GraphNode, along: Along, shape: Shape, operands: Sequence[Shape]) -> Sequence[Wanted]:
    """What a piece needs of each operand; `shape` is that of the value. Raises `NeedsAll`."""
    k = along.axis
    match node:
        case ElementWise() | Copy():
            return [along] * len(operands)
        case Transpose(axes=axes):
            return [along.at(axes[k])]
        case Slice(starts=starts, steps=steps) if not _is_all(starts[k], steps[k], shape[k], operands[0][k]):
            raise NeedsAll
        case Pad(before=before, after=after) if not before[k].static == after[k].static == 0:
            raise NeedsAll
        case Windows(axis=axis) if k in (axis, len(shape) - 1):
            raise NeedsAll
        case Concat(axis=axis) | Scan(axis=axis) | Recurrence(axis=axis) | Scatter(axis=axis) if axis == k:
            raise NeedsAll
        case Slice() | Pad() | Windows() | Scan():
            return [along]
        case Concat():
            return [along] * len(operands)
        case Recurrence(axis=axis):
            return [along, along, along.at(k - (k > axis))][: len(operands)]
        case Scatter():
            return [along, None, along]
        case Broadcast():
            inner = k - (len(shape) - len(operands[0]))
            return [along.at(inner) if inner >= 0 and operands[0][inner] == shape[k] else None]
        case Reshape():
            return [_reshaped(along, shape, operands[0])]
        case Reduce(axes=axes):
            kept = [axis for axis in range(len(operands[0])) if axis not in axes]
            return [along.at(kept[k])]
        case MatMul():
            return _product(along, len(shape), len(operands))
        case Gather(axis=axis):
            ranks = len(operands[1])
            if axis <= k < axis + ranks:
                return [None, along.at(k - axis)]
            return [along.at(k if k < axis else k - ranks + 1), None]
        case Pick(axis=axis):
            return [None if k == axis else along, along]
        case _:
            raise NeedsAll


def _is_all(start: Size, step: int, length: int, whole: int) -> bool:
    return start.static == 0 and step == 1 and length == whole


def _product(along: Along, rank: int, operands: int) -> list[Wanted]:
    """Of both sides, and of the mask, which lies over the left one."""
    if along.axis < rank - 2:
        return [along] * operands
    rows = along.axis == rank - 2
    return [along if rows else None, None if rows else along, along if rows else None][:operands]


def _reshaped(along: Along, shape: Shape, source: Shape) -> Along:
    """The axis of the source whose pieces hold the same elements in row-major order."""
    if 0 in source:
        raise NeedsAll
    have, want = (tuple(map(Size, sizes)) for sizes in (source, shape))
    left, right = next(pair for pair in reshape_groups(have, want) if along.axis in pair[1])
    first = next((axis for axis in left if source[axis] != 1), None)
    before = prod(shape[axis] for axis in right if axis < along.axis)
    if first is None or before != 1:
        raise NeedsAll
    each = along.unit * prod(shape[axis] for axis in right if axis > along.axis)
    unit, rest = divmod(each, prod(source[axis] for axis in left if axis > first))
    if rest:
        raise NeedsAll
    return Along(first, unit)
