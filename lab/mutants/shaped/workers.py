"""Processes that examine mutants, each ended and begun anew where a row takes too long.

    for fate in examined(numbers, jobs=16, seconds=480, whole=True): ...

A wrong backend may run for ever: a bound that it reads from the wrong buffer is a loop of billions of turns.
A run of a certificate calls that a hang, and so does this.
"""

from __future__ import annotations

import time
from functools import cache
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from lab.mutants.shaped.judge import Examiner, ShapedFate
from lab.mutants.shaped.roster import roster
from vyre.conform.verify.stages.shapes import STAGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

HANG = 60.0
"""Seconds of one row, as `vyre certify` waits for a backend."""

_examiner = cache(Examiner)
"""One for each process: what it has read of a row holds for every mutant."""


def work(pipe: Connection[Any, Any], whole: bool) -> None:
    """Answers numbers of mutants with their fates; tells of every row before it is run."""
    while True:
        number: int = pipe.recv()
        pipe.send(_examiner().examine(roster()[number], whole=whole, begun=pipe.send))


class _Worker:
    def __init__(self, whole: bool) -> None:
        context = get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process: BaseProcess = context.Process(target=work, args=(other, whole), daemon=True)
        self.process.start()
        self.number = self.row = -1
        self.since = self.heard = time.monotonic()

    def give(self, number: int) -> None:
        self.number, self.row = number, -1
        self.since = self.heard = time.monotonic()
        self.pipe.send(number)

    def hears(self) -> ShapedFate | None:
        """A fate, or None for a row that has begun."""
        said = self.pipe.recv()
        self.heard = time.monotonic()
        if isinstance(said, int):
            self.row = said
            return None
        return said

    @property
    def hangs(self) -> bool:
        return self.row >= 0 and time.monotonic() - self.heard > HANG

    def end(self) -> None:
        self.process.kill()
        self.process.join()


def examined(numbers: Sequence[int], *, jobs: int, seconds: float, whole: bool) -> Iterator[ShapedFate]:
    """Fates as they become known; none is begun after `seconds`."""
    end, left = time.monotonic() + seconds, list(reversed(numbers))
    busy: list[_Worker] = []

    def next_for(worker: _Worker) -> None:
        if left and time.monotonic() < end:
            worker.give(left.pop())
        else:
            busy.remove(worker)
            worker.end()

    for _ in range(min(jobs, len(left))):
        busy.append(_Worker(whole))
        next_for(busy[-1])
    while busy:
        ready = wait([worker.pipe for worker in busy], timeout=1)
        for worker in list(busy):
            fate = worker.hears() if worker.pipe in ready else None
            if fate is None and worker.hangs:
                name, took = roster()[worker.number].name, time.monotonic() - worker.since
                fate = ShapedFate(name, f"{STAGE.case(worker.row)}: hang", 1, took, whole)
                worker.end()
                busy[busy.index(worker)] = worker = _Worker(whole)
            if fate is not None:
                yield fate
                next_for(worker)
