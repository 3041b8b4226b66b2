"""Scans in blocks: the prefixes of the tree, on more than one invocation."""

from __future__ import annotations

import numpy as np
import pytest

from tests.planning.compared import require_agreement
from tests.planning.test_planned_nodes import given
from vyre.backends.registry import available
from vyre.conform.generate.graphs import random_graph, random_sizes
from vyre.graph import ElementWise, Graph, GraphNode, Joining, Scan, Size
from vyre.ir.expr import Var, fmul
from vyre.ir.types import DataType
from vyre.planning import plan_graph, prefixes, run_graph

T = DataType
OTHERS = [s.name for s in available() if s.available and s.name not in ("cpu", "reference")]
SCANS = [
    (Joining.Add, T.F16, T.F32, T.F16),
    (Joining.Add, T.BF16, T.BF16, T.BF16),
    (Joining.Add, T.F32, T.F64, T.F16),
    (Joining.Mul, T.F32, T.F32, T.F32),
    (Joining.FMin, T.F32, T.F32, T.F32),
    (Joining.Max, T.F32, T.F32, T.F32),
    (Joining.Min, T.I8, T.I32, T.I8),
    (Joining.Max, T.Bool, T.U32, T.Bool),
    (Joining.Add, T.U8, T.U32, T.U8),
    (Joining.Xor, T.I32, T.I32, T.I32),
]
"""Ways to join, with the types of the source, the sum and the result."""


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a few elements count as long."""
    monkeypatch.setattr(prefixes, "LONG", 3)
    monkeypatch.setattr(prefixes, "BLOCK", 2)


def scanned(
    joining: Joining,
    source: T,
    accumulator: T,
    element: T,
    *shape: int,
    axis: int = 0,
    exclusive: bool = False,
) -> Graph:
    node = Scan("a", axis, joining, accumulator, element, exclusive)
    return Graph({"a": given(source, *shape), "y": node}, ["y"])


@pytest.mark.parametrize("length", [3, 4, 5, 8, 15, 16, 17, 31, 33, 64, 100])
def test_every_length_agrees(length: int, eager: None) -> None:
    graph = scanned(Joining.Add, T.F32, T.F32, T.F32, length)
    assert plan_graph(graph).lowered != graph
    require_agreement(graph, seed=length)


@pytest.mark.parametrize(("joining", "source", "accumulator", "element"), SCANS)
def test_every_way_to_join_agrees(
    joining: Joining, source: T, accumulator: T, element: T, eager: None
) -> None:
    for shape, axis in (((19,), 0), ((3, 10), 1), ((10, 3), 0), ((2, 9, 2), 1)):
        for exclusive in (False, True):
            graph = scanned(joining, source, accumulator, element, *shape, axis=axis, exclusive=exclusive)
            assert plan_graph(graph).lowered != graph
            require_agreement(graph)


def test_what_is_computed_before_and_behind_a_scan_agrees(eager: None) -> None:
    square = fmul(Var("x0"), Var("x0"))
    values: dict[str, GraphNode] = {
        "a": given(T.F32, 11, 2),
        "s": ElementWise(square, ("a",), T.F32),
        "c": Scan("s", 0, Joining.Add, T.F32, T.F32),
        "y": ElementWise(square, ("c",), T.F32),
    }
    require_agreement(Graph(values, ["c", "y"]))


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs_agree(seed: int, eager: None) -> None:
    graph = random_graph(seed)
    require_agreement(graph, random_sizes(graph, seed)[0], seed=seed)


def test_a_long_row_has_the_bits_of_one_invocation(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = scanned(Joining.Add, T.F32, T.F32, T.F32, 100_003)
    x = np.random.default_rng(0).normal(size=100_003).astype(np.float32)
    plan = plan_graph(graph)
    monkeypatch.setattr(prefixes, "LONG", 1 << 30)
    alone = plan_graph(graph)
    assert [step.groups for step, _ in alone.bind({}).plan.dispatches] == [1]
    assert plan.bind({}).plan.dispatches[-1][0].groups == 7
    wanted = run_graph(alone, {"a": x}, backend="cpu")["y"].tobytes()
    for backend in ("cpu", *OTHERS):
        assert run_graph(plan, {"a": x}, backend=backend)["y"].tobytes() == wanted


def test_short_rows_many_rows_and_unknown_lengths_are_scanned_at_once() -> None:
    dynamic: dict[str, GraphNode] = {
        "a": given(T.F32, Size("n")),
        "y": Scan("a", 0, Joining.Add, T.F32, T.F32),
    }
    for graph in (
        scanned(Joining.Add, T.F32, T.F32, T.F32, 1000),
        scanned(Joining.Add, T.F32, T.F32, T.F32, 1 << 13, 1 << 12),
        Graph(dynamic, ["y"]),
    ):
        assert plan_graph(graph).lowered == graph
