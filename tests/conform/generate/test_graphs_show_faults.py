"""Random graphs show what a wrong plan does: each mistake below changes an output in many of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import TYPE_CHECKING

import pytest

from vyre.conform.generate.graphs import random_graph, random_inputs, random_sizes
from vyre.errors import DispatchError, ValidationError
from vyre.graph import (
    Accumulator,
    Concat,
    Duplicates,
    ElementWise,
    Graph,
    GraphNode,
    Iota,
    MatMul,
    MulStep,
    Pad,
    Recurrence,
    Reduce,
    Scan,
    Scatter,
    Slice,
)
from vyre.graph.join_rules import ORDERED
from vyre.graph.sizes import Size
from vyre.ir import BinaryOp, BinOp, DataType, Expr, FMulAdd
from vyre.ir.operators import ReduceOrder
from vyre.ir.walk import transform
from vyre.reference.tensors import Elements, evaluate, joins, moves, numbers
from vyre.reference.tensors.moves import gathered, windows

if TYPE_CHECKING:
    from types import ModuleType

    from vyre.graph import Windows
    from vyre.reference.tensors.elements import Place

Mistake = Callable[[GraphNode], GraphNode]
_T = DataType


def _split_fma(expr: Expr) -> Expr:
    match expr:
        case FMulAdd():
            a, b, c = expr.children
            return BinOp(BinaryOp.FAdd, BinOp(BinaryOp.FMul, a, b), c)
        case _:
            return expr


def dropped_mask(node: GraphNode) -> GraphNode:
    return replace(node, mask=None) if isinstance(node, MatMul) else node


def other_step(node: GraphNode) -> GraphNode:
    if not isinstance(node, MatMul) or node.accumulator not in (Accumulator.F32, Accumulator.F64):
        return node
    return replace(node, step=MulStep.FMulFAdd if node.step is MulStep.FMulAdd else MulStep.FMulAdd)


def narrow_sum(node: GraphNode) -> GraphNode:
    """The exact sum in doubles."""
    exact = isinstance(node, MatMul) and node.accumulator is Accumulator.Exact
    return replace(node, accumulator=Accumulator.F64) if exact else node


def other_order(node: GraphNode) -> GraphNode:
    if not isinstance(node, Reduce) or not (node.joining in ORDERED and node.accumulator.is_float):
        return node
    swapped = {ReduceOrder.Strict: ReduceOrder.TreeBinary, ReduceOrder.TreeBinary: ReduceOrder.Strict}
    return replace(node, order=swapped[node.order])


def inclusive(node: GraphNode) -> GraphNode:
    return replace(node, exclusive=not node.exclusive) if isinstance(node, Scan) else node


def lost_start(node: GraphNode) -> GraphNode:
    return replace(node, initial=None) if isinstance(node, Recurrence) else node


def swapped_parts(node: GraphNode) -> GraphNode:
    return replace(node, sources=node.sources[::-1]) if isinstance(node, Concat) else node


def padded_by_zero(node: GraphNode) -> GraphNode:
    return replace(node, value=0) if isinstance(node, Pad) else node


def sliced_from_zero(node: GraphNode) -> GraphNode:
    if not isinstance(node, Slice):
        return node
    stops = tuple(stop - start for start, stop in zip(node.starts, node.stops, strict=True))
    return replace(node, starts=tuple(Size(0) for _ in stops), stops=stops)


def last_wins(node: GraphNode) -> GraphNode:
    return replace(node, duplicates=Duplicates.Last) if isinstance(node, Scatter) else node


def other_axis(node: GraphNode) -> GraphNode:
    return replace(node, axis=len(node.type.shape) - 1 - node.axis) if isinstance(node, Iota) else node


def contracted(node: GraphNode) -> GraphNode:
    """Products and sums that are rounded apart where they are to be rounded once."""
    return replace(node, expr=transform(node.expr, _split_fma)) if isinstance(node, ElementWise) else node


MISTAKES: dict[Mistake, int] = {
    dropped_mask: 40,
    other_step: 20,
    narrow_sum: 5,
    other_order: 4,
    inclusive: 50,
    lost_start: 20,
    swapped_parts: 15,
    padded_by_zero: 10,
    sliced_from_zero: 15,
    last_wins: 10,
    other_axis: 40,
    contracted: 5,
}
"""In how many of the graphs each must show."""
GRAPHS = 500


def mistaken(graph: Graph, mistake: Mistake) -> Graph | None:
    """The graph with the mistake wherever the types allow it; None where they do nowhere."""
    made = graph
    for name, node in graph.values:
        wrong = mistake(node)
        if wrong == node:
            continue
        tried = Graph([(n, wrong if n == name else other) for n, other in made.values], graph.outputs)
        with suppress(ValidationError):
            made = tried if tried.types == graph.types else made
    return None if made is graph else made


def _flat(node: object, of: Elements, shape: Place) -> Elements:
    """A transposed value that is read as it lies."""
    del node
    return Elements(shape, of.bits)


def _first(of: Elements, shape: Place) -> Elements:
    """A broadcast with stride 0 along all axes."""
    return Elements(shape, (of.bits or [0])[:1] * prod(shape))


def _dense(node: Windows, of: Elements, shape: Place) -> Elements:
    return windows(replace(node, dilation=1), of, shape)


def _overlapping(node: Windows, of: Elements, shape: Place) -> Elements:
    return windows(replace(node, stride=1), of, shape)


def _unsigned(element: DataType, bits: int) -> int:
    del element
    return bits


def _clamped(axis: int, of: Elements, indices: Elements, shape: Place, element: DataType) -> Elements:
    """Indices out of range that take the last element."""
    most = max(of.shape[axis] - 1, 0)
    inside = Elements(indices.shape, [min(bits, most) for bits in indices.bits])
    return gathered(axis, of, inside, shape, element)


@dataclass(frozen=True, slots=True)
class Wrong:
    """A part of the evaluator, what it is replaced by, and in how many of the graphs that must show."""

    module: ModuleType
    name: str
    made: Callable[..., object]
    least: int


WRONG = {
    "a view with a wrong stride": Wrong(moves, "transposed", _flat, 15),
    "a broadcast of one element": Wrong(moves, "broadcast", _first, 30),
    "no dilation": Wrong(moves, "windows", _dense, 2),
    "no stride": Wrong(moves, "windows", _overlapping, 2),
    "indices clamped": Wrong(moves, "gathered", _clamped, 5),
    "floats ordered by their bits": Wrong(joins, "rank", _unsigned, 15),
    "narrow integers without a sign": Wrong(numbers, "integer", _unsigned, 6),
}


@cache
def known() -> list[tuple[Graph, dict[str, Elements], dict[str, Elements]]]:
    """Graphs, inputs, and what is right."""
    found: list[tuple[Graph, dict[str, Elements], dict[str, Elements]]] = []
    for seed in range(GRAPHS // 2):
        graph = random_graph(seed)
        inputs = random_inputs(graph, random_sizes(graph, seed)[seed % 2], seed)
        found.append((graph, inputs, evaluate(graph, inputs)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
def test_each_wrong_part_shows_in_many_graphs(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cases, wrong = known(), WRONG[what]
    monkeypatch.setattr(wrong.module, wrong.name, wrong.made)
    assert sum(evaluate(graph, inputs) != right for graph, inputs, right in cases) >= wrong.least


@pytest.mark.slow
def test_each_mistake_mistake_shows_in_many_graphs() -> None:
    shown: Counter[str] = Counter()
    made_in: Counter[str] = Counter()
    for seed in range(GRAPHS):
        graph = random_graph(seed)
        wrong = {mistake: made for mistake in MISTAKES if (made := mistaken(graph, mistake)) is not None}
        if not wrong:
            continue
        inputs = random_inputs(graph, random_sizes(graph, seed)[seed % 2], seed)
        right = evaluate(graph, inputs)
        for mistake, made in wrong.items():
            # A slice that is wrong may leave its axis for these lengths; that shows too.
            try:
                shown[mistake.__name__] += evaluate(made, inputs) != right
            except DispatchError:
                shown[mistake.__name__] += 1
            made_in[mistake.__name__] += 1
    missed = {m.__name__: shown[m.__name__] for m, least in MISTAKES.items() if shown[m.__name__] < least}
    assert missed == {}, (shown, made_in)
