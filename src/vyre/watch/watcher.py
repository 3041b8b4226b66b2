"""A backend that runs a program in the reference interpreter and watches it.

Calls bind their arrays and choose their grid as on every other backend, so what is watched is the very run
that the caller asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.backends.reference.backend import ReferenceBackend
from vyre.ir.buffers import BufferAccess
from vyre.reference import DEFAULT_STEP_BUDGET, Report, run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.backends.protocol import BackendInfo
    from vyre.ir.program import Program
    from vyre.reference import RunResult, Tracer


@dataclass(slots=True)
class Watched:
    """The one run of a watcher: the program as it ran, calls inlined, and what was seen."""

    program: Program
    report: Report
    steps: int


class Watcher:
    """Watches one call; `seen` is None until it ran, and stays so where the grid was empty."""

    name = "reference"

    def __init__(
        self,
        *,
        detect: bool = True,
        step_budget: int = DEFAULT_STEP_BUDGET,
        tracer_for: Callable[[Program], Tracer] | None = None,
        extent: tuple[int, ...] | None = None,
    ) -> None:
        """`extent` says how many elements along each axis the grid is there for, so that what the invocations
        beyond them access is not a finding. () stands for the longest output, None for the whole grid."""
        self.seen: Watched | None = None
        self.tracer: Tracer | None = None
        self._detect = detect
        self._budget = step_budget
        self._tracer_for = tracer_for
        self._extent = extent

    def describe(self) -> BackendInfo:
        return ReferenceBackend().describe()

    def compile(self, program: Program) -> _WatchedExecutable:
        return _WatchedExecutable(program, self)

    def watch(
        self, program: Program, buffers: Mapping[str, memoryview], grid: tuple[int, int, int]
    ) -> RunResult:
        if self._tracer_for is not None:
            self.tracer = self._tracer_for(program)
        extent = (_longest(program, buffers),) if self._extent == () else self._extent
        found = run(
            program,
            buffers,
            grid,
            step_budget=self._budget,
            detect=self._detect,
            tracer=self.tracer,
            extent=extent,
        )
        self.seen = Watched(program, found.report, found.steps)
        return found


def _longest(program: Program, buffers: Mapping[str, memoryview]) -> int:
    outputs = (b for b in program.buffers if b.access is BufferAccess.ReadWrite)
    return max((buffers[b.name].nbytes // b.element.stride for b in outputs), default=1)


@dataclass(frozen=True, slots=True)
class _WatchedExecutable:
    program: Program
    watcher: Watcher

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        for name, data in self.watcher.watch(self.program, buffers, workgroups).buffers.items():
            buffers[name][:] = data
