"""PageRank in whole numbers: sums are exact, so no order of edges shows, and ranks are the same everywhere.

A rank is a number of 2^-62. What a node hands to each of its edges is its rank divided by their number,
rounded down; what rounding leaves over is lost, less than 2^-62 for each edge and turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import vyre
from vyre import In, Out, u32, u64
from vyre.errors import DispatchError, boundary, whole
from vyre.library.graphs.rows import require_graph, transpose
from vyre.library.messages import grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.library.graphs.rows import Graph

UNIT = 1 << 62


@vyre.kernel
def _ranked(
    offsets: In[u32], sources: In[u32], shares: In[u64], rest: In[u64], out: Out[u64], damping: u32
) -> None:
    """The shares that lead to a node and its part of `rest[0]`, times the damping of 2^-32; and `rest[1]`."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(out):
        return
    total = rest[0]
    for k in range(offsets[i], offsets[i + 1]):
        total += shares[sources[k]]
    high = (total >> 32) * u64(damping)
    low = (total & 0xFFFFFFFF) * u64(damping)
    out[i] = rest[1] + high + (low >> 32)


@boundary
def pagerank(
    graph: Graph, *, damping: float = 0.85, turns: int = 100, backend: str | Backend | None = None
) -> NDArray[np.float64]:
    """The rank of each node after so many turns from equal ranks; the sum is 1, but for what is rounded.

    A node without edges hands its rank to all nodes. `damping` is taken to the nearest 2^-32.
    """
    require_graph(graph)
    turns = whole("turns", turns)
    if isinstance(damping, np.floating):
        damping = float(damping)
    if not isinstance(damping, (int, float)) or not 0 <= damping < 1 or turns < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DispatchError(
            f"the damping {damping} or the number of turns {turns} is out of range.",
            fix="use a damping from 0 to below 1, and 0 turns or more.",
        )
    if not graph.nodes:
        return np.zeros(0, np.float64)
    back, _ = transpose(graph, backend=backend)
    degrees = np.diff(graph.offsets).astype(np.uint64)
    ends = degrees == 0
    factor = min(round(damping * (1 << 32)), (1 << 32) - 1)
    base = (UNIT - (UNIT >> 32) * factor) // graph.nodes
    ranks = np.full(graph.nodes, UNIT // graph.nodes, np.uint64)
    sources = back.targets if back.edges else np.zeros(1, np.uint32)
    for _ in range(turns):
        shares = ranks // np.maximum(degrees, np.uint64(1))
        rest = np.array([int(ranks[ends].sum()) // graph.nodes, base], np.uint64)
        out = np.zeros(graph.nodes, np.uint64)
        ranks = _ranked(
            back.offsets, sources, shares, rest, out, factor, workgroups=grid(graph.nodes), backend=backend
        )
    return ranks / np.float64(UNIT)
