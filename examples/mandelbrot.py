"""The Mandelbrot set as a picture: floats whose last bit decides, the same picture on every backend.

    python examples/mandelbrot.py
    python examples/mandelbrot.py --backend cuda --size 1600 --out mandelbrot.png

A point's colour is the number of turns before it leaves; near the edge one rounding more or less changes
it. The hash of all counts is printed, and is the same wherever it runs.
"""

from __future__ import annotations

import argparse
import hashlib
from typing import Literal

import numpy as np
from picture import save_png

import vyre
from vyre import Out, f32, u32

TURNS = 200


@vyre.kernel(workgroup_size=(16, 4))
def mandelbrot(left: f32, top: f32, step: f32, out: Out[u32, Literal["m", "n"]]) -> None:
    i, j = vyre.grid(2)
    a = left + vyre.convert(j, f32) * step
    b = top + vyre.convert(i, f32) * step
    x, y, turns = 0.0, 0.0, u32(0)
    for _ in range(TURNS):
        x, y = x * x - y * y + a, 2.0 * x * y + b
        if x * x + y * y > 4.0:
            break
        turns += 1
    out[i, j] = turns


def coloured(turns: np.ndarray) -> np.ndarray:
    """Blue to yellow by the turns taken; black inside the set."""
    share = np.sqrt(turns / TURNS)
    colours = np.stack([share, share**1.6, 0.35 + 0.4 * share], axis=-1)
    colours[turns == TURNS] = 0
    return (255 * colours).astype(np.uint8)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", help="where to run [the default]")
    parser.add_argument("--size", type=int, default=480, help="columns of the picture")
    parser.add_argument("--out", help="write the picture here, as PNG")
    options = parser.parse_args(arguments)
    columns, rows = options.size, options.size * 3 // 4
    turns = mandelbrot(-2.2, -1.2, 3.2 / columns, out=(rows, columns), backend=options.backend)
    inside = int((turns == TURNS).sum())
    print(f"{rows} x {columns} points, {inside} of them inside after {TURNS} turns")
    print(f"sha256 {hashlib.sha256(turns.tobytes()).hexdigest()}")
    if options.out:
        save_png(options.out, coloured(turns))
        print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
