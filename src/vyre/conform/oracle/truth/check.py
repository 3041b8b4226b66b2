"""The check of one function on one backend: every input of a range, chunk by chunk, and what is wrong.

    check(runner, function, lo=0, hi=1 << 32)    -> Checked

Whole chunks are compared by digest with the committed truth, which needs no other library. A chunk that
differs is evaluated again and compared input by input with the oracle. Inputs at the ends of a range that
fill no chunk are compared with the oracle at once, and so is a small range where no truth is installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.oracle.digest import CHUNK, INPUTS, consecutive, digest
from vyre.conform.oracle.truth import oracle, store
from vyre.errors import UnsupportedByBackend, VyreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vyre.conform.oracle.truth.functions import Function
    from vyre.conform.oracle.truth.runner import Runner
    from vyre.conform.records.journal import Journal

EXHAUSTIVE, PART, FAILED, REFUSED = "exhaustive", "part", "failed", "refused"

NARROWED = 4
"""Differing chunks that are narrowed to inputs; the others are only counted."""

SHOWN = 8
"""Wrong inputs of a chunk that are named."""

DIRECT = 16 * CHUNK
"""Inputs that are compared with the oracle where no truth is installed."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """One wrong result, all three as bits."""

    input: int
    expected: int
    actual: int


@dataclass(frozen=True, slots=True)
class BadChunk:
    """A chunk that differs: how many of its inputs were found wrong, and the first of them.

    `note` says what is odd where the results were right on the second look.
    """

    first: int
    wrong: int
    shown: tuple[Wrong, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known about a function on a backend after a check of the inputs `lo` to `hi - 1`."""

    function: str
    status: str
    lo: int
    hi: int
    differing: int = 0
    chunks: tuple[BadChunk, ...] = ()
    truth: str = ""
    note: str = ""

    @property
    def inputs(self) -> int:
        return 0 if self.status == REFUSED else self.hi - self.lo


def check(
    runner: Runner,
    function: Function,
    *,
    lo: int = 0,
    hi: int = INPUTS,
    journal: Journal | None = None,
    folder: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, failing: None,
) -> Checked:
    """The verdict on a range. `progress` gets the inputs done and the chunks that differ.

    `folder` holds the truth; None means the committed one.
    """
    if not 0 <= lo < hi <= INPUTS:
        raise VyreError(
            f"{lo:#x} to {hi:#x} is not a range of inputs.", fix="give 0 <= LO < HI <= 0x100000000."
        )
    truth = _truth(function.name, lo, hi, folder)
    try:
        runner.evaluate(function, lo, 1)
    except UnsupportedByBackend as refusal:
        return Checked(function.name, REFUSED, lo, hi, note=refusal.message)
    first, last = (-(-lo // CHUNK), hi // CHUNK) if truth else (0, 0)
    bad: list[BadChunk] = []
    edges = [(lo, min(hi, first * CHUNK)), (max(lo, last * CHUNK), hi)] if first < last else [(lo, hi)]
    done = 0
    for start, stop in edges:
        for at in range(start, stop, CHUNK):
            bad += _direct(runner, function, at, min(stop, at + CHUNK))
            done += min(stop, at + CHUNK) - at
            progress(done, len(bad))
    differing = _sweep(runner, function, truth, first, last, journal, lambda n, f: progress(done + n, f))
    bad += [_narrowed(runner, function, truth, chunk) for chunk in differing[:NARROWED]]
    status = FAILED if bad or differing else EXHAUSTIVE if hi - lo == INPUTS else PART
    return Checked(
        function.name,
        status,
        lo,
        hi,
        differing=len(differing) + len(bad) - min(NARROWED, len(differing)),
        chunks=tuple(sorted(bad, key=lambda b: b.first)),
        truth=truth.sha256 if truth else "",
        note="" if truth else "compared with the oracle",
    )


def _truth(name: str, lo: int, hi: int, folder: Path | None) -> store.Truth | None:
    try:
        return store.load(name, folder=folder)
    except VyreError:
        if name in store.index(folder) or hi - lo > DIRECT:
            raise
        return None


def _sweep(
    runner: Runner,
    function: Function,
    truth: store.Truth | None,
    first: int,
    last: int,
    journal: Journal | None,
    progress: Callable[[int, int], None],
) -> list[int]:
    """The chunks from `first` to `last - 1` whose digests differ from the truth."""
    differing: list[int] = []
    known = {entry["from"]: entry for entry in journal.entries} if journal is not None else {}
    for start in range(first, last, runner.batch):
        assert truth is not None
        stop = min(last, start + runner.batch)
        entry: dict[str, Any] | None = known.get(start)
        if entry is None or entry["to"] != stop:
            runner.evaluate(function, start * CHUNK, (stop - start) * CHUNK)
            found = runner.digests(start * CHUNK, stop - start)
            wrong = [start + k for k, d in enumerate(found) if d != truth.digests[start + k]]
            entry = {"from": start, "to": stop, "differing": wrong}
            if journal is not None:
                journal.append(entry)
        differing += entry["differing"]
        progress((stop - first) * CHUNK, len(differing))
    return differing


def _narrowed(runner: Runner, function: Function, truth: store.Truth | None, chunk: int) -> BadChunk:
    found = _direct(runner, function, chunk * CHUNK, (chunk + 1) * CHUNK)
    if found:
        return found[0]
    inputs = consecutive(chunk * CHUNK, CHUNK)
    ours = digest(inputs, oracle.results(function.name, inputs))
    assert truth is not None
    note = (
        "every result was right when the chunk was evaluated again: the device is not stable"
        if ours == truth.digests[chunk]
        else "the oracle of this machine does not agree with the committed truth"
    )
    return BadChunk(chunk * CHUNK, 0, (), note)


def _direct(runner: Runner, function: Function, start: int, stop: int) -> list[BadChunk]:
    """The inputs of a part compared with the oracle; empty where all are right."""
    inputs = consecutive(start, stop - start)
    expected = oracle.results(function.name, inputs)
    runner.evaluate(function, start, stop - start)
    actual = runner.results(stop - start)
    places = np.flatnonzero(actual != expected)
    if not places.size:
        return []
    shown = tuple(Wrong(int(inputs[k]), int(expected[k]), int(actual[k])) for k in places[:SHOWN])
    return [BadChunk(start, int(places.size), shown)]
