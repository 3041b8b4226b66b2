"""`plan_graph`: a graph as a list of kernels, made once and good for every length of its dimensions."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from vyre.engines.run import Runner
from vyre.errors import DispatchError, WireError, boundary
from vyre.graph.binding import sizes_of
from vyre.graph.graph import Graph
from vyre.graph.nodes import Constant
from vyre.planning.bound import BoundPlan, bound_plan
from vyre.planning.explain import explained
from vyre.planning.fusion import MAX_READS, decided
from vyre.planning.kernels.build import PlannedKernel, kernels_of
from vyre.planning.narrowed import narrowed
from vyre.planning.parts import PartedCall, parted, refuse_large, too_large
from vyre.planning.prefixes import in_blocks
from vyre.planning.session import Session, keeps_on_device
from vyre.planning.staged import staged
from vyre.wire import byte_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.backends.protocol import Backend
    from vyre.engines.memory import Memory
    from vyre.planning.fusion import Fusion

    Shapes = tuple[tuple[str, tuple[int, ...]], ...]

_KEPT = 64
_MAGIC = b"vyre plan 1\n"


class _Used:
    """What a plan keeps of a backend: compiled kernels, a session that nobody is using, and what was cut."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.idle: list[Session] = []
        self.parts: dict[tuple[int, ...], PartedCall[GraphPlan] | None] = {}


@dataclass(frozen=True, eq=False)
class GraphPlan:
    """The kernels of a graph. `bind` gives the dispatches for certain lengths."""

    graph: Graph
    fuse: bool
    lowered: Graph
    """The graph that the kernels compute: the same values, cut where one would read too many buffers, or
    would be the work of one workgroup alone."""
    fusion: Fusion
    kernels: tuple[PlannedKernel, ...]
    _bound: dict[tuple[int, ...], BoundPlan] = field(
        default_factory=dict[tuple[int, ...], BoundPlan], repr=False
    )
    _fitted: dict[Shapes, BoundPlan] = field(default_factory=dict["Shapes", BoundPlan], repr=False)
    _used: WeakKeyDictionary[Backend, _Used] = field(
        default_factory=WeakKeyDictionary["Backend", "_Used"], repr=False
    )

    def bind(self, sizes: Mapping[str, int]) -> BoundPlan:
        """The dispatches for these lengths. Raises `DispatchError` where one of them cannot be."""
        missing = [name for name in self.graph.dims if name not in sizes]
        if missing:
            raise DispatchError(
                f"no length for the dimension {missing[0]!r}.", fix=f"pass {{{missing[0]!r}: …}}."
            )
        key = tuple(sizes[name] for name in self.graph.dims)
        found = self._bound.get(key)
        if found is None:
            if len(self._bound) >= _KEPT:
                self._bound.clear()
            lengths = dict(zip(self.graph.dims, key, strict=True))
            found = self._bound[key] = bound_plan(self.lowered, self.kernels, lengths)
        return found

    def fitted(self, shapes: Mapping[str, tuple[int, ...]]) -> BoundPlan:
        """The dispatches for inputs of these shapes. Raises `DispatchError` for those that do not fit."""
        key = tuple(shapes.items())
        found = self._fitted.get(key)
        if found is None:
            if len(self._fitted) >= _KEPT:
                self._fitted.clear()
            found = self._fitted[key] = self.bind(sizes_of(self.graph, shapes))
        return found

    def session(
        self, bound: BoundPlan, backend: Backend, *, on_device: bool, memory: Memory | None = None
    ) -> Session:
        """What runs these dispatches on a backend: one that no other call is using, or a new one.

        One with a `memory` of its own is always new.
        """
        on_device = memory is None and (on_device or keeps_on_device(backend))
        used = self._use(backend)
        try:
            found = used.idle.pop() if memory is None else None
        except IndexError:
            found = None
        if found is None or found.bound is not bound or found.on_device != on_device:
            constants = {
                name: node
                for name, node in self.lowered.values
                if isinstance(node, Constant) and name in self.fusion.stored
            }
            found = Session(bound, used.runner, backend, constants, on_device=on_device, memory=memory)
        return found

    def parts(self, bound: BoundPlan, backend: Backend, *, whole: str = "") -> PartedCall[GraphPlan] | None:
        """How a call is cut into pieces for a device, None where it need not be; `whole` says why it may not.

        Raises `DispatchError` where a value is too large and the call cannot be cut.
        """
        used = self._use(backend)
        key = (*bound.sizes.values(), bool(whole))
        if key not in used.parts:
            large, made = too_large(bound, backend), None
            if large is not None:
                again = partial(plan_graph, fuse=self.fuse)
                made = None if whole else parted(again, self.graph, bound, backend)
                if made is None:
                    why = whole or "the graph cannot be cut along an axis"
                    raise refuse_large(self.lowered, bound, large, backend, why)
            if len(used.parts) >= _KEPT:
                used.parts.clear()
            used.parts[key] = made
        return used.parts[key]

    def _use(self, backend: Backend) -> _Used:
        used = self._used.get(backend)
        if used is None:
            used = self._used[backend] = _Used(Runner(backend))
        return used

    def release(self, session: Session, backend: Backend) -> None:
        """Gives a session back after its results were taken. One is kept for each backend."""
        session.drop()
        used = self._used[backend]
        if not used.idle:
            used.idle.append(session)

    @boundary
    def explain(self, sizes: Mapping[str, int] | None = None) -> str:
        """A table of the kernels, the memory they take, and what was not fused and why."""
        return explained(self.lowered, self.kernels, self.fusion.why, self.bind(sizes or {}))

    @cached_property
    def digest(self) -> str:
        """What two plans of the same kernels have in common, and no others."""
        found = hashlib.sha256()
        for kernel in self.kernels:
            found.update(kernel.root.encode() + b"\0")
            for variant in kernel.variants:
                found.update(bytes.fromhex(byte_digest(variant.drafted.program)))
        return found.hexdigest()

    @boundary
    def to_wire(self) -> bytes:
        """The plan in bytes: the graph, whether it is fused, and the digest of the kernels."""
        return _MAGIC + bytes((self.fuse,)) + bytes.fromhex(self.digest) + self.graph.to_wire()

    @classmethod
    @boundary
    def from_wire(cls, data: bytes) -> GraphPlan:
        """The plan that `to_wire` gave, with the same kernels. Raises `WireError` for anything else."""
        head = len(_MAGIC) + 1
        if data[: len(_MAGIC)] != _MAGIC or len(data) < head + 32 or data[head - 1] > 1:
            raise WireError(
                "these are not the bytes of a plan.", fix="pass what GraphPlan.to_wire gave.", offset=0
            )
        plan = plan_graph(Graph.from_wire(data[head + 32 :]), fuse=bool(data[head - 1]))
        if plan.digest != data[head : head + 32].hex():
            raise WireError(
                "this version of vyre plans other kernels for the graph.",
                fix="plan the graph anew with plan_graph, and keep that plan.",
                offset=head,
            )
        return plan


@boundary
def plan_graph(graph: Graph, *, fuse: bool = True) -> GraphPlan:
    """The plan of a graph. Without `fuse` every value that is no view has a kernel of its own."""
    _ = graph.types
    lowered = narrowed(staged(in_blocks(graph)), MAX_READS)
    fusion = decided(lowered, fuse=fuse)
    return GraphPlan(graph, fuse, lowered, fusion, kernels_of(lowered, fusion))
