"""Invocations that work for themselves: fractals, small systems, distances of words, rays, random numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vyre
from vyre import In, InOut, Out, Private, f32, u32, u64

if TYPE_CHECKING:
    from numpy.typing import NDArray

rng = np.random.default_rng(12)


@vyre.kernel(workgroup_size=(8, 8))
def mandelbrot(out: Out[u32, Literal["m", "n"]], scale: f32, most: u32 = 50) -> None:  # pyright: ignore[reportArgumentType]
    i, j = vyre.grid(2)
    cx = vyre.convert(j, f32) * scale - 2.0
    cy = vyre.convert(i, f32) * scale - 1.0
    x, y = 0.0, 0.0
    turns = u32(0)
    for _ in range(most):
        if x * x + y * y > 4.0:
            break
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
        turns += 1
    out[i, j] = turns


def test_mandelbrot(backend: str) -> None:
    found = mandelbrot((20, 30), scale=0.1, backend=backend)
    f = np.float32
    for i, j in ((0, 0), (10, 20), (10, 4), (3, 22), (19, 29)):
        scale = f(0.1)
        cx, cy = f(j) * scale - f(2), f(i) * scale - f(1)
        x, y, turns = f(0), f(0), 0
        while turns < 50 and x * x + y * y <= f(4):
            x, y, turns = x * x - y * y + cx, f(2) * x * y + cy, turns + 1
        assert found[i, j] == turns


N = 4


@vyre.kernel
def solved(
    a: In[f32, Literal["k", 4, 4]], b: In[f32, Literal["k", 4]], out: Out[f32, Literal["k", 4]]
) -> None:
    """Solves a system of four equations by LU, with the largest element of a column as its pivot."""
    k = vyre.invocation_id(0)
    m, x = vyre.private(f32, (N, N)), vyre.private(f32, N)
    for i in range(N):
        x[i] = b[k, i]
        for j in range(N):
            m[i, j] = a[k, i, j]
    for c in range(N):
        best = c
        for i in range(c + 1, N):
            if abs(m[i, c]) > abs(m[best, c]):
                best = i
        if best != c:
            x[c], x[best] = x[best], x[c]
            for j in range(N):
                m[c, j], m[best, j] = m[best, j], m[c, j]
        for i in range(c + 1, N):
            factor = m[i, c] / m[c, c]
            x[i] -= factor * x[c]
            for j in range(c, N):
                m[i, j] -= factor * m[c, j]
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            x[i] -= m[i, j] * x[j]
        x[i] /= m[i, i]
        out[k, i] = x[i]


def test_small_systems_of_equations(backend: str) -> None:
    a = rng.standard_normal((10, N, N)).astype(np.float32)
    b = rng.standard_normal((10, N)).astype(np.float32)
    found = solved(a, b, backend=backend)
    assert np.allclose(found, np.linalg.solve(a.astype(float), b.astype(float)[..., None])[..., 0], rtol=1e-2)
    assert found.tobytes() == solved(a, b, backend="reference").tobytes()


def least(a: u32, b: u32, c: u32) -> u32:
    return min(a, min(b, c))


@vyre.kernel
def levenshtein(words: In[u32, Literal["n", 12]], lengths: In[u32], wanted: In[u32], out: Out[u32]) -> None:
    """How many letters must change from each word to the wanted one."""
    k = vyre.invocation_id(0)
    if k >= len(lengths):
        return
    row = vyre.private(u32, 13)
    for j in range(len(wanted) + 1):
        row[j] = j
    for i in range(lengths[k]):
        corner = row[0]
        row[0] = i + 1
        for j in range(len(wanted)):
            same = u32(words[k, i] == wanted[j])
            cost = least(corner + 1 - same, row[j] + 1, row[j + 1] + 1)
            corner = row[j + 1]
            row[j + 1] = cost
    out[k] = row[len(wanted)]


def test_levenshtein(backend: str) -> None:
    def distance(a: str, b: str) -> int:
        row = list(range(len(b) + 1))
        for i, x in enumerate(a):
            corner, row[0] = row[0], i + 1
            for j, y in enumerate(b):
                corner, row[j + 1] = row[j + 1], min(corner + (x != y), row[j] + 1, row[j + 1] + 1)
        return row[-1]

    words = ["kitten", "sitting", "", "mitten", "knitting", "abcdefghijkl"]
    letters = np.zeros((len(words), 12), np.uint32)
    for k, word in enumerate(words):
        letters[k, : len(word)] = [ord(c) for c in word]
    lengths = np.array([len(word) for word in words], np.uint32)
    wanted = np.array([ord(c) for c in "sitting"], np.uint32)
    assert levenshtein(letters, lengths, wanted, len(words), backend=backend).tolist() == [
        distance(word, "sitting") for word in words
    ]


FAR = 1 << 30


@vyre.kernel(workgroup_size=(8, 8))
def through(d: InOut[u32, Literal["n", "n"]], k: u32) -> None:
    i, j = vyre.grid(2)
    if i != k and j != k:
        d[i, j] = min(d[i, j], d[i, k] + d[k, j])


def test_floyd_warshall(backend: str) -> None:
    n = 13
    d: NDArray[np.uint32] = rng.integers(1, 100, (n, n), dtype=np.uint32)
    d[rng.random((n, n)) < 0.6] = FAR
    np.fill_diagonal(d, 0)
    expected = d.copy()
    for k in range(n):
        expected = np.minimum(expected, expected[:, k : k + 1] + expected[k : k + 1])
    for k in range(n):
        through(d, k, backend=backend)
    assert np.array_equal(d, expected)


def dot(a: Private[f32], b: Private[f32]) -> f32:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@vyre.kernel
def hits(
    rays: In[f32, Literal["n", 3]], balls: In[f32, Literal["k", 4]], out: Out[f32], which: Out[u32]
) -> None:
    """How far a ray from the origin goes until it meets the first ball, and which one that is."""
    i = vyre.invocation_id(0)
    ray, centre = vyre.private(f32, 3), vyre.private(f32, 3)
    for c in range(3):
        ray[c] = rays[i, c]
    nearest, found = f32(math.inf), u32(999)
    for b in range(balls.shape[0]):
        for c in range(3):
            centre[c] = balls[b, c]
        along = dot(ray, centre)
        left = along * along - dot(centre, centre) + balls[b, 3] * balls[b, 3]
        if left < 0.0:
            continue
        t = along - vyre.sqrt(left)
        if 0.0 < t < nearest:
            nearest, found = t, b
    out[i], which[i] = nearest, found


def test_rays_and_balls(backend: str) -> None:
    rays: Any = rng.standard_normal((40, 3)).astype(np.float32)
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    balls = rng.uniform(-5, 5, (6, 4)).astype(np.float32)
    balls[:, 3] = 1.5
    far, which = hits(rays, balls, 40, 40, backend=backend)
    for ray, t, b in zip(rays.astype(float), far, which, strict=True):
        along = balls[:, :3] @ ray
        left = along**2 - (balls[:, :3].astype(float) ** 2).sum(1) + 1.5**2
        entered = np.where(left >= 0, along - np.sqrt(np.maximum(left, 0)), np.inf)
        entered[entered <= 0] = np.inf
        assert b == (999 if np.isinf(entered).all() else entered.argmin())
        assert np.isclose(t, entered.min(), rtol=1e-3)


@vyre.kernel
def found_at(text: In[u32], pattern: In[u32], out: Out[u32], count: InOut[u32]) -> None:
    """Where a pattern begins, in no order that is promised."""
    i = vyre.invocation_id(0)
    if i + len(pattern) > len(text):
        return
    for k in range(len(pattern)):
        if text[i + k] != pattern[k]:
            return
    out[vyre.atomic_add(count, 0, 1)] = i


def test_a_search_for_a_text(backend: str) -> None:
    text = np.frombuffer(b"abracadabra, abracadabra", np.uint8).astype(np.uint32)
    pattern = np.frombuffer(b"abra", np.uint8).astype(np.uint32)
    out, count = found_at(text, pattern, count=np.zeros(1, np.uint32), backend=backend)
    assert sorted(out[: count[0]].tolist()) == [0, 7, 13, 20]


def high(a: u32, b: u32) -> u32:
    return u32((u64(a) * u64(b)) >> 32)


@vyre.kernel
def philox(out: Out[u32, Literal["n", 4]], key0: u32, key1: u32) -> None:
    """Philox4x32-10: four random words for every number."""
    i = vyre.invocation_id(0)
    a, b, c, d = i, u32(0), u32(0), u32(0)
    k0, k1 = key0, key1
    for _ in range(10):
        a, b, c, d = (
            high(u32(0xCD9E8D57), c) ^ b ^ k0,
            u32(0xCD9E8D57) * c,
            high(u32(0xD2511F53), a) ^ d ^ k1,
            u32(0xD2511F53) * a,
        )
        k0 += 0x9E3779B9
        k1 += 0xBB67AE85
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a, b, c, d


def test_philox(backend: str) -> None:
    out = philox((100, 4), key0=0, key1=0, workgroups=2, backend=backend)
    assert [f"{int(w):08x}" for w in out[0]] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]
    assert len({row.tobytes() for row in out}) == 100
