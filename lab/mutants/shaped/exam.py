"""Runs the shaped mutants through the stage `shapes` on cpu, and writes their part of `docs/mutants.md`.

    python -m lab.mutants.shaped.exam                       # all of them, on two processes
    python -m lab.mutants.shaped.exam --jobs 16             # on sixteen
    python -m lab.mutants.shaped.exam --results FOLDER      # goes on where FOLDER ends
    python -m lab.mutants.shaped.exam --write               # and the page
    python -m lab.mutants.shaped.exam --seconds 600         # begins none after ten minutes
    python -m lab.mutants.shaped.exam --set unseen          # the mutants of one set alone
    python -m lab.mutants.shaped.exam --listed              # only rows that have a trigger by the table
    python -m lab.mutants.shaped.exam --sample 100          # a hundred of them, by chance
    python -m lab.mutants.shaped.exam --certify 50          # fifty of them by the whole of `certify`

A line a mutant: what found it, its seconds and its name; then the survivors, and the figures of each set.
Exits with 1 where fewer than 99 % of the mutants inside the envelope were caught, or where `certify` granted
L3 to one or did not come to an end in time.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from lab.mutants.shaped.certified import certified, fates_of_certify
from lab.mutants.shaped.judge import ShapedFate
from lab.mutants.shaped.page import is_inside, of_set, part, summary, written
from lab.mutants.shaped.roster import SETS, members, roster
from lab.mutants.shaped.workers import examined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.mutants.shaped.fault import ShapedMutant

PAGE = Path(__file__).parents[3] / "docs" / "mutants.md"
ENOUGH = 0.99


def known(folder: Path) -> dict[str, ShapedFate]:
    """By name; of two fates of one mutant the one that says more."""
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]
    fates = [ShapedFate(**json.loads(line)) for line in lines]
    return {fate.name: fate for fate in sorted(fates, key=lambda f: (bool(f.found), f.whole))}


def decided(fate: ShapedFate | None, whole: bool) -> bool:
    """Whether a fate stands: a survivor of the listed rows may be found by another one."""
    return fate is not None and (bool(fate.found) or fate.whole >= whole)


def examine(numbers: Sequence[int], folder: Path, *, jobs: int, seconds: float, whole: bool) -> None:
    """Each fate is written down as soon as it is known, by this process alone."""
    with (folder / "fates.jsonl").open("a") as results:
        for found in examined(numbers, jobs=jobs, seconds=seconds, whole=whole):
            print(f"{found.found or 'SURVIVES':28} {found.seconds:6.1f} s  {found.name}", flush=True)
            results.write(json.dumps(asdict(found)) + "\n")
            results.flush()


def chosen(name: str | None) -> list[tuple[int, ShapedMutant]]:
    """The mutants of a set, or all, each with its number."""
    names = {m.name for m in (roster() if name is None else members(name))}
    return [(number, m) for number, m in enumerate(roster()) if m.name in names]


def asked(options: argparse.Namespace, folder: Path) -> list[int]:
    """The mutants that have no fate yet, or some of them."""
    done = known(folder)
    left = [n for n, m in chosen(options.set) if not decided(done.get(m.name), not options.listed)]
    if options.sample is None:
        return left
    return random.Random("exam").sample(left, min(options.sample, len(left)))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, help="where the fates are kept, and found again")
    parser.add_argument("--write", action="store_true", help="write docs/mutants.md")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no mutant after these")
    parser.add_argument("--set", choices=SETS, help="the mutants of this set alone")
    parser.add_argument("--listed", action="store_true", help="run no row that the table does not name")
    parser.add_argument("--sample", type=int, metavar="N", help="only so many, by chance")
    parser.add_argument("--certify", type=int, metavar="N", help="certify so many instead, inside ones")
    parser.add_argument("--limit", type=float, default=540, help="seconds of each for --certify")
    options = parser.parse_args()
    folder: Path = options.results or Path(mkdtemp(prefix="shaped-"))
    folder.mkdir(parents=True, exist_ok=True)
    if options.certify:
        inside = [n for n, m in chosen(options.set) if is_inside(m)]
        some = inside[:: max(1, len(inside) // options.certify)][: options.certify]
        certified([(n, roster()[n].name) for n in some], folder, jobs=options.jobs, limit=options.limit)
    else:
        examine(
            asked(options, folder),
            folder,
            jobs=options.jobs,
            seconds=options.seconds,
            whole=not options.listed,
        )
    found = known(folder)
    run = [(m, found[m.name]) for m in roster() if m.name in found]
    judged = fates_of_certify(folder)
    if options.write:
        PAGE.write_text(written(PAGE.read_text(), part(run, len(roster()), judged)))
    if options.set:
        run = of_set(run, options.set)
    for mutant, fate in run:
        if not fate.found:
            print(f"survives {'inside' if is_inside(mutant) else 'outside'} the envelope: {mutant.name}")
    figures = summary(run)
    print(f"{len(run)} of {len(chosen(options.set))} run; results in {folder}")
    for name in SETS:
        if some := of_set(run, name):
            print(f"{name}: {summary(some)}")
    granted, undecided = sum(f.granted for f in judged), sum(f.undecided for f in judged)
    print(f"{len(judged)} by the whole of certify: L3 or more granted to {granted}, {undecided} not decided")
    return 1 if granted or undecided or figures.inside_caught < ENOUGH * figures.inside else 0


if __name__ == "__main__":
    sys.exit(main())
