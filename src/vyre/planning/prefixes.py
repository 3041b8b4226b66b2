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

RADIX = 1 << 11
"""Elements of a block where blocks are the work of teams, and blocks that have a total in common; half of it
where an element is two words."""
TEAM_LONG = 1 << 8
"""Elements of a row from which on it is the work of teams."""
APART = 8
"""How far apart the elements of such a row lie at most: a team reads what is side by side."""


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


@dataclass(frozen=True, slots=True)
class TeamScan(Scan):
    """A scan in which a team has a block of a power of two elements.

    `totals` are those of the blocks, then those of as many blocks as a block has elements, and so on, as far
    as they are whole and something comes behind them; each has the shape of the source but for the axis.
    """

    totals: tuple[str, ...] = ()
    block: int = 0

    @property
    def operands(self) -> tuple[str, ...]:
        return (self.source, *self.totals)


def totals_before(length: int, block: int, level: int) -> int:
    """How many totals of blocks, of so many blocks as those have elements, …, stand before the last block."""
    return (-(-length // block) - 1) // block**level


def levels_of(length: int, block: int) -> list[int]:
    """How many subtrees there are of every size."""
    number = -(-length // block) - 1
    return [number >> level for level in range(number.bit_length())]


def in_blocks(graph: Graph) -> Graph:
    """The same values from the same inputs, few long rows of known length scanned in blocks."""
    return _in_blocks(graph, team=False)


def for_teams(graph: Graph) -> Graph:
    """The same for backends whose workgroups are teams, to which a row need not be so long."""
    return _in_blocks(graph, team=True)


def _in_blocks(graph: Graph, *, team: bool) -> Graph:
    teams = {
        name for name, node in graph.values if team and isinstance(node, Scan) and _for_team(graph, node)
    }
    cut = {
        name: block
        for name, node in graph.values
        if isinstance(node, Scan) and name not in teams and (block := _block_of(graph, node)) is not None
    }
    if not cut and not teams:
        return graph
    names = (name for name in map("block{}".format, count()) if name not in graph.nodes)
    values: dict[str, GraphNode] = {}
    for name, node in graph.values:
        if isinstance(node, Scan) and (name in cut or name in teams):
            trees = _Trees(graph.types[node.source], node, names, values)
            fields = node.source, node.axis, node.joining, node.accumulator, node.element, node.exclusive
            if name in teams:
                block = RADIX * 4 // max(4, trees.kept.stride)
                node = TeamScan(*fields, trees.totals(block), block)
            else:
                node = BlockScan(*fields, trees.made(cut[name]), cut[name])
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


def _for_team(graph: Graph, node: Scan) -> bool:
    shape = [size.static for size in graph.types[node.source].shape]
    if None in shape or 0 in shape:
        return False
    apart = prod(size or 1 for size in shape[node.axis + 1 :])
    return (shape[node.axis] or 0) >= TEAM_LONG and apart <= APART


class _Trees:
    """The subtrees over the blocks of one scan, in the order in which they are computed."""

    def __init__(self, of: ValueType, node: Scan, names: Iterator[str], values: dict[str, GraphNode]) -> None:
        self._of, self._node, self._names, self._values = of, node, names, values
        self.kept = of.element if node.joining in MOVES else node.accumulator
        self._joined = Join(node.joining, self.kept.loaded, self.kept).of(Var("x0"), Var("x1"))

    def made(self, block: int) -> str:
        """Each level is stored: what it is computed from is read twice, and its own elements often."""
        axis = self._node.axis
        counts = levels_of(self._of.shape[axis].static or 0, block)
        levels = [self._totals(self._node.source, counts[0], block)]
        for number in counts[1:]:
            even, odd = (self._sliced(levels[-1], first, 2 * number, 2) for first in (0, 1))
            levels.append(self._add(Copy(self._add(ElementWise(self._joined, (even, odd), self.kept)))))
        return self._add(Copy(self._add(Concat(tuple(levels), axis))))

    def totals(self, block: int) -> tuple[str, ...]:
        """Those of so many elements each, then of so many of those, and so on."""
        made: list[str] = []
        source, length = self._node.source, self._of.shape[self._node.axis].static or 0
        while (number := totals_before(length, block, len(made))) > 0:
            source = self._totals(source, number, block)
            made.append(source)
        return tuple(made)

    def _totals(self, source: str, number: int, block: int) -> str:
        """Of so many blocks of a value."""
        axis, node = self._node.axis, self._node
        whole = self._sliced(source, 0, number * block, 1)
        blocks = self._add(Reshape(whole, self._shape(Size(number), Size(block))))
        order = ReduceOrder.TreeBinary
        return self._add(Reduce(blocks, (axis + 1,), node.joining, order, node.accumulator, self.kept))

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
