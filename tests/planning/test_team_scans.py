"""Scans by teams: the prefixes of the tree from subtrees in the memory of a workgroup.

The kernels are those for a GPU, run on the processor.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.planning.compared import as_array, random_elements
from tests.planning.forced import results
from tests.planning.test_planned_nodes import given
from tests.planning.test_prefixes import SCANS, scanned
from tests.planning.test_staged import joined
from vyre.graph import Graph, GraphNode, Joining, Scan, Size
from vyre.ir.types import DataType
from vyre.planning import plan_graph, prefixes, staged
from vyre.planning.kernels import prefixed
from vyre.planning.plan import TEAMS
from vyre.planning.prefixes import TeamScan
from vyre.reference.tensors import evaluate

T = DataType


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few elements, so that there are totals of totals."""
    monkeypatch.setattr(prefixes, "RADIX", 8)
    monkeypatch.setattr(prefixes, "TEAM_LONG", 1)
    monkeypatch.setattr(prefixed, "EACH", 2)


def require_same(graph: Graph, seed: int = 0) -> None:
    """The kernels for teams give what the evaluator gives."""
    plan = plan_graph(graph)
    assert any(isinstance(node, TeamScan) for _, node in plan.form(TEAMS).lowered.values)
    elements = random_elements(graph, {}, seed)
    arrays = {name: as_array(graph.inputs[name].element, value) for name, value in elements.items()}
    truth = evaluate(graph, elements)
    for name, found in zip(graph.outputs, results(plan, arrays, TEAMS), strict=True):
        stride = graph.types[name].element.stride
        wanted = b"".join(bits.to_bytes(stride, "little") for bits in truth[name].bits)
        assert found.tobytes() == wanted


@pytest.mark.parametrize("length", [1, 8, 9, 64, 65, 100, 513])
@pytest.mark.parametrize("exclusive", [False, True])
def test_every_length_agrees(length: int, exclusive: bool, small: None) -> None:
    require_same(scanned(Joining.Add, T.F32, T.F32, T.F32, length, exclusive=exclusive), seed=length)


@pytest.mark.parametrize(("joining", "source", "accumulator", "element"), SCANS)
def test_every_way_to_join_agrees(
    joining: Joining, source: T, accumulator: T, element: T, small: None
) -> None:
    for shape, axis, exclusive in (((70,), 0, True), ((2, 19, 2), 1, False)):
        require_same(scanned(joining, source, accumulator, element, *shape, axis=axis, exclusive=exclusive))


@pytest.mark.parametrize("accumulator", [T.F32, T.F64])
def test_a_long_row_has_the_bits_of_every_backend(accumulator: T) -> None:
    length = 200_003
    plan = plan_graph(scanned(Joining.Add, T.F32, accumulator, T.F32, length))
    x = np.random.default_rng(0).normal(size=length).astype(np.float32)
    assert len(plan.chosen(TEAMS)) == 2
    assert results(plan, {"a": x}, TEAMS)[0].tobytes() == results(plan, {"a": x})[0].tobytes()


@pytest.mark.parametrize("accumulator", [T.F32, T.F64])
def test_the_memory_of_a_workgroup_is_enough_for_every_length(accumulator: T) -> None:
    for length in (1 << 12, 1 << 24, (1 << 31) + 1):
        plan = plan_graph(scanned(Joining.Add, T.F32, accumulator, T.F32, length))
        program = plan.chosen(TEAMS)[-1].variant({}, TEAMS).drafted.program
        shared = [b.count * b.element.stride for b in program.buffers if b.access.shared]
        assert sum(shared) <= 48 << 10


def test_short_rows_rows_apart_and_unknown_lengths_are_not_for_teams() -> None:
    dynamic: dict[str, GraphNode] = {
        "a": given(T.F32, Size("n")),
        "y": Scan("a", 0, Joining.Add, T.F32, T.F32),
    }
    graphs = [
        Graph(dynamic, ["y"]),
        scanned(Joining.Add, T.F32, T.F32, T.F32, 100),
        scanned(Joining.Add, T.F32, T.F32, T.F32, 1024, prefixes.APART + 1),
    ]
    for graph in graphs:
        nodes = plan_graph(graph).form(TEAMS).lowered.values
        assert not any(isinstance(node, TeamScan) for _, node in nodes)


def test_a_long_sum_has_more_parts_where_teams_take_them() -> None:
    plan = plan_graph(joined(Joining.Add, T.F32, T.F32, T.F32, 1 << 20, axes=(0,)))
    x = np.random.default_rng(0).normal(size=1 << 20).astype(np.float32)
    assert plan.bind({}, TEAMS).plan.dispatches[0][0].groups == (1 << 20) // staged.LEAST
    assert results(plan, {"a": x}, TEAMS)[0].tobytes() == results(plan, {"a": x})[0].tobytes()
