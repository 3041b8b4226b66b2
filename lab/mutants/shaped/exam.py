"""Runs the shaped mutants through the stage `shapes` on cpu, and writes their part of `docs/mutants.md`.

    python -m lab.mutants.shaped.exam                       # all of them, on two processes
    python -m lab.mutants.shaped.exam --results FOLDER      # goes on where FOLDER ends
    python -m lab.mutants.shaped.exam --write               # and the page
    python -m lab.mutants.shaped.exam --seconds 600         # begins none after ten minutes
    python -m lab.mutants.shaped.exam --listed              # only rows that have a trigger by the table

A line a mutant: what found it, its seconds and its name. Exits with 1 where fewer than 99 % of the mutants
inside the envelope were caught.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from lab.mutants.shaped.catalogue import mutants
from lab.mutants.shaped.held_out import held_out
from lab.mutants.shaped.judge import Examiner, ShapedFate
from lab.mutants.shaped.page import part, summary, written

if TYPE_CHECKING:
    from lab.mutants.shaped.fault import ShapedMutant

PAGE = Path(__file__).parents[3] / "docs" / "mutants.md"
ENOUGH = 0.99


def chosen() -> list[ShapedMutant]:
    """Every mutant, the first of every fault first: a run that is ended early has met them all."""
    own = mutants()
    seen: dict[str, int] = {}
    turns: list[tuple[int, int]] = []
    for number, mutant in enumerate(own):
        turns.append((seen.get(mutant.fault.name, 0), number))
        seen[mutant.fault.name] = turns[-1][0] + 1
    return [*(own[number] for _, number in sorted(turns)), *held_out()]


def known(folder: Path) -> dict[str, ShapedFate]:
    """By name; of two fates of one mutant the one that says more."""
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]
    fates = [ShapedFate(**json.loads(line)) for line in lines]
    return {fate.name: fate for fate in sorted(fates, key=lambda f: (bool(f.found), f.whole))}


def decided(fate: ShapedFate | None, whole: bool) -> bool:
    """Whether a fate stands: a survivor of the listed rows may be found by another one."""
    return fate is not None and (bool(fate.found) or fate.whole >= whole)


def some(job: int, jobs: int, folder: Path, seconds: float, whole: bool) -> None:
    """Every `jobs`-th mutant that has no fate yet; each is written down as soon as it is known."""
    done, examiner, started = known(folder), Examiner(), time.monotonic()
    with (folder / f"{job}.jsonl").open("a") as results:
        for mutant in [m for m in chosen() if not decided(done.get(m.name), whole)][job::jobs]:
            if time.monotonic() - started > seconds:
                return
            fate = examiner.examine(mutant, whole=whole)
            print(f"{fate.found or 'SURVIVES':28} {fate.seconds:6.1f} s  {fate.name}", flush=True)
            results.write(json.dumps(asdict(fate)) + "\n")
            results.flush()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, help="where the fates are kept, and found again")
    parser.add_argument("--write", action="store_true", help="write docs/mutants.md")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no mutant after these")
    parser.add_argument("--listed", action="store_true", help="run no row that the table does not name")
    options = parser.parse_args()
    folder: Path = options.results or Path(mkdtemp(prefix="shaped-"))
    folder.mkdir(parents=True, exist_ok=True)
    context = get_context("spawn")
    workers = [
        context.Process(target=some, args=(job, options.jobs, folder, options.seconds, not options.listed))
        for job in range(options.jobs)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    found, all_of_them, apart = known(folder), chosen(), {m.name for m in held_out()}
    run = [(m, found[m.name]) for m in all_of_them if m.name in found]
    if options.write:
        PAGE.write_text(written(PAGE.read_text(), part(run, apart, len(all_of_them))))
    figures = summary(run)
    print(f"{len(run)} of {len(all_of_them)} run; results in {folder}")
    print(figures)
    crashed = any(worker.exitcode for worker in workers)
    return 1 if crashed or figures.inside_caught < ENOUGH * figures.inside else 0


if __name__ == "__main__":
    sys.exit(main())
