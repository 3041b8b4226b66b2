"""A plan for certain lengths: the variant of each kernel, the number of workgroups, and the memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.engines.plan import Plan, SlotPart, Space, Step
from vyre.errors import DispatchError
from vyre.graph.binding import require_sizes
from vyre.ir.types import DataType
from vyre.planning.draft import OUTPUT
from vyre.planning.memory import Life, shared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.engines.plan import Bound
    from vyre.graph.graph import Graph
    from vyre.planning.kernels.build import PlannedKernel
    from vyre.planning.kernels.site import Variant
    from vyre.planning.memory import MemorySlots

MAX_ELEMENTS = (1 << 32) - (1 << 24)
"""Elements of one value, so that no index and no count of invocations in a grid wraps."""


@dataclass(frozen=True, slots=True)
class BoundPlan:
    """The dispatches of a call, and where every value lies."""

    sizes: Mapping[str, int]
    plan: Plan
    slots: MemorySlots
    shapes: Mapping[str, tuple[int, ...]]
    """Those of the outputs."""
    nbytes: Mapping[str, int]
    """Of every value that lies in a buffer."""
    hardware: frozenset[str]
    """The instructions of the backend that the kernels were chosen for, as far as they matter."""


def require_counts(graph: Graph, counts: Mapping[str, int]) -> None:
    """Raises `DispatchError` for a value of more elements than have an index."""
    for name, count in counts.items():
        if count > MAX_ELEMENTS:
            raise DispatchError(
                f"the value {name!r} of type {graph.types[name]} would have {count} elements, and an index "
                f"is a u32.",
                fix="cut the graph, or pass arrays of other lengths.",
            )


def bound_plan(
    graph: Graph, kernels: Sequence[PlannedKernel], sizes: Mapping[str, int], hardware: frozenset[str]
) -> BoundPlan:
    """Raises `DispatchError` where a value cannot be computed for these lengths."""
    require_sizes(graph, sizes)
    counts = {name: of.count.value(sizes) for name, of in graph.types.items()}
    require_counts(graph, counts)
    chosen = [(kernel, kernel.variant(sizes, hardware)) for kernel in kernels if counts[kernel.root]]
    slots = shared(_lives(graph, kernels, sizes, hardware))
    outputs = set(graph.outputs)

    def bound(name: str, element: DataType) -> Bound:
        if name in slots.place:
            return SlotPart(f"slot{slots.place[name]}", element, length(name, element))
        held = f"out_{name}" if name in outputs and name in roots else name
        own = element is graph.types[name].element
        return held if own else SlotPart(held, element, length(name, element))

    def length(name: str, element: DataType) -> int:
        return max(1, counts[name] * graph.types[name].element.stride // element.stride)

    roots = {kernel.root for kernel in kernels}
    steps: list[Step] = []
    for kernel, variant in chosen:
        drafted = variant.drafted
        seen = {buffer.name: buffer.element for buffer in drafted.program.buffers}
        bindings = {buffer: bound(value, seen[buffer]) for buffer, value in drafted.reads}
        bindings[OUTPUT] = bound(kernel.root, seen[OUTPUT])
        words = tuple(size.value(sizes) for size in drafted.words)
        steps.append(Step(drafted.program, variant.groups(sizes), bindings, words))
    made = {
        f"out_{name}": Space(graph.types[name].element, max(1, counts[name]), written=counts[name] > 0)
        for name in outputs & roots
    }
    scratch = {f"slot{number}": Space(DataType.Bytes, size) for number, size in enumerate(slots.sizes)}
    shapes = {name: graph.types[name].resolved(sizes) for name in graph.outputs}
    held = dict.fromkeys((*graph.inputs, *(value for step in chosen for value in _values(*step))))
    nbytes = {name: counts[name] * graph.types[name].element.stride for name in held}
    return BoundPlan(sizes, Plan(made, tuple(steps), scratch), slots, shapes, nbytes, hardware)


def _values(kernel: PlannedKernel, variant: Variant) -> list[str]:
    """What a kernel reads and writes."""
    return [*(value for _, value in variant.drafted.reads), kernel.root]


def _lives(
    graph: Graph, kernels: Sequence[PlannedKernel], sizes: Mapping[str, int], hardware: frozenset[str]
) -> list[Life]:
    """How long each value that is neither given nor handed back is needed."""
    types, outputs = graph.types, set(graph.outputs)
    last: dict[str, int] = {}
    for moment, kernel in enumerate(kernels):
        for _, value in kernel.variant(sizes, hardware).drafted.reads:
            last[value] = moment
    found: list[Life] = []
    for moment, kernel in enumerate(kernels):
        if kernel.root not in outputs:
            of = types[kernel.root]
            nbytes = max(1, of.count.value(sizes)) * of.element.stride
            found.append(Life(kernel.root, nbytes, moment, last.get(kernel.root, moment)))
    return found
