"""Shaped mutants by the whole of `vyre certify`, each in a process of its own and up to a time limit.

certified([(17, "last turn lost when …")], folder, jobs=16, limit=540)
fates_of_certify(folder)                    what was granted to each, and what failed first
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING

from lab.mutants.shaped.backend import Shaped
from lab.mutants.shaped.roster import roster
from vyre.backends.cpu.backend import CpuBackend
from vyre.certification import CertifyPlan, certify
from vyre.conform.spec.levels import SHAPES
from vyre.conform.spec.track import FLOAT, INTEGER, op_track

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.process import BaseProcess
    from pathlib import Path

    from vyre.certification import CertifyProgress

FOLDER = "certify"
_OVER = "time over"


@dataclass(frozen=True, slots=True)
class CertifyFate:
    """`levels` are those granted; `failures` the number of checks and cases that failed before the end, and
    `first` the op or stage of the first of them."""

    name: str
    levels: tuple[str, ...]
    failures: int
    first: str
    seconds: float

    @property
    def granted(self) -> bool:
        """Whether it was granted what only a right backend may have."""
        return any(level[:2] in ("L3", "L4") for level in self.levels)

    @property
    def undecided(self) -> bool:
        """Whether it was ended before anything was granted or denied."""
        return not self.levels and not self.failures


def one(number: int, folder: Path) -> None:
    """Certifies one mutant in this process, up to the failure from which on no L3 can be granted."""
    mutant, started = roster()[number], time.monotonic()
    backend = Shaped(CpuBackend(threads=1, canaries=False), mutant)
    denied = Denied()
    try:
        found = certify(backend, CertifyPlan(keep_failures=False, baselines=False), progress=denied.watch)
    except Decided:
        levels, failures, first = (), denied.failing, denied.first
    else:
        levels = tuple(filter(None, found.levels.values()))
        failures, first = len(found.failures), denied.first
    seconds = time.monotonic() - started
    _write(folder, number, CertifyFate(mutant.name, levels, failures, first, seconds))


class Decided(Exception):
    """Both tracks are denied L3 whatever else the run finds."""


class Denied:
    """Follows a run: a failing row of shapes denies L3 on every track, a failing op on its own."""

    def __init__(self) -> None:
        self.failing, self.first = 0, ""
        self._tracks: set[str] = set()

    def watch(self, progress: CertifyProgress) -> None:
        """Raises `Decided` where a run need not go on."""
        if progress.failing <= self.failing:
            return
        self.failing, self.first = progress.failing, self.first or progress.what
        if progress.what == SHAPES:
            raise Decided
        if "." in progress.what:
            self._tracks.add(op_track(progress.what))
        if {INTEGER, FLOAT} <= self._tracks:
            raise Decided


def _write(folder: Path, number: int, fate: CertifyFate) -> None:
    (folder / FOLDER / f"{number}.json").write_text(json.dumps(asdict(fate)))
    print(f"{' '.join(fate.levels) or 'no level':20} {fate.first:32} {fate.seconds:6.1f} s  {fate.name}")


def certified(mutants: Sequence[tuple[int, str]], folder: Path, *, jobs: int, limit: float) -> None:
    """Each that has no result yet; those that take longer than `limit` are ended, and say so."""
    (folder / FOLDER).mkdir(exist_ok=True)
    context = get_context("spawn")
    left = [(n, name) for n, name in mutants if not (folder / FOLDER / f"{n}.json").exists()]
    running: dict[int, tuple[BaseProcess, str, float]] = {}
    while left or running:
        while left and len(running) < jobs:
            number, name = left.pop(0)
            process = context.Process(target=one, args=(number, folder))
            process.start()
            running[number] = process, name, time.monotonic()
        time.sleep(0.2)
        for number, (process, name, started) in list(running.items()):
            if time.monotonic() - started > limit and process.is_alive():
                process.terminate()
                _write(folder, number, CertifyFate(name, (), 0, _OVER, limit))
            if not process.is_alive():
                process.join()
                if not (folder / FOLDER / f"{number}.json").exists():
                    ended = f"ended with {process.exitcode}"
                    _write(folder, number, CertifyFate(name, (), 0, ended, time.monotonic() - started))
                del running[number]


def fates_of_certify(folder: Path) -> list[CertifyFate]:
    paths = sorted((folder / FOLDER).glob("*.json"), key=lambda path: int(path.stem))
    documents = [json.loads(path.read_text()) for path in paths]
    return [
        CertifyFate(d["name"], tuple(d["levels"]), d["failures"], d["first"], d["seconds"]) for d in documents
    ]
