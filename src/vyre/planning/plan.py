"""`plan_graph`: a graph as a list of kernels, made once and good for every length of its dimensions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from vyre.engines.plan import Part, Plan, Space, Step
from vyre.engines.run import Runner
from vyre.errors import DispatchError, boundary
from vyre.graph.binding import require_sizes
from vyre.ir.types import DataType
from vyre.planning.draft import OUTPUT
from vyre.planning.explain import explained
from vyre.planning.fusion import decided
from vyre.planning.kernels.build import Kernel, kernels_of
from vyre.planning.memory import Life, shared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.backends.protocol import Backend
    from vyre.engines.plan import Bound
    from vyre.graph.graph import Graph
    from vyre.planning.fusion import Fusion
    from vyre.planning.memory import Slots

MAX_ELEMENTS = (1 << 32) - (1 << 24)
"""Elements of one value, so that no index and no count of invocations in a grid wraps."""
_KEPT = 64


@dataclass(frozen=True, slots=True)
class BoundPlan:
    """A plan for certain lengths: the dispatches, and where every value lies."""

    sizes: Mapping[str, int]
    plan: Plan
    slots: Slots


@dataclass(frozen=True, eq=False)
class GraphPlan:
    """The kernels of a graph. `bind` gives the dispatches for certain lengths."""

    graph: Graph
    fuse: bool
    fusion: Fusion
    kernels: tuple[Kernel, ...]
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
            found = self._bound[key] = _bind(self, dict(zip(self.graph.dims, key, strict=True)))
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
        return explained(self, self.bind(sizes or {}))


@boundary
def plan_graph(graph: Graph, *, fuse: bool = True) -> GraphPlan:
    """The plan of a graph. Without `fuse` every value that is no view has a kernel of its own."""
    _ = graph.types
    fusion = decided(graph, fuse=fuse)
    return GraphPlan(graph, fuse, fusion, kernels_of(graph, fusion))


def _bind(plan: GraphPlan, sizes: dict[str, int]) -> BoundPlan:
    graph = plan.graph
    require_sizes(graph, sizes)
    counts = {name: of.count.value(sizes) for name, of in graph.types.items()}
    for name, count in counts.items():
        if count > MAX_ELEMENTS:
            raise DispatchError(
                f"the value {name!r} of type {graph.types[name]} would have {count} elements, and an index "
                f"is a u32.",
                fix="cut the graph, or pass arrays of other lengths.",
            )
    chosen = [(kernel, kernel.variant(sizes)) for kernel in plan.kernels if counts[kernel.root]]
    slots = shared(_lives(plan, sizes))
    outputs = set(graph.outputs)

    def bound(name: str) -> Bound:
        if name in slots.place:
            return Part(f"slot{slots.place[name]}", graph.types[name].element, max(1, counts[name]))
        return f"out_{name}" if name in outputs and name in roots else name

    roots = {kernel.root for kernel in plan.kernels}
    steps: list[Step] = []
    for kernel, variant in chosen:
        drafted = variant.drafted
        bindings = {buffer: bound(value) for buffer, value in drafted.reads}
        bindings[OUTPUT] = bound(kernel.root)
        words = tuple(size.value(sizes) for size in drafted.words)
        steps.append(Step(drafted.program, variant.groups(sizes), bindings, words))
    made = {f"out_{name}": Space(graph.types[name].element, max(1, counts[name])) for name in outputs & roots}
    scratch = {f"slot{number}": Space(DataType.Bytes, size) for number, size in enumerate(slots.sizes)}
    return BoundPlan(sizes, Plan(made, tuple(steps), scratch), slots)


def _lives(plan: GraphPlan, sizes: Mapping[str, int]) -> list[Life]:
    """How long each value that is neither given nor handed back is needed."""
    types, outputs = plan.graph.types, set(plan.graph.outputs)
    last: dict[str, int] = {}
    for moment, kernel in enumerate(plan.kernels):
        for _, value in kernel.variant(sizes).drafted.reads:
            last[value] = moment
    found: list[Life] = []
    for moment, kernel in enumerate(plan.kernels):
        if kernel.root not in outputs:
            of = types[kernel.root]
            nbytes = max(1, of.count.value(sizes)) * of.element.stride
            found.append(Life(kernel.root, nbytes, moment, last.get(kernel.root, moment)))
    return found
