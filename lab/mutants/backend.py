"""A right backend made wrong: its programs are changed before it compiles them, or its buffers around a run.

    Mutated(backend, change=lambda program: ...)
    Mutated(backend, around=lambda run, program, buffers, workgroups: ...)

Real kernels run: nothing here knows who asks, or what for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.backends.protocol import BackendInfo
from vyre.conform.process.inspection import inspect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.backends.protocol import Backend, Executable
    from vyre.ir.program import Program

    Grid = tuple[int, int, int]
    Change = Callable[[Program], Program]
    Run = Callable[[Mapping[str, memoryview], Grid], None]
    Around = Callable[[Run, Program, Mapping[str, memoryview], Grid], None]


def as_it_is(program: Program) -> Program:
    return program


def plainly(run: Run, program: Program, buffers: Mapping[str, memoryview], workgroups: Grid) -> None:
    run(buffers, workgroups)


@dataclass(frozen=True)
class Mutated:
    """`inner` with one fault."""

    inner: Backend
    change: Change = as_it_is
    around: Around = plainly
    name: str = "mutant"

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "a right backend with one fault")

    def compile(self, program: Program) -> Faulty:
        return Faulty(self.inner.compile(self.change(program)), program, self.around)


@dataclass(frozen=True)
class Faulty:
    """A compiled program, with what happens around its runs."""

    inner: Executable
    program: Program
    around: Around

    @property
    def source(self) -> str:
        return inspect(self.inner).source

    def run(self, buffers: Mapping[str, memoryview], workgroups: Grid) -> None:
        self.around(self.inner.run, self.program, buffers, workgroups)
