"""Specs of what is asked of graphs: `vyre.library.graphs`. A case is a list of edges; oracles walk them."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import library
from vyre.conform.registry.engine.called import SORTING, CallSubject, elements_of, numbers, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.registry.engine.called import Array, Inputs

ABSENT = 0xFFFF_FFFF
_PATH = 60
_TURNS = 5
_UNIT = 1 << 62
_FACTOR = round(0.85 * (1 << 32))


def _draw(rng: np.random.Generator, index: int, count: int) -> Inputs:
    """Edges at random, few or many for each node; or one long path, whose edges are in no order."""
    nodes = max(1, count // (1, 3, 8)[int(rng.integers(3))])
    sources, targets = (rng.integers(0, nodes, count, dtype=np.uint32) for _ in range(2))
    if index % 3 == 1:
        nodes = min(count, _PATH) + 1
        sources = rng.permutation(nodes - 1).astype(np.uint32)
        targets = sources + np.uint32(1)
    if index % 3 == 2:
        sources, targets = np.minimum(sources, targets), np.maximum(sources, targets)
        kept = sources != targets
        sources, targets = sources[kept], targets[kept]
    weights = rng.integers(0, 1 << int(rng.integers(1, 32)), len(sources), dtype=np.uint32)
    return {"sources": sources, "targets": targets, "weights": weights, "nodes": np.array([nodes], np.uint32)}


def _ordered(inputs: Inputs) -> tuple[int, Array, Array, Array]:
    """How many nodes, and the edges in the order of their sources."""
    nodes = max(1, int(inputs["nodes"][0]))
    sources, targets = (inputs[name] % np.uint32(nodes) for name in ("sources", "targets"))
    order = np.argsort(sources, kind="stable")
    return nodes, sources[order], targets[order], inputs["weights"][order] % np.uint32(ABSENT)


def _graph(inputs: Inputs) -> Any:
    nodes, sources, targets, _ = _ordered(inputs)
    return library.graphs.Graph(np.searchsorted(sources, np.arange(nodes + 1)), targets)


def _rows(inputs: Inputs) -> list[list[tuple[int, int]]]:
    """For each node its targets with their weights."""
    nodes, sources, targets, weights = _ordered(inputs)
    found = [list[tuple[int, int]]() for _ in range(nodes)]
    for source, target, weight in zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True):
        found[int(source)].append((int(target), int(weight)))
    return found


def _nearest(rows: list[list[tuple[int, int]]]) -> Array:
    """From node 0, by a queue of what is nearest."""
    found = [ABSENT] * len(rows)
    found[0] = 0
    queue = [(0, 0)]
    while queue:
        here, node = heapq.heappop(queue)
        for target, weight in rows[node] if here == found[node] else ():
            if here + weight < found[target]:
                found[target] = here + weight
                heapq.heappush(queue, (here + weight, target))
    return numbers(found)


def _many(inputs: Inputs) -> int:
    return int(inputs["nodes"][0]) + 8


def _size(inputs: Inputs) -> int:
    return elements_of(inputs) + int(inputs["nodes"][0])


def _subject(name: str, doc: str, call: Any, oracle: Any, items: Any = whole, **more: Any) -> CallSubject:
    elements = ("sources", "targets", "weights")
    more |= {"elements": elements, "repeats": _many, "measure": _size}
    return CallSubject(name, doc, _draw, call, oracle, items, **more)


def _bfs(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    return {"output": library.graphs.bfs(_graph(inputs), 0, backend=backend)}


def _breadth(inputs: Inputs, index: int) -> Array:
    return _nearest([[(target, 1) for target, _ in row] for row in _rows(inputs)])


def _shortest(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    weights = _ordered(inputs)[3]
    return {"output": library.graphs.shortest_paths(_graph(inputs), weights, 0, backend=backend)}


def _paths(inputs: Inputs, index: int) -> Array:
    return _nearest(_rows(inputs))


def _components(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    return {"output": library.graphs.components(_graph(inputs), backend=backend)}


def _connected(inputs: Inputs, index: int) -> Array:
    rows = _rows(inputs)
    root = list(range(len(rows)))

    def of(node: int) -> int:
        while root[node] != node:
            node = root[node]
        return node

    for node, row in enumerate(rows):
        for target, _ in row:
            low, high = sorted((of(node), of(target)))
            root[high] = low
    return numbers(of(node) for node in range(len(rows)))


def _levels(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    return {"output": library.graphs.levels(_graph(inputs), backend=backend)}


def _levelled(inputs: Inputs, index: int) -> Array:
    """Nodes whose edges have all come are taken, level by level."""
    rows = _rows(inputs)
    left = [0] * len(rows)
    for row in rows:
        for target, _ in row:
            left[target] += 1
    found, level = [ABSENT] * len(rows), 0
    ready = [node for node, count in enumerate(left) if not count]
    while ready:
        after: list[int] = []
        for node in ready:
            found[node] = level
            for target, _ in rows[node]:
                left[target] -= 1
                after += [] if left[target] else [target]
        ready, level = after, level + 1
    return numbers(found)


def _transpose(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    turned, edges = library.graphs.transpose(_graph(inputs), backend=backend)
    return {"output": turned.targets, "edges": edges, "offsets": turned.offsets}


def _turned(inputs: Inputs, index: int) -> Array:
    nodes, sources, targets, _ = _ordered(inputs)
    edges = sorted(range(len(targets)), key=lambda edge: (int(targets[edge]), edge))
    pairs = [int(sources[edge]) << 32 | edge for edge in edges]
    return numbers([*pairs, *np.searchsorted(np.sort(targets), np.arange(nodes + 1)).tolist()])


def _pairs(inputs: Inputs, outputs: Mapping[str, Any]) -> Array:
    pairs = outputs["output"].astype(np.uint64) << np.uint64(32) | outputs["edges"]
    # A graph without edges is its own transpose.
    return np.concatenate([pairs, outputs["offsets"]])


def _pagerank(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    return {"output": library.graphs.pagerank(_graph(inputs), turns=_TURNS, backend=backend)}


def _ranked(inputs: Inputs, index: int) -> Array:
    """In whole numbers of 2^-62; a share is rounded down, and so is each half of a product."""
    rows = _rows(inputs)
    nodes = len(rows)
    ranks = [_UNIT // nodes] * nodes
    base = (_UNIT - (_UNIT >> 32) * _FACTOR) // nodes
    for _ in range(_TURNS):
        rest = sum(rank for rank, row in zip(ranks, rows, strict=True) if not row) // nodes
        totals = [rest] * nodes
        for rank, row in zip(ranks, rows, strict=True):
            for target, _ in row:
                totals[target] += rank // len(row)
        ranks = [base + (x >> 32) * _FACTOR + ((x & 0xFFFF_FFFF) * _FACTOR >> 32) for x in totals]
    return (np.array(ranks, np.uint64) / np.float64(_UNIT)).view(np.uint64)


def _factors(inputs: Inputs) -> tuple[Array, Array]:
    nodes, _, _, weights = _ordered(inputs)
    values = (weights.astype(np.float32) - np.float32(1 << 20)) / np.float32(3)
    return values, np.float32(1) / (np.arange(nodes, dtype=np.float32) + np.float32(1))


def _spmv(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    return {"output": library.graphs.spmv(_graph(inputs), *_factors(inputs), backend=backend)}


def _tree(values: Array) -> np.float32:
    """Split at the largest power of two below the number of values."""
    if len(values) < 2:
        return values[0] if len(values) else np.float32(0)
    middle = 1 << (len(values) - 1).bit_length() - 1
    return np.float32(_tree(values[:middle]) + _tree(values[middle:]))


def _products(inputs: Inputs, index: int) -> Array:
    nodes, sources, targets, _ = _ordered(inputs)
    values, x = _factors(inputs)
    products = values * x[targets]
    sums = [_tree(products[sources == node]) for node in range(nodes)]
    return np.array(sums, np.float32).view(np.uint32).astype(np.uint64)


SUBJECTS = (
    _subject("transpose", "a graph with every edge turned round", _transpose, _turned, _pairs, fixed=SORTING),
    _subject("bfs", "the fewest edges from one node to each", _bfs, _breadth),
    _subject("components", "the smallest node that each one is connected with", _components, _connected),
    _subject("levels", "the most edges of a way to each node", _levels, _levelled),
    _subject("shortest_paths", "the smallest sum of weights from one node to each", _shortest, _paths),
    _subject("pagerank", "the rank of each node, in exact sums", _pagerank, _ranked, fixed=SORTING),
    _subject("spmv", "a sparse matrix of floats times a vector, a tree a row", _spmv, _products),
)
SPECS = tuple(subject.spec() for subject in SUBJECTS)
