"""Launches of a captured row wait for those whose memory they need, directly or through others."""

from __future__ import annotations

import random

import pytest

from vyre.backends.cuda.order import MemoryUse, waits

pytestmark = pytest.mark.fast


def read(address: int, nbytes: int = 8) -> MemoryUse:
    return MemoryUse(address, nbytes, written=False)


def write(address: int, nbytes: int = 8) -> MemoryUse:
    return MemoryUse(address, nbytes, written=True)


def test_two_that_read_the_same_run_side_by_side() -> None:
    row = [
        [write(0), write(8)],
        [read(0), read(8), write(16)],
        [read(8), read(0), write(24)],
        [read(16), read(24)],
    ]
    assert waits(row) == [[], [0], [0], [1, 2]]


def test_memory_is_written_again_after_its_readers() -> None:
    assert waits([[write(0)], [read(0)], [read(0)], [write(0)], [read(0)]]) == [[], [0], [0], [1, 2], [3]]


def test_rows_that_share_nothing_do_not_wait() -> None:
    assert waits([[write(0)], [write(8)], [read(0), write(16)], [read(8), write(24)]]) == [[], [], [0], [1]]


def test_parts_of_one_memory_are_one() -> None:
    assert waits([[write(0, 64)], [read(60, 4)], [write(32, 4)], [read(64, 4)]]) == [[], [0], [1], []]


def test_empty_memory_holds_nobody_up_wrongly() -> None:
    assert waits([[write(0, 0)], [write(0, 8)], [read(4, 0)]]) == [[], [0], [1]]


@pytest.mark.parametrize("seed", range(40))
def test_every_two_that_conflict_keep_their_order(seed: int) -> None:
    """And two that are not ordered share no byte that one of them writes."""
    draw = random.Random(seed)
    row = [
        [
            MemoryUse(draw.randrange(0, 400), draw.randrange(0, 24), draw.random() < 0.4)
            for _ in range(draw.randrange(1, 4))
        ]
        for _ in range(40)
    ]
    found = waits(row)
    behind: list[set[int]] = []
    for number, earlier in enumerate(found):
        assert earlier == sorted(set(earlier))
        assert all(e < number for e in earlier)
        behind.append(set(earlier).union(*(behind[e] for e in earlier)))
    for later, uses in enumerate(row):
        for sooner in range(later):
            if any(_conflict(a, b) for a in row[sooner] for b in uses):
                assert sooner in behind[later], (sooner, later)


def _conflict(a: MemoryUse, b: MemoryUse) -> bool:
    shared = min(a.address + a.nbytes, b.address + b.nbytes) > max(a.address, b.address)
    return shared and (a.written or b.written)
