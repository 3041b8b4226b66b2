"""The smallest failing input: many candidates in one dispatch, again and again until none is smaller.

Smaller means a smaller sum of the operand words, then fewer bits set. Faults that need operands to agree
are followed by moving all operands at once.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Words = tuple[int, ...]

_ROUNDS = 128
_GRID = {
    1: tuple(range(1024)) + tuple(1 << k for k in range(10, 32)),
    2: tuple(range(40)) + (63, 64, 255, 256, 0xFFFF, 0x10000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF),
    3: (*range(9), 31, 32, 33, 0xFFFF, 0x10000, 0x8000_0000, 0xFFFF_FFFF),
    4: (0, 1, 2, 32, 0x8000_0000, 0xFFFF_FFFF),
}
"""Values tried in every combination before anything else, by number of operand words."""


def key(words: Words) -> tuple[int, int, Words]:
    return sum(words), sum(w.bit_count() for w in words), words


def smallest(
    found: Words, masks: Sequence[int], fails: Callable[[list[Words]], Sequence[bool]]
) -> Words:
    """A failing input from which no single move leads to a smaller one. `found` must fail."""
    best = min([found, *_failing(_grid(len(found), masks), fails)], key=key)
    for _ in range(_ROUNDS):
        smaller = sorted({c for c in _moves(best) if key(c) < key(best)}, key=key)
        candidates = _failing(smaller, fails)
        if not candidates:
            break
        best = min(candidates, key=key)
    return best


def _failing(candidates: list[Words], fails: Callable[[list[Words]], Sequence[bool]]) -> list[Words]:
    if not candidates:
        return []
    return [c for c, bad in zip(candidates, fails(candidates), strict=True) if bad]


def _grid(count: int, masks: Sequence[int]) -> list[Words]:
    values = _GRID.get(count, (0, 0xFFFF_FFFF))
    if count > 8:
        return []
    per_word = [sorted({v & m for v in values}) for m in masks]
    return list(product(*per_word))


def _moves(words: Words) -> list[Words]:
    moved: list[Words] = []
    for step in _STEPS:
        for k, word in enumerate(words):
            moved.append((*words[:k], step(word), *words[k + 1 :]))
        if len(words) > 1:
            moved.append(tuple(step(w) for w in words))
            moved += [
                tuple(step(w) if j in (a, b) else w for j, w in enumerate(words))
                for a in range(len(words))
                for b in range(a)
                if len(words) > 2
            ]
    for a in range(len(words)):
        for b in range(len(words)):
            if a != b:
                moved.append((*words[:a], words[b], *words[a + 1 :]))
    return moved


def _clear(bit: int) -> Callable[[int], int]:
    return lambda w: w & ~(1 << bit)


def _shift(amount: int) -> Callable[[int], int]:
    return lambda w: w >> amount


def _keep(bits: int) -> Callable[[int], int]:
    return lambda w: w & ((1 << bits) - 1)


def _less(amount: int) -> Callable[[int], int]:
    return lambda w: max(0, w - amount)


_STEPS: tuple[Callable[[int], int], ...] = (
    *(_clear(k) for k in range(32)),
    *(_shift(k) for k in range(1, 32)),
    *(_keep(k) for k in range(1, 32)),
    *(_less(1 << k) for k in range(32)),
    lambda w: 0,
    lambda w: 1,
)
