"""Checks generated programs in bulk: round trips, validation, inlining, schedules, races.

python -m lab.bulk.programs --count 10000 --jobs 2
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from lab.bulk.coverage import Key, count_kinds, universe
from lab.bulk.selfcheck import problems
from vyre.compose import default_registry
from vyre.conform.generate.expressions import VALUE_TYPES
from vyre.conform.generate.programs import ProgramOptions, generate_program
from vyre.ir import Barrier, Loop, Program
from vyre.ir.walk import statements

OPTIONS = ProgramOptions(approximate=True)


def has_barrier_in_loop(program: Program) -> bool:
    loops = [node for _, node in statements(program.entry) if isinstance(node, Loop)]
    return any(isinstance(inner, Barrier) for loop in loops for _, inner in statements(loop.body))


def check(seeds: range, execute: bool) -> tuple[list[str], list[int], int, Counter[Key]]:
    registry = default_registry()
    found: list[str] = []
    sizes: list[int] = []
    barriers = 0
    counts: Counter[Key] = Counter()
    for seed in seeds:
        generated = generate_program(seed, OPTIONS)
        sizes.append(generated.program.size)
        barriers += has_barrier_in_loop(generated.program)
        count_kinds(generated.program, registry, counts)
        found += [f"seed {seed}: {p}" for p in problems(generated, execute=execute)]
    return found, sizes, barriers, counts


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-execute", action="store_true", help="skip the reference interpreter")
    arguments = parser.parse_args()
    started = time.perf_counter()
    step = 50
    last = arguments.first + arguments.count
    chunks = [range(s, min(s + step, last)) for s in range(arguments.first, last, step)]
    found: list[str] = []
    sizes: list[int] = []
    barriers = 0
    counts: Counter[Key] = Counter()
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for part in pool.map(check, chunks, [not arguments.no_execute] * len(chunks)):
            found += part[0]
            sizes += part[1]
            barriers += part[2]
            counts += part[3]
    rare = min((counts[key], key) for key in universe(VALUE_TYPES, approximate=True))
    for line in found[:20]:
        print(line)
    print(
        f"{len(sizes)} programs, {len(found)} problems, {time.perf_counter() - started:.0f} s; "
        f"median {statistics.median(sizes):.0f} nodes, largest {max(sizes)}; "
        f"barriers in loops in {barriers / len(sizes):.1%}; "
        f"rarest kind {'/'.join(rare[1])}: {rare[0]} times"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
