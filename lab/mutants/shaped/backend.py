"""A wrong backend made of a right one, a fault and a trigger; all ways into a backend lead through it.

    wrong = Shaped(CpuBackend(), ShapedMutant(fault, trigger))

Both programs are compiled, the right one and the wrong one; every dispatch is read (`quantities`), and the
trigger decides which of them runs. It stands on backends whose memory is that of the host.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lab.mutants.backend import as_it_is, plainly
from lab.mutants.shaped.quantities import Case, History
from lab.mutants.shaped.turns import count
from vyre.backends.host_memory import HostMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lab.mutants.shaped.fault import ShapedMutant
    from lab.mutants.shaped.turns import Counted
    from vyre.backends.protocol import BackendInfo, DeviceMemory
    from vyre.ir.program import Program

    Grid = tuple[int, int, int]
    Run = Callable[[Mapping[str, memoryview], Grid], None]

_COUNTED: dict[bytes, Counted] = {}
"""What was counted of a dispatch: another mutant meets the same one."""


class WatchedMemory(HostMemory):
    """Device memory that remembers how it came about."""

    __slots__ = ("origins",)

    def __init__(self, array: Any, origin: str) -> None:
        super().__init__(array)
        self.origins = {origin}

    def write(self, source: memoryview) -> None:
        self.origins.add("write")
        super().write(source)

    def copy(self, source: HostMemory) -> None:
        self.origins.add("copy")
        super().copy(source)


class Shaped:
    """`inner`, wrong where the trigger holds; `met` is told every dispatch and whether it does."""

    name = "mutant"

    def __init__(
        self, inner: Any, mutant: ShapedMutant, *, met: Callable[[Case, bool], None] = lambda _c, _t: None
    ) -> None:
        self.inner, self.mutant, self.met = inner, mutant, met
        self.lock = threading.Lock()
        self.compiled = self.ran = 0

    def describe(self) -> BackendInfo:
        return replace(self.inner.describe(), name=self.name)

    def compile(self, program: Program) -> ShapedExecutable:
        with self.lock:
            self.compiled += 1
            before = self.compiled - 1
        return ShapedExecutable(self, program, before)

    def allocate(self, nbytes: int) -> WatchedMemory:
        return WatchedMemory(self.inner.allocate(nbytes).array, "allocate")

    def borrow(self, data: memoryview) -> WatchedMemory:
        return WatchedMemory(self.inner.borrow(data).array, "borrow")


class ShapedExecutable:
    def __init__(self, owner: Shaped, program: Program, before: int) -> None:
        self.owner, self.program, self.before = owner, program, before
        self.right = owner.inner.compile(program)
        self._wrong: Any = None
        self.names = [b.name for b in program.buffers if b.access.bound]
        self.strides = {b.name: b.element.stride for b in program.buffers}
        self.runs = self.last = 0
        self.threads: set[int] = set()

    @property
    def source(self) -> str:
        return self.right.source.text

    @property
    def wrong(self) -> Any:
        """Compiled when it is first needed."""
        fault = self.owner.mutant.fault
        if fault.change is as_it_is:
            return self.right
        if self._wrong is None:
            self._wrong = self.owner.inner.compile(fault.change(self.program))
        return self._wrong

    def run(self, buffers: Mapping[str, memoryview], workgroups: Grid) -> None:
        hit = self.strikes(buffers, workgroups, "run")
        self.run_as(hit, (self.wrong if hit else self.right).run, buffers, workgroups)

    def run_limited(self, buffers: Mapping[str, memoryview], workgroups: Grid, step_limit: int) -> None:
        hit = self.strikes(buffers, workgroups, "run_limited")
        chosen = self.wrong if hit else self.right

        def limited(views: Mapping[str, memoryview], grid: Grid) -> None:
            chosen.run_limited(views, grid, step_limit)

        self.run_as(hit, limited, buffers, workgroups)

    def bind(self, memories: Sequence[DeviceMemory], workgroups: Grid) -> Callable[[], None]:
        bound = self.right.bind(memories, workgroups)
        origins = frozenset(o for m in memories if isinstance(m, WatchedMemory) for o in m.origins)
        arrays = {n: m.array for n, m in zip(self.names, memories, strict=True) if isinstance(m, HostMemory)}
        launches = 0

        def launch() -> None:
            nonlocal launches
            launches += 1
            views = {name: array.data for name, array in arrays.items()}
            if self.strikes(views, workgroups, "bind", origins, launches):
                self.run_as(True, self.wrong.run, views, workgroups)
            else:
                bound()

        return launch

    def run_as(self, hit: bool, run: Run, buffers: Mapping[str, memoryview], workgroups: Grid) -> None:
        around = self.owner.mutant.fault.around
        if hit and around is not plainly:
            around(run, self.program, buffers, workgroups)
        else:
            run(buffers, workgroups)

    def strikes(
        self,
        buffers: Mapping[str, memoryview],
        workgroups: Grid,
        entrance: str,
        origins: frozenset[str] = frozenset(),
        launches: int = 0,
    ) -> bool:
        owner = self.owner
        with owner.lock:
            owner.ran += 1
            self.runs += 1
            self.threads.add(threading.get_ident())
            others = owner.ran - self.last - 1 if self.last else 0
            self.last = owner.ran
            history = History(self.runs, launches, others, self.before, len(self.threads))
        lengths = {n: buffers[n].nbytes // self.strides[n] for n in self.names}
        case = Case(
            self.program,
            lengths,
            workgroups,
            entrance,
            origins,
            history,
            lambda: self.counted(buffers, workgroups),
        )
        hit = owner.mutant.trigger.holds(case.values)
        owner.met(case, hit)
        return hit

    def counted(self, buffers: Mapping[str, memoryview], workgroups: Grid) -> Counted:
        digest = hashlib.blake2b(repr((workgroups, self.names)).encode())
        digest.update(self.program.to_wire())
        for name in self.names:
            digest.update(buffers[name])
        key = digest.digest()
        if key not in _COUNTED:
            data = {name: bytes(view) for name, view in buffers.items()}
            _COUNTED[key] = count(self.owner.inner, self.program, data, workgroups)
        return _COUNTED[key]
