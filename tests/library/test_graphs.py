"""Graphs are answered as plain loops answer, on every backend."""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import engines
from vyre.backends.device_buffer import DeviceBuffer
from vyre.errors import DispatchError
from vyre.library import graphs
from vyre.library.graphs import ABSENT, Graph, spreading

if TYPE_CHECKING:
    from collections.abc import Callable

rng = np.random.default_rng(31)


def made(nodes: int, edges: int, *, forward: bool = False) -> Graph:
    """A random graph; `forward` edges lead to greater nodes only."""
    pairs = rng.integers(0, max(nodes, 1), (edges if nodes else 0, 2))
    if forward:
        pairs = np.sort(pairs, axis=1)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    offsets = np.searchsorted(pairs[:, 0], np.arange(nodes + 1))
    return Graph(offsets, pairs[:, 1])


def rows(graph: Graph) -> list[list[int]]:
    return [graph.targets[a:b].tolist() for a, b in pairwise(graph.offsets.tolist())]


def dijkstra(graph: Graph, weights: list[int], source: int) -> list[int]:
    found = [ABSENT] * graph.nodes
    queue = [(0, source)]
    while queue:
        distance, node = heapq.heappop(queue)
        if distance < found[node]:
            found[node] = distance
            for edge in range(int(graph.offsets[node]), int(graph.offsets[node + 1])):
                heapq.heappush(queue, (distance + weights[edge], int(graph.targets[edge])))
    return found


SIZES = [(1, 0), (1, 3), (2, 1), (30, 20), (30, 60), (200, 150), (500, 3000)]


@pytest.mark.parametrize(("nodes", "edges"), SIZES)
def test_distances_are_those_of_dijkstra(nodes: int, edges: int, backend: str) -> None:
    graph = made(nodes, edges)
    weights = rng.integers(0, 1000, graph.edges).astype(np.uint32)
    source = nodes // 2
    assert graphs.bfs(graph, source, backend=backend).tolist() == dijkstra(graph, [1] * graph.edges, source)
    found = graphs.shortest_paths(graph, weights, source, backend=backend)
    assert found.tolist() == dijkstra(graph, weights.tolist(), source)


def test_a_distance_that_does_not_fit_is_none() -> None:
    chain = Graph([0, 1, 2, 2], [1, 2])
    for last, expected in ((0x7FFFFFFE, 0xFFFFFFFE), (0x7FFFFFFF, ABSENT), (0x80000000, ABSENT)):
        found = graphs.shortest_paths(chain, np.array([0x80000000, last], np.uint32), 0)
        assert found.tolist() == [0, 0x80000000, expected]


@pytest.mark.parametrize(("nodes", "edges"), SIZES)
def test_components_are_those_of_a_search(nodes: int, edges: int, backend: str) -> None:
    graph = made(nodes, edges)
    near: list[set[int]] = [set() for _ in range(nodes)]
    for node, row in enumerate(rows(graph)):
        for other in row:
            near[node].add(other)
            near[other].add(node)
    expected = [-1] * nodes
    for first in range(nodes):
        stack = [first] if expected[first] < 0 else []
        while stack:
            node = stack.pop()
            if expected[node] < 0:
                expected[node] = first
                stack += near[node]
    assert graphs.components(graph, backend=backend).tolist() == expected


def test_a_long_chain_is_one_component() -> None:
    order = rng.permutation(3000)
    following = np.empty(3000, np.uint32)
    following[order] = np.roll(order, 1)
    assert not graphs.components(Graph(np.arange(3001), following)).any()


def test_a_long_chain_takes_few_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[int] = []
    shortened = spreading._shortened

    def counted(*given: Any, **more: Any) -> Any:
        turns.append(1)
        return shortened(*given, **more)

    monkeypatch.setattr(spreading, "_shortened", counted)
    for order in (rng.permutation(3000), np.arange(3000), np.arange(3000)[::-1]):
        following = np.empty(3000, np.uint32)
        following[order] = np.roll(order, 1)
        turns.clear()
        assert not graphs.components(Graph(np.arange(3001), following)).any()
        assert len(turns) <= 20


@pytest.mark.parametrize(("nodes", "edges"), SIZES)
def test_levels_are_longest_ways(nodes: int, edges: int, backend: str) -> None:
    graph = made(nodes, edges, forward=True)
    expected = [0] * nodes
    for node, row in enumerate(rows(graph)):
        for other in row:
            expected[other] = max(expected[other], expected[node] + 1)
    assert graphs.levels(graph, backend=backend).tolist() == expected


def test_a_cycle_and_what_is_behind_it_have_no_level(backend: str) -> None:
    graph = Graph([0, 1, 2, 4, 4, 5], [1, 2, 1, 3, 0])
    assert graphs.levels(graph, backend=backend).tolist() == [1, ABSENT, ABSENT, ABSENT, 0]


@pytest.mark.parametrize(("nodes", "edges"), SIZES)
def test_a_transpose_has_every_edge_turned(nodes: int, edges: int, backend: str) -> None:
    graph = made(nodes, edges)
    turned, places = graphs.transpose(graph, backend=backend)
    expected: list[list[int]] = [[] for _ in range(nodes)]
    for node, row in enumerate(rows(graph)):
        for other in row:
            expected[other].append(node)
    assert rows(turned) == expected
    assert (graph.sources()[places] == turned.targets).all()


