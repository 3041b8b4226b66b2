"""k-means and n-body: floats by coordinates, the same bytes as NumPy step by step."""

from __future__ import annotations

from typing import Literal

import numpy as np

import vyre
from vyre import In, Out, f32, u32


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


def test_k_means(backend: str) -> None:
    rng = np.random.default_rng(7)
    points = rng.normal(size=(40, 3)).astype(np.float32)
    means = points[:4].copy()
    for _ in range(3):
        far = np.zeros((40, 4), np.float32)
        for axis in range(3):
            step = points[:, None, axis] - means[None, :, axis]
            far += step * step
        labels = far.argmin(axis=1).astype(np.uint32)
        assert np.array_equal(nearest(points, means, backend=backend), labels)
        expected = np.zeros((4, 3), np.float32)
        for j in range(4):
            for point in points[labels == j]:
                expected[j] += point
            expected[j] /= np.float32(max((labels == j).sum(), 1))
        found = centre(points, labels, out=(4, 3), backend=backend)
        assert found.tobytes() == expected.tobytes()
        means = found


@vyre.kernel
def pull(
    place: In[f32, Literal["n", 3]], mass: In[f32, Literal["n"]], out: Out[f32, Literal["n", 3]]
) -> None:
    i = vyre.invocation_id(0)
    if i >= place.shape[0]:
        return
    ax, ay, az = 0.0, 0.0, 0.0
    for j in range(place.shape[0]):
        dx, dy, dz = place[j, 0] - place[i, 0], place[j, 1] - place[i, 1], place[j, 2] - place[i, 2]
        far = dx * dx + dy * dy + dz * dz + 0.01
        weight = mass[j] / (far * vyre.sqrt(far))
        ax, ay, az = ax + dx * weight, ay + dy * weight, az + dz * weight
    out[i, 0], out[i, 1], out[i, 2] = ax, ay, az


def test_n_body(backend: str) -> None:
    rng = np.random.default_rng(3)
    place = rng.normal(size=(33, 3)).astype(np.float32)
    mass = rng.random(33).astype(np.float32)
    expected = np.zeros((33, 3), np.float32)
    for j in range(33):
        step = place[j] - place
        square = step * step
        far = square[:, 0] + square[:, 1] + square[:, 2] + np.float32(0.01)
        expected += step * (mass[j] / (far * np.sqrt(far)))[:, None]
    assert pull(place, mass, backend=backend).tobytes() == expected.tobytes()
