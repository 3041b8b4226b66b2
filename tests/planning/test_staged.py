"""Reductions in two stages: the tree of one, on more than one workgroup."""

from __future__ import annotations

import numpy as np
import pytest

from tests.planning.compared import require_agreement
from tests.planning.test_planned_nodes import given
from vyre.conform.generate.graphs import random_graph, random_sizes
from vyre.engines import reduce_tree
from vyre.engines.plan import most_groups
from vyre.graph import ElementWise, Graph, GraphNode, Joining, Reduce, Size, Transpose
from vyre.ir.expr import Var, fmul
from vyre.ir.operators import ReduceOrder
from vyre.ir.types import DataType
from vyre.planning import plan_graph, run_graph, staged

T = DataType
X0 = Var("x0")


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a few elements count as long."""
    monkeypatch.setattr(staged, "LONG", 8)
    monkeypatch.setattr(staged, "LEAST", 2)


def joined(
    joining: Joining, source: T, accumulator: T, element: T, *shape: int, axes: tuple[int, ...]
) -> Graph:
    node = Reduce("a", axes, joining, ReduceOrder.TreeBinary, accumulator, element)
    return Graph({"a": given(source, *shape), "y": node}, ["y"])


@pytest.mark.parametrize("length", [8, 9, 15, 16, 17, 31, 33, 64, 100, 127, 1000])
def test_every_length_agrees(length: int, eager: None) -> None:
    graph = joined(Joining.Add, T.F32, T.F32, T.F32, length, axes=(0,))
    assert len(plan_graph(graph).kernels) > 1
    require_agreement(graph, seed=length)


@pytest.mark.parametrize(
    ("joining", "source", "accumulator", "element"),
    [
        (Joining.Add, T.F16, T.F32, T.F16),
        (Joining.Add, T.BF16, T.BF16, T.BF16),
        (Joining.Add, T.F32, T.F64, T.F16),
        (Joining.Mul, T.F32, T.F32, T.F32),
        (Joining.FMin, T.F32, T.F32, T.F32),
        (Joining.FMax, T.F16, T.F32, T.F16),
        (Joining.Min, T.F32, T.F32, T.F32),
        (Joining.Max, T.I8, T.I32, T.I8),
        (Joining.Add, T.U8, T.U32, T.U8),
        (Joining.Add, T.Bool, T.U32, T.U32),
        (Joining.And, T.Bool, T.U32, T.U32),
        (Joining.Xor, T.I32, T.I32, T.I32),
    ],
)
def test_every_way_to_join_agrees(
    joining: Joining, source: T, accumulator: T, element: T, eager: None
) -> None:
    for shape, axes in (((37,), (0,)), ((3, 20), (1,)), ((20, 3), (0,)), ((2, 4, 5, 2), (1, 2))):
        graph = joined(joining, source, accumulator, element, *shape, axes=axes)
        assert plan_graph(graph).lowered != graph
        require_agreement(graph)


def test_what_is_computed_before_and_behind_a_reduction_agrees(eager: None) -> None:
    values: dict[str, GraphNode] = {
        "a": given(T.F32, 20, 3),
        "s": ElementWise(fmul(X0, X0), ("a",), T.F32),
        "t": Transpose("s", (1, 0)),
        "r": Reduce("t", (0, 1), Joining.Add, ReduceOrder.TreeBinary, T.F32, T.F32),
        "y": ElementWise(fmul(X0, X0), ("r",), T.F32),
    }
    require_agreement(Graph(values, ["y"]))


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs_agree(seed: int, eager: None) -> None:
    graph = random_graph(seed)
    require_agreement(graph, random_sizes(graph, seed)[0], seed=seed)


def test_a_long_row_has_the_bits_of_the_engine_and_work_for_many() -> None:
    graph = joined(Joining.Add, T.F32, T.F32, T.F32, 1_000_003, axes=(0,))
    x = np.random.default_rng(0).normal(size=1_000_003).astype(np.float32)
    plan = plan_graph(graph)
    assert run_graph(plan, {"a": x}, backend="cpu")["y"].tobytes() == reduce_tree(x, backend="cpu").tobytes()
    assert max(most_groups(step) for step, _ in plan.bind({}).plan.dispatches) >= 100


def test_short_rows_many_rows_and_unknown_lengths_are_reduced_at_once() -> None:
    for graph in (
        joined(Joining.Add, T.F32, T.F32, T.F32, 1000, axes=(0,)),
        joined(Joining.Add, T.F32, T.F32, T.F32, 1000, 1 << 16, axes=(1,)),
        joined(Joining.ArgMax, T.F32, T.F32, T.U32, 1 << 20, axes=(0,)),
        Graph(
            {
                "a": given(T.F32, Size("n")),
                "y": Reduce("a", (0,), Joining.Add, ReduceOrder.TreeBinary, T.F32, T.F32),
            },
            ["y"],
        ),
    ):
        assert plan_graph(graph).lowered == graph
