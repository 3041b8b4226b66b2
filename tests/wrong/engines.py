"""Backends that break one engine invariant each and no other.

The faults are in what a compaction or a histogram leaves behind, so they are made after the dispatch that
writes it.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from tests.wrong.base import Right

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.ir.program import Program

    Words = NDArray[np.uint32]


def words(view: memoryview) -> Words:
    return np.frombuffer(view, np.uint32)


def is_scatter(program: Program) -> bool:
    """The last dispatch of a compaction."""
    return program.buffer("places") is not None


class Compaction(Right):
    """Spoils what a compaction has written."""

    kept: Words | None = None

    def before(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        self.kept = words(buffers["output"]).copy() if is_scatter(program) else None

    def after(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        if self.kept is not None:
            self.spoil(words(buffers["output"]), words(buffers["count"]), self.kept, buffers)

    def spoil(self, out: Words, count: Words, kept: Words, buffers: Mapping[str, memoryview]) -> None: ...


class LosesTheLast(Compaction):
    def spoil(self, out: Words, count: Words, kept: Words, buffers: Mapping[str, memoryview]) -> None:
        if count[0]:
            out[count[0] - 1] = kept[count[0] - 1]
            count[0] -= 1


class LosesTheLastFromLength(Compaction):
    """Wrong for 100 elements and more, of which at least one is kept."""

    def spoil(self, out: Words, count: Words, kept: Words, buffers: Mapping[str, memoryview]) -> None:
        if count[0] and out.size >= 100:
            out[count[0] - 1] = kept[count[0] - 1]
            count[0] -= 1


class LosesTheLastOnce(LosesTheLast):
    """Wrong in the second compaction and never again."""

    def __init__(self) -> None:
        super().__init__()
        self.runs = 0

    def spoil(self, out: Words, count: Words, kept: Words, buffers: Mapping[str, memoryview]) -> None:
        self.runs += 1
        if self.runs == 2:
            super().spoil(out, count, kept, buffers)


class RepeatsTheLast(Compaction):
    def spoil(self, out: Words, count: Words, kept: Words, buffers: Mapping[str, memoryview]) -> None:
        if 0 < count[0] < out.size:
            out[count[0]] = out[count[0] - 1]
            count[0] += 1


class ExchangesTwo(Compaction):
    def spoil(self, out: Words, count: Words, kept: Words, buffers: Mapping[str, memoryview]) -> None:
        if count[0] > 1:
            out[[0, 1]] = out[[1, 0]]


class WritesPastTheCount(Compaction):
    def spoil(self, out: Words, count: Words, kept: Words, buffers: Mapping[str, memoryview]) -> None:
        if count[0] < out.size:
            out[count[0]] = 0


class WritesPastTheBuffer(Compaction):
    def spoil(self, out: Words, count: Words, kept: Words, buffers: Mapping[str, memoryview]) -> None:
        if out.size:
            ctypes.memset(out.ctypes.data + out.nbytes, 0, 4)


class ChangesAnInput(Compaction):
    def spoil(self, out: Words, count: Words, kept: Words, buffers: Mapping[str, memoryview]) -> None:
        flags = words(buffers["flags"])
        if flags.size:
            ctypes.memset(flags.ctypes.data, 0xEE, 1)


class CountsTooMany(Compaction):
    """All that a caller reads is right; the count says that there is more than fits."""

    def spoil(self, out: Words, count: Words, kept: Words, buffers: Mapping[str, memoryview]) -> None:
        if count[0] == out.size:
            count[0] += 1


class ForgetsHowItDidIt(Compaction):
    """Right the first time that a program sees an input, and in another order from then on."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: Counter[tuple[Program, bytes, bytes]] = Counter()
        self._again = False

    def after(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        if self.kept is not None:
            key = (program, bytes(buffers["input"]), bytes(buffers["flags"]))
            self._again = key in self._seen
            self._seen[key] += 1
        super().after(program, buffers)

    def spoil(self, out: Words, count: Words, kept: Words, buffers: Mapping[str, memoryview]) -> None:
        if self._again and count[0] > 1:
            out[[0, 1]] = out[[1, 0]]


class DependsOnTheGroup(Compaction):
    """Wrong in workgroups of any size but 64, which all the other checks use."""

    def after(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        if program.workgroup_size[0] != 64:
            super().after(program, buffers)

    def spoil(self, out: Words, count: Words, kept: Words, buffers: Mapping[str, memoryview]) -> None:
        if count[0] > 1:
            out[[0, 1]] = out[[1, 0]]


class LosesAnAtomic(Right):
    """One addition to the first bin that has any is gone, in histograms."""

    def after(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        out = words(buffers["output"])
        if program.buffer("input") is not None and out.size == 256 and program.buffer("bins") is not None:
            used = np.flatnonzero(out)
            if used.size:
                out[used[0]] -= 1


class GivesATicketTwice(Right):
    """Two atomics on one location return the same value."""

    def after(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        if program.buffer("counts") is None or program.buffer("input") is None:
            return
        keys, tickets = words(buffers["input"]) % 16, words(buffers["output"])
        second = np.flatnonzero((keys == keys[0]) & (tickets != tickets[0]))
        if second.size:
            tickets[second[0]] = tickets[0]


class Hangs(Right):
    """Never comes back from a dispatch whose first input word is the one that the environment names."""

    name = "hangs"

    def before(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        found = words(buffers["input"]) if buffers["input"].nbytes % 4 == 0 else words(buffers["params"])
        if found.size and int(found[0]) == int(os.environ["VYRE_TEST_HANG"]):
            while True:
                time.sleep(60)
