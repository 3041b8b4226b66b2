"""`plan_graph`: a graph as a list of kernels, made once and good for every length of its dimensions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from vyre.engines.run import Runner
from vyre.errors import boundary
from vyre.planning.bound import BoundPlan, bound_plan
from vyre.planning.explain import explained
from vyre.planning.fusion import decided
from vyre.planning.kernels.build import PlannedKernel, kernels_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.backends.protocol import Backend
    from vyre.graph.graph import Graph
    from vyre.planning.fusion import Fusion

_KEPT = 64


@dataclass(frozen=True, eq=False)
class GraphPlan:
    """The kernels of a graph. `bind` gives the dispatches for certain lengths."""

    graph: Graph
    fuse: bool
    fusion: Fusion
    kernels: tuple[PlannedKernel, ...]
    _bound: dict[tuple[int, ...], BoundPlan] = field(
        default_factory=dict[tuple[int, ...], BoundPlan], repr=False
    )
    _runners: WeakKeyDictionary[Backend, Runner] = field(
        default_factory=WeakKeyDictionary["Backend", Runner], repr=False
    )

    def bind(self, sizes: Mapping[str, int]) -> BoundPlan:
        """The dispatches for these lengths. Raises `DispatchError` where one of them cannot be."""
        key = tuple(sizes[name] for name in self.graph.dims)
        found = self._bound.get(key)
        if found is None:
            if len(self._bound) >= _KEPT:
                self._bound.clear()
            found = self._bound[key] = bound_plan(
                self.graph, self.kernels, dict(zip(self.graph.dims, key, strict=True))
            )
        return found

    def runner(self, backend: Backend) -> Runner:
        """What has compiled the kernels on a backend, or will."""
        found = self._runners.get(backend)
        if found is None:
            found = self._runners[backend] = Runner(backend)
        return found

    @boundary
    def explain(self, sizes: Mapping[str, int] | None = None) -> str:
        """A table of the kernels, the memory they take, and what was not fused and why."""
        return explained(self.graph, self.kernels, self.fusion.why, self.bind(sizes or {}))


@boundary
def plan_graph(graph: Graph, *, fuse: bool = True) -> GraphPlan:
    """The plan of a graph. Without `fuse` every value that is no view has a kernel of its own."""
    _ = graph.types
    fusion = decided(graph, fuse=fuse)
    return GraphPlan(graph, fuse, fusion, kernels_of(graph, fusion))
