"""Runs every mutant on a backend, prints what became of each kind, and writes `docs/mutants.md`.

    python -m lab.mutants.exam              # all of them on cpu
    python -m lab.mutants.exam --write      # and the page
    python -m lab.mutants.exam --quick      # one of every kind
    python -m lab.mutants.exam --floats     # the wrong float arithmetic alone
    python -m lab.mutants.exam --jobs 4     # on four processes; two by default

Exits with 1 where a promise was not kept: a fault that should have been found and was not, a mutant whose
witness does not fail, a checker that can be broken unnoticed.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from lab.mutants import Fate, Mutant, hunt, mutants, one_of_each_kind, run_all
from lab.mutants.float_ import catalogue as floats
from lab.mutants.page import by_kind, markdown, summary, survivors
from lab.mutants.shaped.page import kept
from vyre.backends.cpu.backend import CpuBackend
from vyre.semantics.proof_cache import ProofCache, default_folder

Row = tuple[int, bool, str, int, float]
PAGE = Path(__file__).parents[2] / "docs" / "mutants.md"


def chosen(part: str) -> list[Mutant]:
    match part:
        case "quick":
            return one_of_each_kind()
        case "floats":
            return list(floats.mutants())
        case _:
            return list(mutants())


def some(job: int, jobs: int, part: str) -> list[Row]:
    """What became of every `jobs`-th mutant; a mutant itself does not travel between processes."""
    backend = CpuBackend(threads=1, keep=4096)
    found: list[Row] = []
    for number, mutant in enumerate(chosen(part)):
        if number % jobs == job:
            v = hunt(mutant, backend)
            found.append((number, v.witnessed, v.found, v.cases, v.seconds))
    return found


def in_parallel(jobs: int, part: str) -> list[Fate]:
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(some, job, jobs, part) for job in range(jobs)]
        rows = sorted(row for future in futures for row in future.result())
    known = chosen(part)
    return [Fate(known[n], witnessed, found, cases, took) for n, witnessed, found, cases, took in rows]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one wrong backend of every kind, nothing else")
    parser.add_argument("--floats", action="store_true", help="the wrong float arithmetic, nothing else")
    parser.add_argument("--write", action="store_true", help="write docs/mutants.md")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    started = time.perf_counter()
    part = "quick" if options.quick else "floats" if options.floats else "all"
    verdicts = in_parallel(options.jobs, part)
    ok = all(v.as_promised for v in verdicts)
    figures: list[tuple[str, str]] = []
    if part == "all":
        outcome = run_all(CpuBackend(keep=4096), verdicts=verdicts, cache=ProofCache(default_folder()))
        ok, figures = outcome.ok, summary(outcome)
        if options.write:
            PAGE.write_text(kept(markdown(outcome), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for kind, layer, count, caught, _, found in by_kind(verdicts):
        print(f"{caught:4} of {count:4}  {layer:8}  {kind}  (first found by {found})")
    print("\nsurvivors:")
    for name, density, witness, why in survivors(verdicts):
        print(f"  {name}: density {density}, witness {witness}; {why}")
    unwitnessed = [v.mutant.name for v in verdicts if not v.witnessed]
    print(f"\nwithout a witness: {', '.join(unwitnessed) or 'none'}")
    for name, text in figures:
        print(f"{name}: {text}")
    print(
        f"{time.perf_counter() - started:.0f} s; {'every promise kept' if ok else 'A PROMISE WAS NOT KEPT'}"
    )
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
