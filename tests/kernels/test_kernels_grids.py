"""Matrices and fields by shape: tiled product and transpose, the game of life."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import vyre
from vyre import In, Out, f32, u32

TILE = 8
AROUND = tuple((y, x) for y in range(3) for x in range(3) if (y, x) != (1, 1))


@vyre.kernel(workgroup_size=(TILE, TILE))
def matmul(
    a: In[f32, Literal["m", "k"]], b: In[f32, Literal["k", "n"]], out: Out[f32, Literal["m", "n"]]
) -> None:
    left = vyre.shared(f32, (TILE, TILE))
    right = vyre.shared(f32, (TILE, TILE))
    i, j = vyre.grid(2)
    y, x = vyre.local_id(1), vyre.local_id(0)
    total = 0.0
    for tile in range((a.shape[1] + TILE - 1) // TILE):
        left[y, x] = a[i, tile * TILE + x]
        right[y, x] = b[tile * TILE + y, j]
        vyre.barrier()
        for p in range(TILE):
            total = vyre.fma(left[y, p], right[p, x], total)
        vyre.barrier()
    out[i, j] = total


@pytest.mark.parametrize("sizes", [(3, 5, 4), (9, 17, 8), (1, 1, 20)])
def test_a_tiled_product(backend: str, sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    rng = np.random.default_rng(m)
    a = rng.integers(-50, 50, (m, k)).astype(np.float32)
    b = rng.integers(-50, 50, (k, n)).astype(np.float32)
    found = matmul(a, b, backend=backend)
    assert found.shape == (m, n)
    assert np.array_equal(found, (a.astype(np.int64) @ b.astype(np.int64)).astype(np.float32))
    uneven = matmul(a / 7, b / 11, backend=backend)
    assert uneven.tobytes() == matmul(a / 7, b / 11, backend="reference").tobytes()


@vyre.kernel(workgroup_size=(TILE, TILE))
def transpose(a: In[u32, Literal["m", "n"]], out: Out[u32, Literal["n", "m"]]) -> None:
    tile = vyre.shared(u32, (TILE, TILE))
    i, j = vyre.grid(2)
    y, x = vyre.local_id(1), vyre.local_id(0)
    top, side = i - y, j - x
    tile[y, x] = a[side + y, top + x]
    vyre.barrier()
    out[i, j] = tile[x, y]


@pytest.mark.parametrize("shape", [(8, 8), (3, 13), (17, 9)])
def test_a_tiled_transpose(backend: str, shape: tuple[int, int]) -> None:
    a = np.arange(shape[0] * shape[1], dtype=np.uint32).reshape(shape)
    assert np.array_equal(transpose(a, backend=backend), a.T)


@vyre.kernel(workgroup_size=(8, 4))
def life(cells: In[u32, Literal["m", "n"]], out: Out[u32, Literal["m", "n"]]) -> None:
    i, j = vyre.grid(2)
    m, n = cells.shape
    alive = u32(0)
    for y, x in AROUND:
        alive += cells[(i + m - 1 + y) % m, (j + n - 1 + x) % n]
    if alive == 3 or (alive == 2 and cells[i, j] == 1):
        out[i, j] = 1


def test_the_game_of_life(backend: str) -> None:
    cells = np.random.default_rng(1).integers(0, 2, (6, 11)).astype(np.uint32)
    for _ in range(4):
        around = sum(np.roll(cells, (y - 1, x - 1), (0, 1)) for y, x in AROUND)
        expected = ((around == 3) | ((around == 2) & (cells == 1))).astype(np.uint32)
        cells = life(cells, backend=backend)
        assert np.array_equal(cells, expected)
