"""Exact products in two steps: sums of doubles where those are certain, every other element behind them.

A sum of doubles with k ascending misses the exact sum by no more than a bound. Where both ends of the bound
round to the same number, that is the result, and most results are found by the fastest kernels there are.
The others are marked, and a second kernel looks at those alone. The bound takes the lengths (in the sense of
Euclid) of the rows of the left side and of the columns of the right side, which are reductions of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from vyre.graph.graph import Graph
from vyre.graph.nodes import Accumulator, ElementWise, Joining, MatMul, MulStep, Reduce
from vyre.graph.sizes import product
from vyre.ir.expr import UnOp, Var, fmul
from vyre.ir.operators import ReduceOrder, UnaryOp
from vyre.ir.types import DataType
from vyre.planning.numbers import widened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.graph.nodes import GraphNode

T = DataType
FACTORS = frozenset({T.F32, T.F16, T.BF16})
"""Of which a product is exact in F64, and normal where it is not 0."""
LEAST = 1 << 15
"""Products of numbers in a product of matrices from which on it is worth four kernels."""


@dataclass(frozen=True, slots=True)
class CertainProduct(MatMul):
    """The bits of each result that is certain, in the format `into`, as the bits of an F32; else `OPEN`.

    `rows` and `columns` are the lengths of those of the left and of the right side.
    """

    rows: str = ""
    columns: str = ""
    into: DataType = T.F32

    @property
    def operands(self) -> tuple[str, ...]:
        return (self.left, self.right, self.rows, self.columns)


@dataclass(frozen=True, slots=True)
class OpenProduct(MatMul):
    """The same product after `found`, a `CertainProduct`: what is open there is summed here."""

    found: str = ""
    rows: str = ""
    columns: str = ""

    @property
    def operands(self) -> tuple[str, ...]:
        return (self.left, self.right, self.found, self.rows, self.columns)


def in_steps(graph: Graph) -> Graph:
    """The same values from the same inputs, exact products of F32 and narrower floats in two steps."""
    if not any(_is_wanted(graph, node) for _, node in graph.values):
        return graph
    names = (name for name in map("exact{}".format, count()) if name not in graph.nodes)
    values: dict[str, GraphNode] = {}
    for name, node in graph.values:
        if isinstance(node, MatMul) and _is_wanted(graph, node):
            values[name] = _stepped(graph, node, names, values)
        else:
            values[name] = node
    return Graph(values, graph.outputs)


def _is_wanted(graph: Graph, node: GraphNode) -> bool:
    if not isinstance(node, MatMul) or node.accumulator is not Accumulator.Exact or node.mask is not None:
        return False
    left, right = graph.types[node.left], graph.types[node.right]
    if not {left.element, right.element, node.element} <= FACTORS:
        return False
    work = product((*left.shape, right.shape[-1])).static
    return work is None or work >= LEAST


def _stepped(graph: Graph, node: MatMul, names: Iterator[str], values: dict[str, GraphNode]) -> OpenProduct:
    def add(made: GraphNode) -> str:
        name = next(names)
        values[name] = made
        return name

    def lengths(of: str, axis: int) -> str:
        wide = widened(Var("x0"), graph.types[of].element, T.F64)
        squares = add(ElementWise(fmul(wide, wide), (of,), T.F64))
        order = ReduceOrder.TreeBinary
        total = add(Reduce(squares, (axis,), Joining.Add, order, T.F64, T.F64))
        return add(ElementWise(UnOp(UnaryOp.FSqrt, Var("x0")), (total,), T.F64))

    rank = graph.types[node.left].rank
    rows, columns = lengths(node.left, rank - 1), lengths(node.right, rank - 2)
    sides = node.left, node.right
    certain = CertainProduct(
        *sides, Accumulator.F64, MulStep.FMulAdd, T.F32, None, rows, columns, node.element
    )
    return OpenProduct(*sides, Accumulator.Exact, node.step, node.element, None, add(certain), rows, columns)
