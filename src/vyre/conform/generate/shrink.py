"""Counterexamples made small: the least operands that still fail, then the simplest bits.

Candidates are tried in batches, so a backend answers a whole round with one dispatch. Smaller means a
smaller sum of all operands, then fewer set bits, then the lesser first operand. The search ends when no
candidate of a round is smaller; a failure among operands below 16 is found even when nothing leads there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from vyre.errors import VyreError
from vyre.semantics.arrays import Words

Fails = Callable[[tuple[Words, ...]], "np.ndarray[tuple[int], np.dtype[np.bool_]]"]
"""Operand words, one array each, to an array that is true where the case fails."""

_MAX = 0xFFFF_FFFF
_GRID = {1: 256, 2: 64, 3: 16, 4: 6}
Case = tuple[int, ...]


def weight(case: Case) -> tuple[int, int, Case]:
    """The order in which counterexamples get smaller."""
    return sum(case), sum(word.bit_count() for word in case), case


def shrink(fails: Fails, case: Case, *, masks: Case | None = None, rounds: int = 200) -> Case:
    """The smallest failing case found from a failing one. Raises `VyreError` where `case` does not fail."""
    allowed = masks or (_MAX,) * len(case)
    best = tuple(word & mask for word, mask in zip(case, allowed, strict=True))
    if not case:
        return best
    if not _failing(fails, [best]):
        raise VyreError(f"the case {best} does not fail, so it cannot be shrunk.", fix="pass a failing case.")
    smallest = _failing(fails, sorted(_grid(allowed), key=weight))
    if smallest:
        return min([best, *smallest], key=weight)
    for _ in range(rounds):
        tried = {tuple(w & m for w, m in zip(c, allowed, strict=True)) for c in _candidates(best)}
        smaller = {c for c in tried if weight(c) < weight(best)}
        found = _failing(fails, sorted(smaller, key=weight))
        if not found:
            break
        best = found[0]
    return best


def _failing(fails: Fails, tried: list[Case]) -> list[Case]:
    if not tried:
        return []
    columns = tuple(np.asarray(column, np.uint32) for column in zip(*tried, strict=True))
    return [case for case, failed in zip(tried, fails(columns), strict=True) if failed]


def _grid(masks: Case) -> Iterator[Case]:
    """All cases of small operands."""
    size = _GRID.get(len(masks), 3)
    return product(*(range(min(size, mask + 1)) for mask in masks))


def _candidates(case: Case) -> Iterator[Case]:
    for j, word in enumerate(case):
        for value in (*_simpler(word), *case):
            yield (*case[:j], value, *case[j + 1 :])
    for step in (1, 2, 3, 4, 8, 16):
        yield tuple(word >> step for word in case)
    for j in range(len(case)):
        for k in range(j):
            yield from _together(case, j, k)


def _simpler(word: int) -> Iterator[int]:
    """Smaller words to try for one: nothing, its parts, its neighbours, and powers of two."""
    yield from (0, 1, 2, 3)
    for bit in range(32):
        if word >> bit & 1:
            yield word ^ (1 << bit)
            yield word & ((1 << bit) - 1)
            yield 1 << bit
        yield word >> bit
        yield max(0, word - (1 << bit))


def _together(case: Case, j: int, k: int) -> Iterator[Case]:
    """Moves of two operands that keep their difference, or the bits in which they differ."""
    for bit in range(32):
        step = 1 << bit
        if case[j] >= step and case[k] >= step:
            yield _two(case, j, k, case[j] - step, case[k] - step)
        if case[j] & step and case[k] & step:
            yield _two(case, j, k, case[j] ^ step, case[k] ^ step)
        yield _two(case, j, k, case[j] & (step - 1), case[k] & (step - 1))
        if bit:
            yield _two(case, j, k, case[j] >> bit, case[k] >> bit)
    yield _two(case, j, k, case[k], case[j])
    low = min(case[j], case[k])
    yield _two(case, j, k, case[j] - low, case[k] - low)


def _two(case: Case, j: int, k: int, new_j: int, new_k: int) -> Case:
    changed = list(case)
    changed[j], changed[k] = new_j, new_k
    return tuple(changed)
