"""Runs generated integer programs on a backend against the reference, in bulk.

    python -m lab.bulk.differential --backend opencl --count 10000 --jobs 2
    python -m lab.bulk.differential --backend cpu,wgpu --count 10000 --jobs 2    (the reference once)
    python -m lab.bulk.differential --backend opencl --count 10000 --first 6400 --jobs 2    (goes on)

Progress goes to stderr with the seed to go on from. A program that fails is shrunk and kept under
tests/regressions/programs, where every test run replays it. The last line, on stdout, is for the docs.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from vyre.conform.diff.differential import (
    INTEGER_PROGRAMS,
    Agreement,
    fails_like,
    judge,
    keep_case,
    reference_bytes,
)
from vyre.conform.diff.shrink import shrink_program
from vyre.conform.generate.programs import generate_program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.backends.protocol import Backend

PROGRAMS = Path(__file__).parents[2] / "tests" / "regressions" / "programs"
STEP = 20
TASKS = 50
"""Chunks of STEP programs that one process takes."""

SHRINKING_QUESTIONS = 400
PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class Part:
    """What a chunk of seeds came to."""

    seeds: range
    verdicts: Counter[tuple[str, Agreement]]
    details: list[str]
    devices: dict[str, str]


@cache
def backend_named(name: str) -> Backend:
    """One backend a process, made where it is used: devices do not survive a fork."""
    module, _, factory = name.partition(":")
    if factory:
        return getattr(importlib.import_module(module), factory)()
    from vyre.backends import get

    return get(name)


def work(names: str, seeds: range, keep: Path, shrink: bool, left_out: frozenset[int]) -> Part:
    backends = {name: backend_named(name) for name in names.split(",")}
    verdicts: Counter[tuple[str, Agreement]] = Counter()
    details: list[str] = []
    for seed in seeds:
        if seed in left_out:
            continue
        generated = generate_program(seed, INTEGER_PROGRAMS)
        expected = reference_bytes(generated)
        for name, backend in backends.items():
            verdict, detail = judge(generated, backend, expected=expected)
            verdicts[name, verdict] += 1
            if verdict in (Agreement.Agrees, Agreement.Refused):
                continue
            small = generated
            if shrink:
                small = shrink_program(generated, fails_like(verdict, backend), questions=SHRINKING_QUESTIONS)
            path = keep_case(keep, small, f"{name}: {detail.splitlines()[0]}")
            details.append(
                f"{name} seed {seed}: {detail.splitlines()[0]}\n  kept as {path} ({small.program.size} nodes)"
            )
    return Part(seeds, verdicts, details, {name: _facts(backend) for name, backend in backends.items()})


def _facts(backend: Backend) -> str:
    info = backend.describe()
    return ", ".join(x for x in (info.device, info.driver, info.version, info.toolchain) if x)


def parts(arguments: argparse.Namespace, chunks: list[range]) -> Iterator[Part]:
    rest = (arguments.keep, not arguments.no_shrink, frozenset(arguments.skip))
    if arguments.jobs == 1:
        for chunk in chunks:
            yield work(arguments.backend, chunk, *rest)
        return
    # Drivers keep some memory of every kernel, so processes are replaced after a while.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(arguments.jobs, mp_context=context, max_tasks_per_child=TASKS) as pool:
        todo = iter(chunks)
        # A few chunks ahead of the one that is waited for, so that interrupting loses little.
        running = [pool.submit(work, arguments.backend, c, *rest) for c in islice(todo, 2 * arguments.jobs)]
        while running:
            yield running.pop(0).result()
            running += [pool.submit(work, arguments.backend, c, *rest) for c in islice(todo, 1)]


def progress(done: int, count: int, reached: int, seconds: float) -> str:
    left = (count - done) * seconds / done
    return f"{done} of {count}, {done / seconds:.1f}/s, {left:.0f} s left; go on with --first {reached}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--backend", required=True, help="a registered name, or MODULE:CLASS, or several with commas"
    )
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--skip", type=int, action="append", default=[], help="a seed to leave out")
    parser.add_argument("--keep", type=Path, default=PROGRAMS, help="where failing programs are kept")
    parser.add_argument("--no-shrink", action="store_true", help="keep failing programs as they are")
    arguments = parser.parse_args()
    os.environ.setdefault("POCL_KERNEL_CACHE", "0")  # programs that run once would fill the disk
    os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
    started = time.perf_counter()
    last = arguments.first + arguments.count
    chunks = [range(s, min(s + STEP, last)) for s in range(arguments.first, last, STEP)]
    verdicts: Counter[tuple[str, Agreement]] = Counter()
    devices: dict[str, str] = {}
    told = started
    reached = arguments.first
    try:
        for part in parts(arguments, chunks):
            reached = part.seeds.stop
            verdicts += part.verdicts
            devices |= part.devices
            for detail in part.details:
                print(detail, file=sys.stderr, flush=True)
            now = time.perf_counter()
            if now - told > PATIENCE:
                told = now
                print(
                    progress(reached - arguments.first, arguments.count, reached, now - started),
                    file=sys.stderr,
                    flush=True,
                )
    except BrokenProcessPool:
        print(f"a process died near seed {reached}; find it with --first {reached} --jobs 1", file=sys.stderr)
        return 1
    seconds = time.perf_counter() - started
    for name, device in devices.items():
        found = {v: verdicts[name, v] for v in Agreement}
        print(
            f"{name}: {sum(found.values())} programs (seeds {arguments.first} to {last - 1}), "
            f"{found[Agreement.Agrees]} agree, {found[Agreement.Differs]} differ, {found[Agreement.Failed]} "
            f"fail, {found[Agreement.Refused]} refused; {seconds:.0f} s; {device}"
        )
    return 1 if any(v in (Agreement.Differs, Agreement.Failed) for _, v in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
