"""Runs random graphs by the evaluator and by plans on a backend, in bulk: equal bits, fused and unfused.

    python -m lab.bulk.graphs --backend cpu --count 10000 --jobs 2 --done graphs.cpu
    python -m lab.bulk.graphs --backend wgpu --count 1 --start 431    (one seed again)

Every graph runs at two lengths of each dynamic dimension. Graphs have doubles where the backend does.
A graph that fails is shown made small, and the exit status is then 1. Progress goes to stderr. The seeds that
are finished are kept in the file `--done`, and the same command, given again, goes on with the others. The
last line, on stdout, is for the docs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.bulk.differential import backend_named
from vyre.conform.diff.graphs import GraphCase, first_difference, smallest
from vyre.conform.generate.graphs import random_graph, random_inputs, random_sizes
from vyre.errors import UnsupportedByBackend
from vyre.graph import ElementWise, Graph, Input, ValueType
from vyre.graph.types import ELEMENTS
from vyre.ir import BinaryOp, BinOp, DataType, Var
from vyre.planning import plan_graph, run_graph
from vyre.reference.tensors import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from vyre.reference.tensors import Elements

    Run = Callable[[Graph, Mapping[str, Any]], Mapping[str, Any]]

STEP = 10
TASKS = 50
"""Chunks of STEP graphs that one process takes: drivers keep some memory of every kernel."""

PATIENCE = 5.0
_SHOWN = 64


@dataclass(frozen=True, slots=True)
class Part:
    """What a chunk of seeds came to."""

    first: int
    last: int
    runs: int
    failures: list[str]


def runner(name: str, *, fuse: bool) -> Run:
    """Runs graphs by their plans; the plan of the last graph is kept, for its second length."""
    backend = backend_named(name)
    planned = lru_cache(maxsize=1)(plan_graph)

    def run(graph: Graph, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
        return run_graph(planned(graph, fuse=fuse), arrays, backend=backend)

    return run


def outcome(case: GraphCase, run: Run, expected: Mapping[str, Elements] | None = None) -> tuple[str, str]:
    """How a plan differs, or how it breaks: the kind, and the whole; two empty strings where all is well."""
    try:
        found = first_difference(case, run, expected=expected)
    except Exception as error:  # whatever it is, it is made small like a difference
        return type(error).__name__, f"{type(error).__name__}: {error}"
    return ("", "") if found is None else ("difference", str(found))


def work(backend: str, seeds: range, doubles: bool) -> Part:
    """The graphs of some seeds; of each at most one failure, made small."""
    elements = [element for element in ELEMENTS if doubles or element is not DataType.F64]
    runs, failures = 0, list[str]()
    for seed in seeds:
        graph = random_graph(seed, elements=elements)
        trials = [GraphCase(graph, random_inputs(graph, sizes, seed)) for sizes in random_sizes(graph, seed)]
        known = [evaluate(graph, trial.inputs) for trial in trials]
        plans = [("fused", runner(backend, fuse=True)), ("unfused", runner(backend, fuse=False))]
        for way, run in plans:
            found = next(
                ((c, f) for c, e in zip(trials, known, strict=True) if (f := outcome(c, run, e))[0]), None
            )
            runs += len(trials)
            if found is not None:
                failures.append(f"seed {seed}, {way}: {found[1][1]}\n{explained(found[0], run, found[1][0])}")
                break
    return Part(seeds.start, seeds.stop, runs, failures)


def explained(case: GraphCase, run: Run, kind: str) -> str:
    """The smallest case found that fails in the same way."""
    small = smallest(case, lambda tried: outcome(tried, run)[0] == kind)
    given = [
        f"{name} {list(value.shape)} = [{', '.join(f'{bits:#x}' for bits in value.bits[:_SHOWN])}]"
        for name, value in small.inputs.items()
    ]
    return "\n".join((small.graph.to_text(), *given, outcome(small, run)[1]))


def has_doubles(backend: str) -> bool:
    """Whether a sum of F64 runs there."""
    twice = ElementWise(BinOp(BinaryOp.FAdd, Var("x0"), Var("x0")), ("x",), DataType.F64)
    graph = Graph([("x", Input(ValueType(DataType.F64, (1,)))), ("y", twice)], ["y"])
    try:
        run_graph(plan_graph(graph), {"x": np.ones(1)}, backend=backend_named(backend))
    except UnsupportedByBackend:
        return False
    return True


class Done:
    """The chunks that are finished, a line each in a file behind a line that says of what they are."""

    def __init__(self, path: Path | None, *, backend: str, doubles: bool) -> None:
        self.parts: list[Part] = []
        self._path = path
        if path is None:
            return
        head = {"backend": backend, "doubles": doubles}
        text = path.read_text() if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]  # a line may be cut off where the run was ended
        rows = [json.loads(line) for line in whole.splitlines()]
        if rows and rows[0] != head:
            raise SystemExit(
                f"{path} holds runs of {rows[0]}, and this is a run of {head}. Fix: name another file."
            )
        self.parts += [Part(**row) for row in rows[1:]]
        path.write_text(whole)
        if not rows:
            self._write(head)

    def add(self, part: Part) -> None:
        self.parts.append(part)
        self._write(asdict(part))

    def _write(self, row: dict[str, Any]) -> None:
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps(row) + "\n")


def finished(backend: str, chunks: list[range], doubles: bool, jobs: int) -> Iterator[Part]:
    """The chunks as they end."""
    if jobs == 1:
        for chunk in chunks:
            yield work(backend, chunk, doubles)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=TASKS) as pool:
        todo = iter(chunks)
        running = {pool.submit(work, backend, chunk, doubles) for chunk in islice(todo, 2 * jobs)}
        while running:
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {pool.submit(work, backend, chunk, doubles) for chunk in islice(todo, len(ended))}
            yield from (future.result() for future in ended)


def run_all(backend: str, seeds: range, done: Done, *, doubles: bool, jobs: int) -> int:
    """Runs what is left, prints what came of all, and gives the exit status."""
    chunks = [range(s, min(s + STEP, seeds.stop)) for s in range(seeds.start, seeds.stop, STEP)]
    before = {(part.first, part.last) for part in done.parts}
    left = [chunk for chunk in chunks if (chunk.start, chunk.stop) not in before]
    total = sum(map(len, left))
    started = told = time.perf_counter()
    ran = 0
    try:
        for part in finished(backend, left, doubles, jobs):
            done.add(part)
            ran += part.last - part.first
            now = time.perf_counter()
            if now - told > PATIENCE or part.failures:
                told = now
                rest = (total - ran) * (now - started) / ran
                print(f"{ran} of {total}, {ran / (now - started):.2f}/s, {rest:.0f} s left", file=sys.stderr)
                print(*part.failures, sep="\n", end="", file=sys.stderr, flush=True)
    except BrokenProcessPool:
        print("A process died. Fix: find its seed with --jobs 1.", file=sys.stderr)
        return 1
    seconds = time.perf_counter() - started
    wanted = {(chunk.start, chunk.stop) for chunk in chunks}
    parts = [part for part in done.parts if (part.first, part.last) in wanted]
    failures = [failure for part in parts for failure in part.failures]
    print(*failures, sep="\n\n", end="\n" if failures else "")
    which = "" if doubles else " without doubles"
    print(
        f"{backend}: {sum(p.last - p.first for p in parts)} graphs{which} (seeds {seeds.start} to "
        f"{seeds.stop - 1}), {sum(p.runs for p in parts)} runs, fused and unfused, two lengths of each "
        f"dynamic dimension, {len(failures)} differ or fail; {ran} of them now, in {seconds:.0f} s"
    )
    return 1 if failures else 0


def main(given: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backend", default="cpu", help="a registered name, or MODULE:CLASS")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-doubles", action="store_true", help="leave out F64")
    parser.add_argument("--done", type=Path, help="a file that keeps what is finished")
    arguments = parser.parse_args(given)
    backend, seeds = arguments.backend, range(arguments.start, arguments.start + arguments.count)
    # Graphs that run once would fill the caches.
    os.environ.setdefault("POCL_KERNEL_CACHE", "0")
    os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VYRE_CACHE"] = folder
        doubles = not arguments.no_doubles and has_doubles(backend)
        done = Done(arguments.done, backend=backend, doubles=doubles)
        return run_all(backend, seeds, done, doubles=doubles, jobs=arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
