"""Kernels compiled while a backend is run, in a process of their own, so that a run ends sooner.

    with kernels_ahead(plan):      starts the process, and ends it at the end
        run = suite.run()

They go to the kernel cache, where the backend finds them. The process starts at the far end of the golden
rows, runs nothing, and decides nothing: what it does not get to is compiled when it is needed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Never

from vyre.errors import UnsupportedByBackend, VyreError

if TYPE_CHECKING:
    from collections.abc import Generator

    from vyre.conform.results import RunPlan
    from vyre.ir.program import Program

COMPILED_HERE = ("cpu",)
"""Backends whose kernels are made by this processor and kept on the disk."""

STAGES_AHEAD = ("determinism", "dispatches", "folding", "programs", "approximate", "float_folding")
"""Those that are a program or two a case and compute little before they ask for it, in the run's order."""

WORTHWHILE = 32
"""Ops from which it is."""


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
    """A backend that compiles with another, so that the kernel is kept, and then refuses to run it."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self.name = backend.name
        self.compiled = 0

    def compile(self, program: Program) -> Never:
        self._backend.compile(program)
        self.compiled += 1
        raise UnsupportedByBackend("running", self.name, why="its kernels are only compiled")

    def describe(self) -> Any:
        return self._backend.describe()


def compile_all(plan: RunPlan, backend: Any) -> int:
    """Compiles the kernels of golden rows, ops and `STAGES_AHEAD`, each from its end; gives their number."""
    from vyre.conform.registry import spec
    from vyre.conform.units import OPS, STAGES
    from vyre.conform.verify.bench import program_of

    compiler = Compiler(backend)

    def stage(name: str) -> None:
        for number in reversed(range(STAGES[name].count(plan) if name in plan.stages else 0)):
            with suppress(Exception):
                STAGES[name].run(compiler, plan, number, number + 1)

    stage("golden")
    for op in reversed(plan.ops if OPS in plan.stages else ()):
        with suppress(VyreError):
            compiler.compile(program_of(spec(op)))
    for name in reversed(STAGES_AHEAD):
        stage(name)
    return compiler.compiled


def main(text: str) -> None:
    from vyre.backends.cpu import CpuBackend
    from vyre.conform.results import RunPlan

    with suppress(AttributeError, OSError):
        os.nice(5)
    fields: dict[str, Any] = json.loads(text)
    for key in ("shard", "ops", "stages", "regressions"):
        fields[key] = tuple(fields[key])
    compile_all(RunPlan(**fields), CpuBackend())


if __name__ == "__main__":
    main(sys.argv[1])
