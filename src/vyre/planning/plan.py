"""`plan_graph`: a graph as a list of kernels, made once and good for every length of its dimensions."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from vyre.backends.cores import WIDE_REGISTERS, registers_of
from vyre.backends.registry import described
from vyre.engines.memory import keeps_on_device
from vyre.engines.run import Runner
from vyre.errors import DispatchError, WireError, boundary, whole
from vyre.graph.binding import sizes_of
from vyre.graph.graph import Graph
from vyre.graph.nodes import Constant
from vyre.planning.bound import BoundPlan, bound_plan, require_counts
from vyre.planning.certain import in_steps
from vyre.planning.explain import explained
from vyre.planning.fusion import MAX_READS, decided
from vyre.planning.kernels.build import Core, PlannedKernel, Team, kernels_of, own_kernels
from vyre.planning.kernels.matrices import INSTRUCTIONS
from vyre.planning.narrowed import narrowed
from vyre.planning.parts import PartedCall, parted, refuse_large, too_large
from vyre.planning.prefixes import for_teams, in_blocks
from vyre.planning.session import Session
from vyre.planning.short import graph_call, kind_of
from vyre.planning.staged import staged
from vyre.wire import byte_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.backends.claim import Claim
    from vyre.backends.protocol import Backend, DeviceMemory
    from vyre.engines.memory import Memory
    from vyre.planning.fusion import Fusion
    from vyre.planning.short import GraphCall

    Shapes = tuple[tuple[str, tuple[int, ...]], ...]

NOTHING: frozenset[str] = frozenset()
TEAMS = frozenset({"cuda"})
"""Backends whose workgroups are teams of processors with many registers."""
CORES = frozenset({"cpu"})
"""Backends on which a workgroup is the work of one core."""
_KEPT = 64
_MAGIC = b"vyre plan 1\n"


class _Used:
    """What a plan keeps of a backend: compiled kernels, a session that nobody is using, what was cut, calls
    that are ready with the constants of all of them, and which of its instructions matter, or that it is the
    backend that it is."""

    def __init__(self, backend: Backend, wanted: frozenset[str]) -> None:
        self.runner = Runner(backend)
        self.hardware = (described(backend).hardware | {backend.name} | registers_of(backend)) & wanted
        self.idle: list[Session] = []
        self.parts: dict[tuple[int, ...], PartedCall[GraphPlan] | None] = {}
        self.calls: dict[tuple[Any, ...], GraphCall] = {}
        self.constants: dict[str, tuple[Claim, DeviceMemory]] = {}


@dataclass(frozen=True, slots=True)
class PlanForm:
    """What the kernels of some backends compute: the same values as the graph, cut as it suits them."""

    lowered: Graph
    fusion: Fusion
    kernels: tuple[PlannedKernel, ...]


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
    _bound: dict[tuple[tuple[int, ...], frozenset[str]], BoundPlan] = field(
        default_factory=dict[tuple[tuple[int, ...], frozenset[str]], BoundPlan], repr=False
    )
    _fitted: dict[tuple[Shapes, frozenset[str]], BoundPlan] = field(
        default_factory=dict[tuple["Shapes", frozenset[str]], BoundPlan], repr=False
    )
    _used: WeakKeyDictionary[Backend, _Used] = field(
        default_factory=WeakKeyDictionary["Backend", "_Used"], repr=False
    )

    @cached_property
    def _wanted(self) -> frozenset[str]:
        """The instructions that some kernel is for, and the backends that have kernels of their own."""
        own = (h for k in self.kernels for variant in k.variants for h in variant.hardware)
        return CORES.union(TEAMS, INSTRUCTIONS, (WIDE_REGISTERS,), own)

    @cached_property
    def _for_teams(self) -> PlanForm:
        lowered = narrowed(staged(for_teams(in_steps(self.graph)), team=True), MAX_READS)
        return self._form(lowered, Team())

    @cached_property
    def _for_narrow_cores(self) -> PlanForm:
        return self._form(self._for_cores, Core(wide=False))

    @cached_property
    def _for_wide_cores(self) -> PlanForm:
        return self._form(self._for_cores, Core(wide=True))

    @cached_property
    def _for_cores(self) -> Graph:
        graph = in_steps(self.graph)
        return self.lowered if graph is self.graph else narrowed(staged(in_blocks(graph)), MAX_READS)

    def _form(self, lowered: Graph, place: Core | Team) -> PlanForm:
        fusion = self.fusion if lowered == self.lowered else decided(lowered, fuse=self.fuse)
        return PlanForm(lowered, fusion, own_kernels(lowered, fusion, place))

    def form(self, hardware: frozenset[str]) -> PlanForm:
        """What runs on a backend that has these."""
        if not TEAMS.isdisjoint(hardware):
            return self._for_teams
        if CORES.isdisjoint(hardware):
            return PlanForm(self.lowered, self.fusion, self.kernels)
        return self._for_wide_cores if WIDE_REGISTERS in hardware else self._for_narrow_cores

    def chosen(self, hardware: frozenset[str]) -> tuple[PlannedKernel, ...]:
        """The kernels of a backend that has these."""
        return self.form(hardware).kernels

    def hardware(self, backend: Backend) -> frozenset[str]:
        """Those of the backend's instructions that the choice of kernels depends on."""
        return self._use(backend).hardware

    def _use(self, backend: Backend) -> _Used:
        used = self._used.get(backend)
        if used is None:
            used = self._used[backend] = _Used(backend, self._wanted)
        return used

    def bind(self, sizes: Mapping[str, int], hardware: frozenset[str] = NOTHING) -> BoundPlan:
        """The dispatches for these lengths. Raises `DispatchError` where one of them cannot be.

        Without `hardware` they run on every backend; with some of its instructions, on who has them.
        """
        missing = [name for name in self.graph.dims if name not in sizes]
        if missing:
            raise DispatchError(
                f"no length for the dimension {missing[0]!r}.", fix=f"pass {{{missing[0]!r}: …}}."
            )
        lengths = tuple(whole(f"the length of {name!r}", sizes[name]) for name in self.graph.dims)
        key = lengths, hardware
        found = self._bound.get(key)
        if found is None:
            if len(self._bound) >= _KEPT:
                self._bound.clear()
            named = dict(zip(self.graph.dims, lengths, strict=True))
            form = self.form(hardware)
            found = self._bound[key] = bound_plan(form.lowered, form.kernels, named, hardware)
        return found

    def fitted(self, shapes: Mapping[str, tuple[int, ...]], hardware: frozenset[str] = NOTHING) -> BoundPlan:
        """The dispatches for inputs of these shapes. Raises `DispatchError` for those that do not fit."""
        key = tuple(shapes.items()), hardware
        found = self._fitted.get(key)
        if found is None:
            if len(self._fitted) >= _KEPT:
                self._fitted.clear()
            found = self._fitted[key] = self.bind(sizes_of(self.graph, shapes), hardware)
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
            constants = self._constants(bound)
            found = Session(bound, used.runner, backend, constants, on_device=on_device, memory=memory)
        return found

    def _constants(self, bound: BoundPlan) -> dict[str, Constant]:
        """Those that kernels read from memory."""
        form = self.form(bound.hardware)
        stored = form.fusion.stored
        return {name: n for name, n in form.lowered.values if isinstance(n, Constant) and name in stored}

    def ready(self, backend: Backend, values: Mapping[str, Any]) -> GraphCall | None:
        """The short way of calls on arrays like these, where one was made."""
        used = self._used.get(backend)
        if used is None or len(values) != len(self.graph.inputs):
            return None
        key = kind_of(values.values())
        return None if key is None else used.calls.get((*values, *key))

    def make_ready(self, bound: BoundPlan, backend: Backend, values: Mapping[str, Any]) -> GraphCall | None:
        """The short way of calls on arrays like these, which `ready` finds from now on; None where there is
        none, or not for these very arrays."""
        used, key = self._use(backend), kind_of(values.values())
        if key is None or (*values, *key) in used.calls:
            return None
        constants = self._constants(bound)
        made = graph_call(self.graph, bound, backend, used.runner, values, constants, used.constants)
        if made is not None:
            if len(used.calls) >= _KEPT:
                used.calls.clear()
            used.calls[(*values, *key)] = made
        return made

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
                    raise refuse_large(self.form(bound.hardware).lowered, bound, large, backend, why)
            if len(used.parts) >= _KEPT:
                used.parts.clear()
            used.parts[key] = made
        return used.parts[key]

    def release(self, session: Session, backend: Backend) -> None:
        """Gives a session back after its results were taken. One is kept for each backend."""
        session.drop()
        used = self._used[backend]
        if not used.idle:
            used.idle.append(session)

    @boundary
    def explain(self, sizes: Mapping[str, int] | None = None, *, backend: Backend | None = None) -> str:
        """A table of the kernels, the memory they take, and what was not fused and why.

        With a backend, of the kernels that are taken there.
        """
        hardware = NOTHING if backend is None else self.hardware(backend)
        form = self.form(hardware)
        return explained(form.lowered, form.kernels, form.fusion.why, self.bind(sizes or {}, hardware))

    @cached_property
    def digest(self) -> str:
        """What two plans of the same kernels have in common, and no others."""
        found = hashlib.sha256()
        for kernel in self.kernels:
            found.update(kernel.root.encode() + b"\0")
            for variant in kernel.variants:
                found.update(bytes.fromhex(byte_digest(variant.drafted.program)))
        return found.hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        """By its graph, which is planned anew: what it keeps of backends stays behind."""
        return partial(plan_graph, fuse=self.fuse), (self.graph,)

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
    """The plan of a graph. Without `fuse` every value that is not a view has a kernel of its own."""
    _ = graph.types
    lowered = narrowed(staged(in_blocks(graph)), MAX_READS)
    require_counts(lowered, {name: of.count.static or 0 for name, of in lowered.types.items()})
    fusion = decided(lowered, fuse=fuse)
    return GraphPlan(graph, fuse, lowered, fusion, kernels_of(lowered, fusion))
