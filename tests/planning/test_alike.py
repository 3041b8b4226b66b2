"""Kernels that are written once for values of other names: what is taken over is what would be written."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.planning.block import Block
from tests.planning.test_planned_nodes import given, sizes
from vyre.conform.generate.graphs import random_graph
from vyre.graph import (
    Broadcast,
    Constant,
    ElementWise,
    Graph,
    GraphNode,
    Joining,
    Reduce,
    Slice,
    ValueType,
)
from vyre.graph.sizes import Size
from vyre.ir.expr import Var, fadd, fmul
from vyre.ir.operators import ReduceOrder
from vyre.ir.types import DataType
from vyre.planning.fusion import decided
from vyre.planning.kernels import build
from vyre.planning.kernels.alike import WrittenKernels
from vyre.planning.kernels.build import kernels_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.planning.kernels.site import Site, Variant

T = DataType
N = Size("n")
X0, X1 = Var("x0"), Var("x1")


class Apart(WrittenKernels):
    """Takes nothing over."""

    def variants(self, site: Site, write: Callable[[Site], tuple[Variant, ...]]) -> tuple[Variant, ...]:
        return write(site)


class Counted(WrittenKernels):
    made = 0

    def variants(self, site: Site, write: Callable[[Site], tuple[Variant, ...]]) -> tuple[Variant, ...]:
        def counted(site: Site) -> tuple[Variant, ...]:
            Counted.made += 1
            return write(site)

        return super().variants(site, counted)


def require_as_written_apart(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    for fuse in (True, False):
        fusion = decided(graph, fuse=fuse)
        found = kernels_of(graph, fusion)
        with monkeypatch.context() as patched:
            patched.setattr(build, "WrittenKernels", Apart)
            assert found == kernels_of(graph, fusion)


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs_have_the_kernels_that_are_written_apart(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_as_written_apart(random_graph(seed), monkeypatch)


def test_the_layers_of_a_network_are_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "WrittenKernels", Counted)
    counts: list[int] = []
    for layers in (1, 5):
        graph = Block(32, 2, layers=layers).graph
        Counted.made = 0
        kernels_of(graph, decided(graph, fuse=True))
        counts.append(Counted.made)
        require_as_written_apart(graph, monkeypatch)
    assert counts[0] == counts[1] > 1


def _twice(first: GraphNode, second: GraphNode, **before: GraphNode) -> Graph:
    return Graph(
        {"a": given(T.F32, N, 4), "b": given(T.F32, N, 4), **before, "y": first, "z": second}, ["y", "z"]
    )


def _row(value: float) -> Constant:
    return Constant(ValueType(T.F32, (4,)), struct.pack("<f", value) * 4)


@pytest.mark.parametrize(
    "graph",
    [
        _twice(ElementWise(fadd(X0, X1), ("a", "b"), T.F32), ElementWise(fadd(X0, X1), ("a", "a"), T.F32)),
        _twice(ElementWise(fadd(X0, X0), ("a",), T.F32), ElementWise(fmul(X0, X0), ("a",), T.F32)),
        _twice(
            ElementWise(fadd(X0, X1), ("a", "p"), T.F32),
            ElementWise(fadd(X0, X1), ("a", "q"), T.F32),
            c=_row(1.0),
            d=_row(2.0),
            p=Broadcast("c", sizes(N, 4)),
            q=Broadcast("d", sizes(N, 4)),
        ),
        _twice(
            Reduce("a", (0,), Joining.Add, ReduceOrder.TreeBinary, T.F32, T.F32),
            Reduce("a", (1,), Joining.Add, ReduceOrder.TreeBinary, T.F32, T.F32),
        ),
        _twice(
            ElementWise(fadd(X0, X0), ("p",), T.F32),
            ElementWise(fadd(X0, X0), ("q",), T.F32),
            p=Slice("a", sizes(0, 0), sizes(N, 2), (1, 1)),
            q=Slice("a", sizes(0, 2), sizes(N, 4), (1, 1)),
        ),
    ],
)
def test_what_differs_in_more_than_names_is_not_alike(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    require_as_written_apart(graph, monkeypatch)
    one, other = kernels_of(graph, decided(graph, fuse=True))
    assert [replace(v.drafted, reads=()) for v in one.variants] != [
        replace(v.drafted, reads=()) for v in other.variants
    ]
