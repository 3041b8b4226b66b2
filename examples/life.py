"""Conway's game of life on a torus, drawn: a kernel by shape, replayed generation after generation.

    python examples/life.py --out life.png
    python examples/life.py --backend wgpu --generations 500

The same generations are computed by NumPy and compared.
"""

from __future__ import annotations

import argparse
from typing import Literal

import numpy as np
from picture import save_png

import vyre
from vyre import In, Out, u32

AROUND = tuple((y, x) for y in range(3) for x in range(3) if (y, x) != (1, 1))


@vyre.kernel(workgroup_size=(16, 4))
def step(cells: In[u32, Literal["m", "n"]], out: Out[u32, Literal["m", "n"]]) -> None:
    i, j = vyre.grid(2)
    m, n = cells.shape
    alive = u32(0)
    for y, x in AROUND:
        alive += cells[(i + m - 1 + y) % m, (j + n - 1 + x) % n]
    if alive == 3 or (alive == 2 and cells[i, j] == 1):
        out[i, j] = 1


def plainly(cells: np.ndarray) -> np.ndarray:
    around = sum(np.roll(cells, (y - 1, x - 1), (0, 1)) for y, x in AROUND)
    return ((around == 3) | ((around == 2) & (cells == 1))).astype(np.uint32)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", help="where to run [the default]")
    parser.add_argument("--generations", type=int, default=60)
    parser.add_argument("--size", type=int, default=96, help="rows and columns of the field")
    parser.add_argument("--out", help="write the last generation here, as PNG")
    options = parser.parse_args(arguments)
    first = np.random.default_rng(3).integers(0, 2, (options.size, options.size)).astype(np.uint32)
    cells, expected = first, first
    for _ in range(options.generations):
        cells = step(cells, backend=options.backend)
        expected = plainly(expected)
    if not np.array_equal(cells, expected):
        raise SystemExit("the kernel and NumPy differ")
    print(f"{options.generations} generations, {int(cells.sum())} cells alive, equal to NumPy's")
    if options.out:
        save_png(options.out, np.kron(255 * cells, np.ones((6, 6))).astype(np.uint8))
        print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
