"""A graph in compressed rows, its transpose, and the product of a sparse matrix with a vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vyre
from vyre import In, Out, Private, engines, f32, u32
from vyre.backends.device_buffer import DeviceBuffer
from vyre.backends.foreign import plain_array
from vyre.errors import DispatchError, boundary
from vyre.library.messages import grid
from vyre.library.reading import owner, run_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

    Numbers = NDArray[np.uint32]


@vyre.kernel
def _owners(offsets: In[u32], out: Out[u32], each: u32) -> None:
    first = (vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)) * each
    if first >= len(out):
        return
    row = owner(offsets, first)
    for i in range(first, min(first + each, len(out))):
        while vyre.bounded(i >= offsets[row + 1], 0xFFFFFFFF):
            row += 1
        out[i] = row


def product(targets: In[u32], values: In[f32], x: In[f32], at: u32) -> f32:
    return values[at] * x[targets[at]]


def two_products(targets: In[u32], values: In[f32], x: In[f32], at: u32) -> f32:
    return product(targets, values, x, at) + product(targets, values, x, at + 1)


def four_products(targets: In[u32], values: In[f32], x: In[f32], at: u32) -> f32:
    return two_products(targets, values, x, at) + two_products(targets, values, x, at + 2)


@vyre.kernel
def _products(
    offsets: In[u32],
    targets: In[u32],
    values: In[f32],
    x: In[f32],
    out: Out[f32],
    sums: Private[f32, Literal[32]],
) -> None:
    """`sums[k]` is the sum of the last whole 2^k eights of products; two of them make the next."""
    row = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if row >= len(out):
        return
    start = offsets[row]
    size = offsets[row + 1] - start
    for eight in range(size // 8):
        at = start + 8 * u32(eight)
        low = four_products(targets, values, x, at)
        total = low + four_products(targets, values, x, at + 4)
        level = u32(0)
        while vyre.bounded(u32(eight) >> level & 1 == 1, 32):
            total = sums[level] + total
            level += 1
        sums[level] = total
    # What is left of eight, then the eights: from the smallest to the greatest, which are first in the row.
    rest, at, result = size & 7, start + (size & 0xFFFFFFF8), f32(0.0)
    if rest & 1 == 1:
        result = product(targets, values, x, at + (rest & 6))
    if rest & 2 == 2:
        two = two_products(targets, values, x, at + (rest & 4))
        result = two + result if rest & 1 == 1 else two
    if rest & 4 == 4:
        four = four_products(targets, values, x, at)
        result = four + result if rest & 3 > 0 else four
    seen = rest
    for k in range(32 - vyre.clz(size // 8)):
        if size >> (k + 3) & 1 == 1:
            result = sums[k] + result if seen > 0 else sums[k]
            seen = u32(1)
    out[row] = result


class Graph:
    """The edges of node i lead to `targets[offsets[i] : offsets[i + 1]]`; both are kept as uint32."""

    @boundary
    def __init__(self, offsets: Any, targets: Any) -> None:
        self.offsets = numbers("offsets", offsets)
        self.targets = numbers("targets", targets)
        wide = self.offsets.astype(np.int64)
        if not len(wide) or wide[0] or wide[-1] != len(self.targets) or bool((np.diff(wide) < 0).any()):
            raise DispatchError(
                f"offsets do not ascend from 0 to {len(self.targets)}.",
                fix="pass where the edges of each node begin, then their number.",
            )
        if len(self.targets) and int(self.targets.max()) >= self.nodes:
            raise DispatchError(
                f"an edge leads to node {self.targets.max()} of {self.nodes}.",
                fix="use targets below the nodes.",
            )
        self._held: tuple[DeviceBuffer, DeviceBuffer] | None = None

    def beside(self, array: DeviceBuffer) -> tuple[DeviceBuffer, DeviceBuffer]:
        """Offsets and targets on the device of this array; they stay until another device is asked for."""
        held = self._held
        if held is None or held[0]._owner is not array._owner or held[0].closed or held[1].closed:
            offsets, targets = (vyre.to_device(a, backend=array._owner) for a in (self.offsets, self.targets))
            self._held = held = offsets, targets
        return held

    @property
    def nodes(self) -> int:
        return len(self.offsets) - 1

    @property
    def edges(self) -> int:
        return len(self.targets)

    def sources(self, backend: str | Backend | None = None) -> Numbers:
        """The node at which each edge begins."""
        if not self.edges:
            return np.zeros(0, np.uint32)
        out, each = np.zeros(self.edges, np.uint32), run_of(backend)
        turns = grid(-(-self.edges // each))
        return _owners(self.offsets, out, each, workgroups=turns, backend=backend)


def numbers(what: str, values: Any) -> Numbers:
    """A row of numbers that an index can be, from the host or a device."""
    try:
        given = np.asanyarray(values.numpy() if isinstance(values, DeviceBuffer) else values)
        found = plain_array(f"the row of {what}", given)
    except ValueError:  # lists of several lengths
        found = np.zeros((0, 0))
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise DispatchError(
            f"{what} must be a one-dimensional array of integers.", fix="pass an array of uint32."
        )
    if found.size and (int(found.min()) < 0 or int(found.max()) >= 0xFFFFFFFF):
        raise DispatchError(f"{what} must lie between 0 and 2^32 - 2.", fix="pass numbers in this range.")
    return np.ascontiguousarray(found, np.uint32)


def require_graph(graph: object) -> None:
    """Refuses what is not a `Graph`."""
    if not isinstance(graph, Graph):
        raise DispatchError(
            f"the graph is {type(graph).__name__}, not a Graph.", fix="pass Graph(offsets, targets)."
        )


@boundary
def transpose(graph: Graph, *, backend: str | Backend | None = None) -> tuple[Graph, Numbers]:
    """The graph with every edge turned round, and which edge each one was. Sources stay in order."""
    require_graph(graph)
    if not graph.edges:
        return graph, np.zeros(0, np.uint32)
    places = engines.argsort(graph.targets, backend=backend)
    counts = engines.histogram(graph.targets, bins=graph.nodes, backend=backend)
    offsets = np.concatenate([np.zeros(1, np.uint32), engines.scan(counts, backend=backend)])
    return Graph(offsets, engines.gather(graph.sources(backend), places, backend=backend)), places


@boundary
def spmv(graph: Graph, values: Any, x: Any, *, backend: str | Backend | None = None) -> Any:
    """For each node the sum of `values[edge] * x[target]` over its edges, of float32.

    Products are rounded, and added in the order of `engines.reduce_tree`; a node without edges has 0. If
    `values` and `x` are device buffers, so is the result; the graph stays on that device for later calls.
    """
    require_graph(graph)
    if isinstance(values, DeviceBuffer) and isinstance(x, DeviceBuffer) and graph.edges:
        _require_floats("values", values, graph.edges)
        _require_floats("x", x, graph.nodes)
        owner = values._owner if backend is None else backend
        memory = *graph.beside(values), values, x
        return _products(*memory, graph.nodes, workgroups=grid(graph.nodes), backend=owner)
    factors, vector = _floats("values", values, graph.edges), _floats("x", x, graph.nodes)
    if not graph.edges:
        return np.zeros(graph.nodes, np.float32)
    out = np.zeros(graph.nodes, np.float32)
    return _products(
        graph.offsets, graph.targets, factors, vector, out, workgroups=grid(graph.nodes), backend=backend
    )


def _floats(what: str, values: Any, size: int) -> NDArray[np.float32]:
    given = np.asanyarray(values.numpy() if isinstance(values, DeviceBuffer) else values)
    found = plain_array(f"the row of {what}", given)
    _require_floats(what, found, size)
    return np.ascontiguousarray(found)


def _require_floats(what: str, found: Any, size: int) -> None:
    if found.dtype != np.float32 or found.shape != (size,):
        raise DispatchError(
            f"{what} have the type {found.dtype} and the shape {found.shape}.",
            fix=f"pass {size} float32 in a row.",
        )
