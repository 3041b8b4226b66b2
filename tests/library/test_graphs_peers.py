"""Graphs are answered as SciPy and networkx answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vyre.library import graphs
from vyre.library.graphs import ABSENT, Graph

nx: Any = pytest.importorskip("networkx")
sparse: Any = pytest.importorskip("scipy.sparse")
csgraph: Any = pytest.importorskip("scipy.sparse.csgraph")


def made(nodes: int, edges: int, *, forward: bool = False) -> Graph:
    """A random graph without double edges; `forward` ones lead to greater nodes only."""
    rng = np.random.default_rng(nodes)
    pairs = np.unique(rng.integers(0, nodes, (edges, 2)), axis=0)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]] if forward else pairs
    return Graph(np.searchsorted(pairs[:, 0], np.arange(nodes + 1)), pairs[:, 1])


def matrix(graph: Graph, values: Any) -> Any:
    given = values, graph.targets.astype(np.int32), graph.offsets.astype(np.int32)
    return sparse.csr_matrix(given, shape=(graph.nodes, graph.nodes))


def directed(graph: Graph) -> Any:
    found = nx.DiGraph()
    found.add_nodes_from(range(graph.nodes))
    found.add_edges_from(zip(graph.sources().tolist(), graph.targets.tolist(), strict=True))
    return found


SIZES = [(1, 1), (40, 60), (300, 900)]


@pytest.mark.parametrize(("nodes", "edges"), SIZES)
def test_distances_components_and_transposes_are_those_of_scipy(nodes: int, edges: int) -> None:
    graph = made(nodes, edges)
    weights = np.random.default_rng(1).integers(1, 100, graph.edges).astype(np.uint32)
    for found, given in (
        (graphs.bfs(graph, 0), np.ones(graph.edges)),
        (graphs.shortest_paths(graph, weights, 0), weights.astype(np.float64)),
    ):
        expected = csgraph.dijkstra(matrix(graph, given), indices=0)
        assert found.tolist() == [ABSENT if np.isinf(x) else int(x) for x in expected]
    _, labels = csgraph.connected_components(matrix(graph, np.ones(graph.edges)), directed=False)
    firsts = {label: int(np.argmax(labels == label)) for label in set(labels.tolist())}
    assert graphs.components(graph).tolist() == [firsts[label] for label in labels.tolist()]
    turned = matrix(graph, np.arange(graph.edges)).T.tocsr()
    back, places = graphs.transpose(graph)
    assert (back.offsets.tolist(), back.targets.tolist()) == (turned.indptr.tolist(), turned.indices.tolist())
    assert places.tolist() == turned.data.tolist()


@pytest.mark.parametrize(("nodes", "edges"), SIZES)
def test_levels_are_generations_of_networkx(nodes: int, edges: int) -> None:
    graph = made(nodes, edges, forward=True)
    found = graphs.levels(graph)
    for level, members in enumerate(nx.topological_generations(directed(graph))):
        assert sorted(members) == np.nonzero(found == level)[0].tolist()


@pytest.mark.parametrize(("nodes", "edges"), SIZES)
def test_ranks_and_products_are_near_those_of_networkx_and_scipy(nodes: int, edges: int) -> None:
    graph = made(nodes, edges)
    expected = nx.pagerank(directed(graph), tol=1e-13, max_iter=500)
    assert np.allclose(graphs.pagerank(graph, turns=200), [expected[k] for k in range(nodes)], atol=1e-9)
    rng = np.random.default_rng(2)
    values, x = rng.random(graph.edges, np.float32), rng.random(nodes, np.float32)
    assert np.allclose(graphs.spmv(graph, values, x), matrix(graph, values) @ x, rtol=1e-5)