def test_every_row_is_added_as_a_tree(backend: str) -> None:
    sizes = [*range(20), 31, 32, 33, 100, 1000]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    graph = Graph(offsets, rng.integers(0, len(sizes), offsets[-1]))
    values = rng.standard_normal(graph.edges).astype(np.float32)
    x = (rng.standard_normal(graph.nodes) * 1e3).astype(np.float32)
    found = graphs.spmv(graph, values, x, backend=backend)
    products = values * x[graph.targets]
    bounds = pairwise(offsets.tolist())
    expected = [engines.reduce_tree(products[a:b]) if b > a else 0.0 for a, b in bounds]
    assert found.view(np.uint32).tolist() == np.array(expected, np.float32).view(np.uint32).tolist()


def test_a_product_of_device_buffers_stays_on_the_device(backend: str) -> None:
    graph = made(300, 4000)
    values = rng.standard_normal(graph.edges).astype(np.float32)
    x = rng.standard_normal(graph.nodes).astype(np.float32)
    held = [vyre.to_device(array, backend=backend) for array in (values, x)]
    found = graphs.spmv(graph, *held)
    assert isinstance(found, DeviceBuffer)
    assert found.numpy().tobytes() == graphs.spmv(graph, values, x, backend="cpu").tobytes()
    kept = graph.beside(held[0])
    assert graphs.spmv(graph, *held, backend=backend).numpy().tobytes() == found.numpy().tobytes()
    assert graph.beside(held[0]) is kept
    kept[0].close()
    assert graphs.spmv(graph, *held).numpy().tobytes() == found.numpy().tobytes()
    with pytest.raises(DispatchError, match="x have the type float32 and the shape"):
        graphs.spmv(graph, held[0], held[0])


@pytest.mark.parametrize(("nodes", "edges"), SIZES)
def test_ranks_are_those_of_a_power_iteration(nodes: int, edges: int, backend: str) -> None:
    graph = made(nodes, edges)
    expected = np.full(nodes, 1 / nodes)
    degrees = np.diff(graph.offsets.astype(np.int64))
    sources = np.repeat(np.arange(nodes), degrees)
    for _ in range(30):
        shares = expected / np.maximum(degrees, 1)
        flow = np.bincount(graph.targets, shares[sources], nodes) + expected[degrees == 0].sum() / nodes
        expected = 0.15 / nodes + 0.85 * flow
    found = graphs.pagerank(graph, turns=30, backend=backend)
    assert abs(found - expected).max() < 1e-9
    assert (found == graphs.pagerank(graph, turns=30)).all()
    assert abs(found.sum() - 1) < 1e-12


def test_the_damping_may_be_a_number_of_numpy() -> None:
    graph = made(20, 60)
    wanted = graphs.pagerank(graph, damping=0.5, turns=3)
    assert (graphs.pagerank(graph, damping=np.float32(0.5), turns=3) == wanted).all()  # pyright: ignore[reportArgumentType]


def test_the_reference_gives_the_same() -> None:
    graph = made(9, 14)
    values = np.ones(graph.edges, np.float32)
    asked: list[Callable[[str], Any]] = [
        lambda on: graphs.components(graph, backend=on),
        lambda on: graphs.levels(graph, backend=on),
        lambda on: graphs.bfs(graph, 0, backend=on),
        lambda on: graphs.pagerank(graph, turns=2, backend=on),
        lambda on: graphs.spmv(graph, values, values[:9], backend=on),
    ]
    for ask in asked:
        assert ask("reference").tolist() == ask("cpu").tolist()


def test_a_graph_may_come_from_a_device(backend: str) -> None:
    offsets = vyre.to_device(np.array([0, 1, 2, 2], np.uint32), backend=backend)
    targets = vyre.to_device(np.array([1, 2], np.uint32), backend=backend)
    assert graphs.bfs(Graph(offsets, targets), 0, backend=backend).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Graph([0, 2], [0]), "do not ascend from 0 to 1"),
        (lambda: Graph([], []), "do not ascend"),
        (lambda: Graph([0, 2, 1], [0]), "do not ascend"),
        (lambda: Graph([0, 1], [1]), "leads to node 1 of 1"),
        (lambda: Graph([0, 1], [-1]), "between 0 and"),
        (lambda: Graph([0, 1], [0.5]), "one-dimensional array of integers"),
        (lambda: graphs.bfs(Graph([0, 0], []), 1), "no node 1 in a graph of 1"),
        (lambda: graphs.bfs(Graph([0, 0], []), 0.5), "source is 0.5, a value of float"),  # pyright: ignore[reportArgumentType]
        (lambda: graphs.shortest_paths(Graph([0, 1], [0]), [], 0), "0 weights for 1 edges"),
        (lambda: graphs.shortest_paths(Graph([0, 1], [0]), [-1], 0), "between 0 and"),
        (lambda: graphs.spmv(Graph([0, 0], []), [], [1.0]), "values have the type float64"),
        (lambda: graphs.pagerank(Graph([0, 0], []), damping=1.0), "damping 1.0"),
        (lambda: graphs.pagerank(Graph([0, 0], []), turns=1.5), "turns is 1.5"),  # pyright: ignore[reportArgumentType]
        (lambda: graphs.pagerank(Graph([0, 0], []), damping="x"), "damping x"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_cannot_be_taken_is_refused(call: Any, said: str) -> None:
    with pytest.raises(DispatchError) as raised:
        call()
    assert said in str(raised.value)
    assert raised.value.fix
