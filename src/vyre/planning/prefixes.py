"""Scans of few long rows in blocks, so that more than one invocation has work.

Element i of a scan is the tree over elements 0 to i: the subtrees that the digits of i + 1 stand for, joined
from the right. Whoever starts at block b, of a power of two elements, needs the subtrees that the digits of b
stand for, each over whole blocks. They are computed first, and lie one level behind the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import prod
from typing import TYPE_CHECKING

from vyre.graph.graph import Graph
from vyre.graph.nodes import Concat, Copy, ElementWise, Reduce, Reshape, Scan, Slice
from vyre.graph.sizes import Size
from vyre.ir.expr import Var
from vyre.ir.operators import ReduceOrder
from vyre.planning.joins import MOVES, Join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.graph.nodes import GraphNode
    from vyre.graph.types import ValueType

LONG = 1 << 11
"""Elements of a row from which on it is worth blocks."""
BLOCK = 1 << 8
"""The least number of elements in a block."""
MOST = 1 << 12
"""Blocks of all rows together that are aimed at."""


@dataclass(frozen=True, slots=True)
class BlockScan(Scan):
    """A scan that starts anew at every block, from subtrees over the blocks before it.

    `trees` has the shape of the source but for the axis. Along it lie the totals of all blocks but the last,
    then the subtrees over two of them, over four, and so on: those that are whole.
    """

    trees: str = ""
    block: int = 0

    @property
    def operands(self) -> tuple[str, ...]:
        return (self.source, self.trees)


def levels_of(length: int, block: int) -> list[int]:
    """How many subtrees there are of every size."""
    number = -(-length // block) - 1
    return [number >> level for level in range(number.bit_length())]


def in_blocks(graph: Graph) -> Graph:
    """The same values from the same inputs, few long rows of known length scanned in blocks."""
    cut = {
        name: block
        for name, node in graph.values
        if isinstance(node, Scan) and (block := _block_of(graph, node)) is not None
    }
    if not cut:
        return graph
    names = (name for name in map("block{}".format, count()) if name not in graph.nodes)
    values: dict[str, GraphNode] = {}
    for name, node in graph.values:
        if isinstance(node, Scan) and name in cut:
            trees = _Trees(graph.types[node.source], node, names, values).made(cut[name])
            fields = node.source, node.axis, node.joining, node.accumulator, node.element, node.exclusive
            node = BlockScan(*fields, trees, cut[name])
        values[name] = node
    return Graph(values, graph.outputs)


def _block_of(graph: Graph, node: Scan) -> int | None:
    """How long the blocks of a scan are; None where it is not cut."""
    shape = [size.static for size in graph.types[node.source].shape]
    if None in shape or 0 in shape:
        return None
    length = shape[node.axis] or 1
    rows = prod(size or 1 for size in shape) // length
    block = max(BLOCK, 1 << (-(-length * rows // MOST) - 1).bit_length())
    return block if length >= LONG and length > block and rows < MOST else None


class _Trees:
    """The subtrees over the blocks of one scan, in the order in which they are computed."""

    def __init__(self, of: ValueType, node: Scan, names: Iterator[str], values: dict[str, GraphNode]) -> None:
        self._of, self._node, self._names, self._values = of, node, names, values
        self._kept = of.element if node.joining in MOVES else node.accumulator
        self._joined = Join(node.joining, self._kept.loaded, self._kept).of(Var("x0"), Var("x1"))

    def made(self, block: int) -> str:
        """Each level is stored: what it is computed from is read twice, and its own elements often."""
        axis, node = self._node.axis, self._node
        counts = levels_of(self._of.shape[axis].static or 0, block)
        whole = self._sliced(node.source, 0, counts[0] * block, 1)
        blocks = self._add(Reshape(whole, self._shape(Size(counts[0]), Size(block))))
        totals = Reduce(
            blocks, (axis + 1,), node.joining, ReduceOrder.TreeBinary, node.accumulator, self._kept
        )
        levels = [self._add(totals)]
        for number in counts[1:]:
            even, odd = (self._sliced(levels[-1], first, 2 * number, 2) for first in (0, 1))
            levels.append(self._add(Copy(self._add(ElementWise(self._joined, (even, odd), self._kept)))))
        return self._add(Copy(self._add(Concat(tuple(levels), axis))))

    def _add(self, node: GraphNode) -> str:
        name = next(self._names)
        self._values[name] = node
        return name

    def _shape(self, *along: Size) -> tuple[Size, ...]:
        """The shape with these sizes in place of the axis."""
        return (*self._of.shape[: self._node.axis], *along, *self._of.shape[self._node.axis + 1 :])

    def _sliced(self, source: str, first: int, stop: int, step: int) -> str:
        starts, steps = [Size(0)] * self._of.rank, [1] * self._of.rank
        starts[self._node.axis], steps[self._node.axis] = Size(first), step
        return self._add(Slice(source, tuple(starts), self._shape(Size(stop)), tuple(steps)))
