"""Lengths and contents for engines: a pure function of (seed, index)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint32]

LENGTHS = (0, 1, 2, 3, 5, 63, 64, 65, 255, 256, 257, 511, 512, 513, 1023, 1025, 2047, 2049)
"""Lengths around the sizes of tiles, which is where engines break."""
LONGEST = 6000
SHAPES = ("random", "equal", "largest", "rising", "sparse", "small")


def source(seed: int, index: int) -> np.random.Generator:
    """The random numbers of one case."""
    return np.random.default_rng((seed, index))


def length(rng: np.random.Generator, index: int, *, least: int = 0) -> int:
    """A length that is often a boundary and sometimes anything; the first case is never a small one."""
    if index == 0:
        return int(rng.integers(LONGEST // 2, LONGEST))
    boundary = LENGTHS[int(rng.integers(len(LENGTHS)))]
    return max(least, boundary if rng.integers(3) else int(rng.integers(LONGEST)))


def words(rng: np.random.Generator, index: int, count: int) -> Words:
    """u32 in one of the shapes that data has, random ones first."""
    match SHAPES[int(rng.integers(len(SHAPES))) if index else 0]:
        case "random":
            return rng.integers(0, 1 << 32, count, dtype=np.uint32)
        case "equal":
            return np.full(count, rng.integers(1 << 32), np.uint32)
        case "largest":
            return np.full(count, 0xFFFF_FFFF, np.uint32)
        case "rising":
            return np.arange(count, dtype=np.uint32) * np.uint32(1 + int(rng.integers(1 << 16)))
        case "sparse":
            return (rng.integers(0, 64, count, dtype=np.uint32) == 0).astype(np.uint32)
        case _:
            return rng.integers(0, 16, count, dtype=np.uint32)


def distinct(rng: np.random.Generator, count: int) -> Words:
    """u32 that are all different, so that every one of them can be told from the others."""
    odd = int(rng.integers(1 << 31)) * 2 + 1
    return (
        np.arange(count, dtype=np.uint64) * np.uint64(odd) + rng.integers(1 << 32, dtype=np.uint64)
    ).astype(np.uint32)


def flags(rng: np.random.Generator, index: int, count: int) -> Words:
    """Flags of every density: half, all, few, none."""
    limit = (32, 64, 1, 0)[index % 4]
    chosen = rng.integers(0, 64, count) < limit
    return chosen.astype(np.uint32) * rng.integers(1, 1 << 32, count, dtype=np.uint32)


def work_bound(count: int) -> int:
    """Invocations that any of the engines may take for `count` elements, whatever its shape."""
    return 64 * count + (1 << 17)
