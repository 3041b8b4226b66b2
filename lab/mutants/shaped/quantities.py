"""What a trigger can be about: every quantity by name, read from one dispatch.

    case = Case(program, lengths, workgroups, entrance="run", …)
    case.values("loop turns")           frozenset({2, 129})

`QUANTITIES` says in a sentence what each of them is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from lab.mutants.shaped.places import Written
from lab.mutants.shaped.turns import Counted
from vyre.ir.buffers import BufferAccess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from vyre.ir.buffers import BufferDecl
    from vyre.ir.program import Program

    Grid = tuple[int, int, int]
    Read = Callable[["Case"], Iterable[int | str]]


@dataclass(slots=True)
class History:
    """What came before a dispatch."""

    runs: int = 1
    """Of this compiled program, this one included; a launch that is called again counts again."""
    launches: int = 0
    """Of this binding, where it is one."""
    others: int = 0
    """Runs of other programs since the last run of this one; 0 before its first."""
    before: int = 0
    """Programs that the backend compiled before this one."""
    threads: int = 1
    """Threads that have run this compiled program so far."""


@dataclass(slots=True)
class Case:
    """One dispatch: a program, its memory, its grid, the way in, and what came before."""

    program: Program
    lengths: Mapping[str, int]
    """Elements of each bound buffer."""
    workgroups: Grid
    entrance: str = "run"
    memory: frozenset[str] = frozenset()
    """How device memory came about: `allocate`, `borrow`, `copy`, `write`."""
    history: History = field(default_factory=History)
    count: Callable[[], Counted] = Counted
    _known: dict[str, frozenset[int | str]] = field(default_factory=dict[str, frozenset[int | str]])

    def values(self, name: str) -> frozenset[int | str]:
        if name not in self._known:
            self._known[name] = frozenset(_READ[name](self))
        return self._known[name]

    @property
    def written(self) -> Written:
        return Written.of(self.program)

    @property
    def size(self) -> int:
        return prod(self.program.workgroup_size)

    @property
    def invocations(self) -> int:
        return self.size * prod(self.workgroups)

    @property
    def bound(self) -> list[BufferDecl]:
        return [b for b in self.program.buffers if b.access.bound]

    def elements(self, decl: BufferDecl) -> int:
        return self.lengths[decl.name] if decl.access.bound else decl.count

    def nbytes(self, *accesses: BufferAccess) -> list[int]:
        return [self.elements(b) * b.element.stride for b in self.program.buffers if b.access in accesses]

    def contention(self) -> Iterable[int]:
        """Invocations that share a location of an atomic buffer, on average."""
        for b in self.program.buffers:
            if b.name in self.written.atomic_buffers:
                ways = self.size if b.access.shared else self.invocations
                yield ways // max(1, self.elements(b))

    def atomic_memory(self) -> Iterable[str]:
        for b in self.program.buffers:
            if b.name in self.written.atomic_buffers:
                yield "workgroup" if b.access.shared else "storage"

    def output_fit(self) -> Iterable[str]:
        for b in self.bound:
            if b.access is BufferAccess.ReadWrite:
                n = self.lengths[b.name]
                yield "short" if n < self.invocations else "long" if n > self.invocations else "exact"


_SHARED = (BufferAccess.Workgroup, BufferAccess.WorkgroupAtomic)
_STORAGE = (BufferAccess.ReadOnly, BufferAccess.ReadWrite, BufferAccess.Uniform)

_TABLE: tuple[tuple[str, str, Read], ...] = (
    ("loop turns", "turns of each loop, the most of any invocation", lambda c: c.count().turns),
    ("loop start", "value at which each loop starts", lambda c: c.count().starts),
    ("loop nesting", "loops inside each other", lambda c: [c.written.loop_nesting]),
    ("loops", "loops of the program", lambda c: [c.written.loops]),
    ("loop bound", "literal, computed, length, uniform, loaded or divergent", lambda c: c.written.bounds),
    ("workgroup x", "invocations of a workgroup along x", lambda c: [c.program.workgroup_size[0]]),
    ("workgroup y", "invocations of a workgroup along y", lambda c: [c.program.workgroup_size[1]]),
    ("workgroup z", "invocations of a workgroup along z", lambda c: [c.program.workgroup_size[2]]),
    ("workgroup size", "invocations of a workgroup", lambda c: [c.size]),
    ("grid x", "workgroups along x", lambda c: [c.workgroups[0]]),
    ("grid y", "workgroups along y", lambda c: [c.workgroups[1]]),
    ("grid z", "workgroups along z", lambda c: [c.workgroups[2]]),
    ("grid", "workgroups", lambda c: [prod(c.workgroups)]),
    ("invocations", "of the whole dispatch", lambda c: [c.invocations]),
    ("buffers", "bound buffers", lambda c: [len(c.bound)]),
    ("buffer elements", "elements of each bound buffer", lambda c: c.lengths.values()),
    ("output elements", "elements of each ReadWrite buffer",
     lambda c: [c.lengths[b.name] for b in c.bound if b.access is BufferAccess.ReadWrite]),
    ("buffer bytes", "bytes of each bound buffer", lambda c: c.nbytes(*_STORAGE)),
    ("bytes", "of all bound buffers together", lambda c: [sum(c.nbytes(*_STORAGE))]),
    ("element type", "U32, F16, Vec4U32, … of each buffer",
     lambda c: [b.element.value for b in c.program.buffers]),
    ("access", "ReadOnly, ReadWrite, Uniform, Workgroup, WorkgroupAtomic",
     lambda c: [b.access.value for b in c.program.buffers]),
    ("workgroup bytes", "bytes of workgroup memory", lambda c: [sum(c.nbytes(*_SHARED))]),
    ("uniform bytes", "bytes of each uniform buffer", lambda c: c.nbytes(BufferAccess.Uniform)),
    ("private bytes", "bytes of private memory of an invocation",
     lambda c: [sum(c.nbytes(BufferAccess.Private))]),
    ("table bytes", "bytes of tables", lambda c: [sum(c.nbytes(BufferAccess.Constant))]),
    ("branch nesting", "branches inside each other", lambda c: [c.written.branch_nesting]),
    ("branch", "uniform or divergent", lambda c: c.written.conditions),
    ("branches", "branches of the program", lambda c: [c.written.branches]),
    ("block nesting", "blocks inside each other", lambda c: [c.written.block_nesting]),
    ("barriers", "barriers of the program", lambda c: [c.written.barriers]),
    ("barrier nesting", "loops, branches and blocks around a barrier", lambda c: [c.written.barrier_nesting]),
    ("variables", "bound at one place, those of loops aside", lambda c: [c.written.variables]),
    ("statements", "statements of the program", lambda c: [c.written.statements]),
    ("stores", "stores of the program", lambda c: [c.written.stores]),
    ("loads", "different loads of the program", lambda c: [len(c.written.loads)]),
    ("expression depth", "levels of the deepest expression", lambda c: [c.written.depth]),
    ("expression nodes", "nodes of the largest expression", lambda c: [c.written.nodes]),
    ("literal", "bits of each literal", lambda c: c.written.literals),
    ("operator", "Add, Shl, FMul, Select, Cast, Convert, Lane, … that occur", lambda c: c.written.operators),
    ("loads after stores", "of the same element, in program order", lambda c: [c.written.reloads]),
    ("float chain", "float operations one after the other, through variables",
     lambda c: [c.written.float_chain]),
    ("float loop", "FAdd, FMul, … by which a variable is made of itself in a loop",
     lambda c: c.written.accumulated),
    ("reduction", "its order and operation, as `Sequential Sum`", lambda c: c.written.reductions),
    ("reduction length", "elements of each reduction", lambda c: c.count().reduced),
    ("atomic", "Add, Min, CompareExchange, …", lambda c: c.written.atomics),
    ("atomic memory", "storage or workgroup", Case.atomic_memory),
    ("contention", "invocations for each location of an atomic buffer", Case.contention),
    ("return", "in a loop, or outside of loops", lambda c: c.written.returns),
    ("break", "uniform, divergent, or nested in another loop", lambda c: c.written.breaks),
    ("output fit", "short, exact or long: outputs against invocations", Case.output_fit),
    ("entrance", "run, run_limited or bind", lambda c: [c.entrance]),
    ("memory", "allocate, borrow, write, copy: how device memory came about", lambda c: c.memory),
    ("launch", "number of the launch of a binding, 0 without one", lambda c: [c.history.launches]),
    ("run", "number of the run of this compiled program", lambda c: [c.history.runs]),
    ("runs of others", "since the last run of this program", lambda c: [c.history.others]),
    ("programs before", "that the backend compiled before this one", lambda c: [c.history.before]),
    ("threads", "that have run this compiled program", lambda c: [c.history.threads]),
)  # fmt: skip

_READ: Mapping[str, Read] = {name: read for name, _, read in _TABLE}
QUANTITIES: Mapping[str, str] = {name: meaning for name, meaning, _ in _TABLE}
OF_THE_BACKEND = frozenset({"programs before", "runs of others"})
"""Those that depend on what other dispatches there were, and not on one row of a stage alone."""
