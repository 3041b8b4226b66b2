"""Kernels compiled while a backend is run, in a process of their own, so that a run ends sooner.

    with kernels_ahead(plan):      starts the process, and ends it at the end
        run = suite.run()

They go to the kernel cache, where the backend finds them. The process starts at the far end of the golden
rows and of every stage, and leaves one where it meets the run, or one before it. It runs nothing and decides
nothing: what it does not get to is compiled when it is needed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Never

from vyre.errors import UnsupportedByBackend

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from vyre.backends.protocol import AheadBackend, BackendInfo
    from vyre.conform.records.results import RunPlan
    from vyre.ir.program import Program

COMPILED_HERE = ("cpu",)
"""Backends whose kernels are made by this processor and kept on the disk."""

WORTHWHILE = 32
"""Ops from which it is."""

COMPOSITION = "composition"
EVIDENCE = "evidence"
"""The stage that runs nothing on the backend."""

MET = 16
"""Kernels in a row that the disk has already, after which the rest of a stage is left to the run."""


@contextmanager
def kernels_ahead(plan: RunPlan) -> Generator[None]:
    """Compiles what this plan runs meanwhile."""
    from vyre.backends.kernel_cache import default_cache

    process: subprocess.Popen[bytes] | None = None
    worthwhile = len(plan.ops) >= WORTHWHILE and plan.whole and (os.cpu_count() or 1) > 1
    if plan.backend in COMPILED_HERE and worthwhile and default_cache() is not None:
        with suppress(OSError):
            process = subprocess.Popen(
                [sys.executable, "-m", __name__, json.dumps(asdict(plan))],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


class Compiler:
    """A backend that compiles with another for the disk, each program once, and then refuses to run it."""

    def __init__(self, backend: AheadBackend) -> None:
        self._backend = backend
        self._info = backend.describe()
        self._seen: set[str] = set()
        self.name = backend.name
        self.compiled = 0
        self.met = 0
        """Kernels found on the disk since the last that was not there."""

    def compile(self, program: Program) -> Never:
        from vyre.wire import meaning_digest

        digest = meaning_digest(program)
        if digest not in self._seen:
            self._seen.add(digest)
            fresh = self._backend.compile_ahead(program)
            self.met = 0 if fresh else self.met + 1
            self.compiled += fresh
        raise UnsupportedByBackend("running", self.name, why="its kernels are only compiled")

    def describe(self) -> BackendInfo:
        return self._info


def compile_all(plan: RunPlan, backend: AheadBackend) -> int:
    """Compiles the kernels of golden rows, ops and stages, each from its end, and gives their number.

    A stage computes little before it asks for its first program; what it would ask for later is not reached.
    Compositions would be proved first, which is another process's work, so their programs are made here.
    """
    from vyre.compose.inline import inline
    from vyre.conform.registry import spec
    from vyre.conform.suite.units import OPS, STAGES
    from vyre.conform.verify.bench import program_of
    from vyre.conform.verify.composition.body import call_program
    from vyre.conform.verify.composition.proofs import provable_ops

    compiler = Compiler(backend)

    def ahead(ask: Callable[[Any], object], backwards: Iterable[Any]) -> None:
        compiler.met = 0
        for one in backwards:
            with suppress(Exception):
                ask(one)
            if compiler.met >= MET:
                return

    def stage(name: str, numbers: Iterable[int]) -> None:
        if name in plan.stages:
            ahead(lambda n: STAGES[name].run(compiler, plan, n, n + 1), numbers)

    stage("golden", _golden_numbers())
    if OPS in plan.stages:
        ahead(lambda op: compiler.compile(program_of(spec(op))), reversed(plan.ops))
    if COMPOSITION in plan.stages:
        ahead(lambda op: compiler.compile(inline(call_program(op))), reversed(provable_ops()))
    for name in reversed([name for name in STAGES if name not in ("golden", COMPOSITION, EVIDENCE)]):
        stage(name, reversed(range(STAGES[name].count(plan))))
    return compiler.compiled


def _golden_numbers() -> Iterator[int]:
    """From the end, the rows that run on a backend, one for each operation: its rows share a kernel."""
    from vyre.conform.oracle.golden.rows import load_rows
    from vyre.conform.verify.golden.operations import ELEMENT_KINDS, operation_of
    from vyre.conform.verify.golden.replay import EXECUTABLE_KINDS

    rows, seen = load_rows(), set[object]()
    for number in reversed(range(len(rows))):
        row = rows[number]
        if row.kind in ELEMENT_KINDS:
            key = operation_of(row).key
            if key not in seen:
                seen.add(key)
                yield number
        elif row.kind in EXECUTABLE_KINDS:
            yield number


def main(text: str) -> None:
    from vyre.backends.cpu.backend import CpuBackend
    from vyre.conform.records.results import RunPlan

    with suppress(AttributeError, OSError):
        os.nice(5)
    fields: dict[str, Any] = json.loads(text)
    for key in ("shard", "ops", "stages", "regressions"):
        fields[key] = tuple(fields[key])
    compile_all(RunPlan(**fields), CpuBackend())


if __name__ == "__main__":
    main(sys.argv[1])
