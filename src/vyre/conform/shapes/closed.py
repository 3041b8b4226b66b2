"""Closed forms of long loops, by NumPy and exact integers: nothing here knows how a backend runs a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Words = NDArray[np.uint32]
    Floats = NDArray[np.float32]

FACTOR, STEP, OUTER, OFFSET = 0x0019_660D, 0x0001_0DCD, 0x3C6E_F35F, 0x6C07_8965
"""A turn replaces the word s by s * FACTOR + k * STEP + outer * OUTER + OFFSET, all modulo 2^32."""

_MASK = 0xFFFF_FFFF
_CHUNK = 1 << 15
Matrix = tuple[tuple[int, int, int], ...]


def turned(words: Words, start: int, turns: int, outer: int, more: int = 0) -> Words:
    """The words after `turns` turns that begin with k = start; each of them adds `more`."""
    once: Matrix = ((FACTOR, STEP, outer * OUTER + OFFSET + more & _MASK), (0, 1, 1), (0, 0, 1))
    total = _power(once, turns)
    constant = total[0][1] * start + total[0][2] & _MASK
    return words * np.uint32(total[0][0]) + np.uint32(constant)


def turned_by(words: Words, start: int, turns: NDArray[np.int64], outer: int, more: int = 0) -> Words:
    """The words after as many turns as each of them takes."""
    return by_turns(turns, lambda count: turned(words, start, count, outer, more))


def by_turns(turns: NDArray[np.int64], after: Callable[[int], Any]) -> Any:
    """What comes `after` so many turns, each from where its own number of turns stands."""
    counts: list[int] = np.unique(turns).tolist()
    return np.select([turns == count for count in counts], [after(count) for count in counts])


def _power(matrix: Matrix, exponent: int) -> Matrix:
    found: Matrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    while exponent:
        if exponent & 1:
            found = _product(matrix, found)
        matrix = _product(matrix, matrix)
        exponent >>= 1
    return found


def _product(a: Matrix, b: Matrix) -> Matrix:
    def cell(row: int, column: int) -> int:
        return sum(a[row][k] * b[k][column] for k in range(3)) & _MASK

    return tuple((cell(r, 0), cell(r, 1), cell(r, 2)) for r in range(3))


SUMMAND, FACTORS = (0x3F80_0055, 0xFFFF, 7), (0x3F7F_FFF0, 31, 0)
"""How the bits of the operand of a turn come from k: the base plus (k & mask) << shift."""

FIRST_NORMAL, FIRST_LEAST = 0x3F80_0000, 0x0040_0000
"""The bits with which accumulators begin: those of odd classes are subnormal, and end so."""

FIRST_STEP = 0x0301
"""How far apart the first bits of classes are: so that summands of other last bits round at once."""

LEAST_SUMMANDS = 3
"""A mask for k: bits of a summand less one, so small that a million of them are subnormal together."""

UP, DOWN, HALF, ONE = 0x7F00_0000, 0x0040_0000, 0x3F00_0000, 0x3F80_0000
"""Factors that bring the least numbers to 1 and back: between the first turn and the last nothing is
subnormal, because processors take long for products of such numbers."""


def operand(kind: str) -> tuple[int, int, int]:
    return SUMMAND if kind == "FAdd" else FACTORS


def accumulated(floats: Floats, kind: str, start: int, turns: int, listed: int | None = None) -> Floats:
    """The floats after `turns` turns of rounded additions or multiplications, one after the other; they are
    of classes from 0 on. The factors at the ends are those of a loop of the `listed` turns."""
    factors = ends(turns if listed is None else listed)
    base, mask, shift = operand(kind)
    step: Any = np.add if kind == "FAdd" else np.multiply
    for first in range(0, turns, _CHUNK):
        count = min(_CHUNK, turns - first)
        k = (np.arange(count, dtype=np.uint64) + start + first).astype(np.uint32)
        table = np.empty((count + 1, len(floats)), np.uint32)
        table[1:, ::2] = (((k & np.uint32(mask)) << np.uint32(shift)) + np.uint32(base))[:, None]
        table[1:, 1::2] = _least(kind, k, start, turns, factors)[:, None]
        given = table.view(np.float32)
        given[0] = floats
        floats = step.accumulate(given, axis=0)[-1]
    return floats


def _least(kind: str, k: Words, start: int, turns: int, factors: tuple[int, int]) -> Words:
    """The bits of the operands of odd classes."""
    if kind == "FAdd":
        return (k & np.uint32(LEAST_SUMMANDS)) + np.uint32(1)
    first, last = factors
    found = np.where(k == np.uint32(start), np.uint32(first), np.uint32(ONE))
    return np.where(k == np.uint32(start + turns - 1 & _MASK), np.uint32(last), found)


def ends(turns: int) -> tuple[int, int]:
    """The factors of the first and the last turn."""
    return (UP, DOWN) if turns > 1 else (HALF, HALF)


def reduced(order: str, op: str, values: Floats) -> int:
    """The bits of a reduction, in the order that the language declares for it."""
    steps: dict[str, tuple[Any, float]] = {
        "Add": (np.add, 0.0),
        "Mul": (np.multiply, 1.0),
        "Min": (np.fmin, np.inf),
        "Max": (np.fmax, -np.inf),
    }
    step, empty = steps[op]
    if not len(values):
        found = np.float32(empty)
    elif order == "Strict":
        found = step.accumulate(values, dtype=np.float32)[-1]
    else:
        level = values
        while len(level) > 1:
            even = len(level) & ~1
            level = np.concatenate([step(level[:even:2], level[1:even:2]), level[even:]])
        found = level[0]
    return int(np.asarray(found, np.float32).view(np.uint32))
