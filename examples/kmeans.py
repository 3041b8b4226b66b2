"""k-means on a GPU that comes to the same clusters everywhere, drawn as a picture.

    python examples/kmeans.py --out kmeans.png
    python examples/kmeans.py --backend wgpu

Which mean is nearest is decided by the last bit of a float now and then; where that bit differs between
devices, so do the clusters after some turns. The hash of all labels and means is printed.
"""

from __future__ import annotations

import argparse
import hashlib
from typing import Literal

import numpy as np
from picture import save_png

import vyre
from vyre import In, Out, f32, u32

COLOURS = np.array([[230, 80, 60], [60, 140, 230], [70, 180, 90], [240, 190, 40], [150, 90, 200]], np.uint8)


def distance(a: In[f32, Literal["n", "d"]], b: In[f32, Literal["k", "d"]], i: u32, j: u32) -> f32:
    total = f32(0)
    for axis in range(a.shape[1]):
        step = a[i, axis] - b[j, axis]
        total += step * step
    return total


@vyre.kernel
def nearest(
    points: In[f32, Literal["n", "d"]], means: In[f32, Literal["k", "d"]], out: Out[u32, Literal["n"]]
) -> None:
    i = vyre.grid(1)
    best = distance(points, means, i, u32(0))
    for j in range(1, means.shape[0]):
        found = distance(points, means, i, u32(j))
        if found < best:
            best = found
            out[i] = j


@vyre.kernel
def centre(
    points: In[f32, Literal["n", "d"]], labels: In[u32, Literal["n"]], out: Out[f32, Literal["k", "d"]]
) -> None:
    j, axis = vyre.grid(2)
    total, count = 0.0, 0
    for i in range(points.shape[0]):
        if labels[i] != j:
            continue
        total += points[i, axis]
        count += 1
    if count > 0:
        out[j, axis] = total / vyre.convert(u32(count), f32)


def drawn(points: np.ndarray, labels: np.ndarray, size: int = 480) -> np.ndarray:
    pixels = np.full((size, size, 3), 250, np.uint8)
    low, high = points.min(axis=0), points.max(axis=0)
    places = ((points - low) / (high - low) * (size - 8)).astype(int) + 4
    for (x, y), label in zip(places, labels, strict=True):
        pixels[y - 2 : y + 3, x - 2 : x + 3] = COLOURS[label]
    return pixels


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", help="where to run [the default]")
    parser.add_argument("--points", type=int, default=400)
    parser.add_argument("--out", help="write the clusters here, as PNG")
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(11)
    homes = rng.uniform(-4, 4, (len(COLOURS), 2))
    places = homes[rng.integers(0, len(homes), options.points)]
    points = (places + rng.normal(size=places.shape)).astype(np.float32)
    means, turns = points[: len(COLOURS)].copy(), 0
    labels = nearest(points, means, backend=options.backend)
    while turns < 50:
        turns += 1
        means = centre(points, labels, out=means.shape, backend=options.backend)
        again = nearest(points, means, backend=options.backend)
        if np.array_equal(again, labels):
            break
        labels = again
    digest = hashlib.sha256(labels.tobytes() + means.tobytes()).hexdigest()
    print(f"{options.points} points settle in {len(means)} clusters after {turns} turns; sha256 {digest}")
    if options.out:
        save_png(options.out, drawn(points, labels))
        print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
