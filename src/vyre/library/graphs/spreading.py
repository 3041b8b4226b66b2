"""What spreads along edges, turn by turn, until nothing changes: distances, components and levels.

A turn reads what the turn before left, and writes minima by atomics, so no order of edges shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vyre
from vyre import In, InOut, Out, engines, u32
from vyre.errors import DispatchError, boundary, whole
from vyre.library.graphs.rows import numbers, require_graph
from vyre.library.messages import grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.library.graphs.rows import Graph

    Numbers = NDArray[np.uint32]

ABSENT = 0xFFFFFFFF
"""The distance of a node that is not reached, and the level of one that has none."""


@vyre.kernel
def _spread(
    sources: In[u32],
    targets: In[u32],
    weights: In[u32],
    before: In[u32],
    after: InOut[u32],
    changed: Out[u32, Literal[1]],
) -> None:
    """A weight for every edge, or one for all."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(sources):
        return
    here = before[sources[i]]
    there = here + (weights[i] if len(weights) > 1 else weights[0])
    if there >= here and there < before[targets[i]]:
        vyre.atomic_min(after, targets[i], there)
        vyre.atomic_max(changed, 0, 1)


@vyre.kernel
def _hooked(
    sources: In[u32], targets: In[u32], before: In[u32], after: InOut[u32], changed: Out[u32, Literal[1]]
) -> None:
    """The smaller label of two neighbours goes to the other one, and to the node that the greater one names.

    That node brings it to all that have its label, so that long chains take few turns.
    """
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(sources):
        return
    here, there = before[sources[i]], before[targets[i]]
    if here != there:
        low = vyre.min(here, there)
        vyre.atomic_min(after, vyre.select(here < there, targets[i], sources[i]), low)
        vyre.atomic_min(after, vyre.max(here, there), low)
        vyre.atomic_max(changed, 0, 1)


@vyre.kernel
def _shortened(before: In[u32], out: Out[u32]) -> None:
    """The label of a label is one of the same component, and no greater."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i < len(out):
        out[i] = before[before[i]]


@vyre.kernel
def _released(sources: In[u32], targets: In[u32], found: In[u32], left: InOut[u32], level: u32) -> None:
    """Takes from each node the edges that come from the nodes of a level."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i < len(sources) and found[sources[i]] == level:
        vyre.atomic_add(left, targets[i], 0xFFFFFFFF)


@vyre.kernel
def _assigned(left: In[u32], found: InOut[u32], changed: Out[u32, Literal[1]], level: u32) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i < len(found) and left[i] == 0 and found[i] == 0xFFFFFFFF:
        found[i] = level
        vyre.atomic_max(changed, 0, 1)


def _from(graph: Graph, source: int, weights: Numbers, backend: str | Backend | None) -> Numbers:
    require_graph(graph)
    source = whole("source", source)
    if not 0 <= source < graph.nodes:
        raise DispatchError(
            f"there is no node {source} in a graph of {graph.nodes}.", fix="begin at a node of the graph."
        )
    found = np.full(graph.nodes, ABSENT, np.uint32)
    found[source] = 0
    sources, changed = graph.sources(backend), graph.edges > 0
    while changed:
        after, mark = _spread(
            sources, graph.targets, weights, found, found.copy(), np.zeros(1, np.uint32),
            workgroups=grid(graph.edges), backend=backend,
        )  # fmt: skip
        found, changed = after, bool(mark[0])
    return found


@boundary
def bfs(graph: Graph, source: int, *, backend: str | Backend | None = None) -> Numbers:
    """The fewest edges from a node to each one, or `ABSENT`."""
    return _from(graph, source, np.ones(1, np.uint32), backend)


@boundary
def shortest_paths(
    graph: Graph, weights: Any, source: int, *, backend: str | Backend | None = None
) -> Numbers:
    """The smallest sum of weights from a node to each one; past 2^32 - 2 a node counts as not reached."""
    require_graph(graph)
    given = numbers("weights", weights)
    if len(given) != graph.edges:
        raise DispatchError(
            f"got {len(given)} weights for {graph.edges} edges.", fix="pass one for each edge."
        )
    return _from(graph, source, given, backend)


@boundary
def components(graph: Graph, *, backend: str | Backend | None = None) -> Numbers:
    """For each node the smallest one that edges connect it with, whatever their direction."""
    require_graph(graph)
    found = np.arange(graph.nodes, dtype=np.uint32)
    sources, changed = graph.sources(backend), graph.edges > 0
    while changed:
        after, mark = _hooked(
            sources, graph.targets, found, found.copy(), np.zeros(1, np.uint32),
            workgroups=grid(graph.edges), backend=backend,
        )  # fmt: skip
        out = np.zeros(graph.nodes, np.uint32)
        found = _shortened(after, out, workgroups=grid(graph.nodes), backend=backend)
        changed = bool(mark[0])
    return found


@boundary
def levels(graph: Graph, *, backend: str | Backend | None = None) -> Numbers:
    """For each node the most edges of a way that leads to it; `ABSENT` on a cycle, and behind one."""
    require_graph(graph)
    found = np.full(graph.nodes, ABSENT, np.uint32)
    if not graph.edges:
        return np.zeros(graph.nodes, np.uint32)
    sources = graph.sources(backend)
    left = np.array(engines.histogram(graph.targets, bins=graph.nodes, backend=backend))
    for level in range(graph.nodes):
        mark = np.zeros(1, np.uint32)
        found, mark = _assigned(left, found, mark, level, workgroups=grid(graph.nodes), backend=backend)
        if not mark[0]:
            break
        left = _released(
            sources, graph.targets, found, left, level, workgroups=grid(graph.edges), backend=backend
        )
    return found
