"""A product of matrices by tiles in workgroup memory, in an order that is stated: k ascends.

    python examples/tiled_matmul.py
    python examples/tiled_matmul.py --backend opencl --size 256

A library that splits k between workgroups adds in another order on every size; here each element is one
chain of fused multiply-adds, so a row has the bytes that it has alone. The chain is computed again in
exact fractions for some elements and compared bit by bit.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import Literal

import numpy as np

import vyre
from vyre import In, Out, f32

TILE = 8


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


def rounded(exact: Fraction) -> np.float32:
    """The nearest float32, ties to even: from a double only where that rounds once."""
    near = np.float32(float(exact))
    around = [np.nextafter(near, np.float32(side)) for side in (-np.inf, np.inf)]
    return min([near, *around], key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(np.uint32)) & 1))


def chain(row: np.ndarray, column: np.ndarray) -> np.float32:
    total = np.float32(0)
    for x, y in zip(row, column, strict=True):
        total = rounded(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(total)))
    return total


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", help="where to run [the default]")
    parser.add_argument("--size", type=int, default=40)
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    m, k, n = options.size, options.size + 3, options.size - 1
    a = rng.standard_normal((m, k)).astype(np.float32)
    b = rng.standard_normal((k, n)).astype(np.float32)
    whole = matmul(a, b, backend=options.backend)
    alone = matmul(a[5:6], b, backend=options.backend)
    if whole[5:6].tobytes() != alone.tobytes():
        raise SystemExit("a row differs from itself alone")
    for i, j in rng.integers(0, min(m, n), (12, 2)):
        if whole[i, j].tobytes() != chain(a[i], b[:, j]).tobytes():
            raise SystemExit(f"element {i}, {j} is not the chain that was stated")
    print(
        f"{m} x {k} x {n}: a row alone has the same bytes; 12 elements are the stated chain to the last bit"
    )


if __name__ == "__main__":
    main()
