"""Workgroups that share memory: counts, a sort, a prefix sum, a convolution with its halo, a transform."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, f32, u32

GROUP = 64
BINS = 16
rng = np.random.default_rng(11)


@vyre.kernel(workgroup_size=GROUP)
def histogram(data: In[u32], out: InOut[u32]) -> None:
    """Each workgroup counts for itself and adds its counts once."""
    bins = vyre.shared(u32, BINS, atomic=True)
    i, local = vyre.invocation_id(0), vyre.local_id(0)
    if local < BINS:
        bins[local] = 0
    vyre.barrier()
    if i < len(data):
        vyre.atomic_add(bins, data[i] * BINS // 1000, 1)
    vyre.barrier()
    if local < BINS:
        vyre.atomic_add(out, local, bins[local])


def test_a_histogram_with_bins_of_each_workgroup(backend: str) -> None:
    data = rng.integers(0, 1000, 500, dtype=np.uint32)
    out = histogram(data, np.zeros(BINS, np.uint32), workgroups=-(-data.size // GROUP), backend=backend)
    assert out.tolist() == np.bincount(data * BINS // 1000, minlength=BINS).tolist()


@vyre.kernel(workgroup_size=GROUP)
def bitonic(x: InOut[u32]) -> None:
    """Sorts each run of 128 elements."""
    tile = vyre.shared(u32, 2 * GROUP)
    local, first = vyre.local_id(0), vyre.workgroup_id(0) * 2 * GROUP
    tile[local] = x[first + local]
    tile[local + GROUP] = x[first + local + GROUP]
    size = u32(2)
    for _ in range(7):
        reach = size // 2
        while vyre.bounded(reach > 0, 7):
            vyre.barrier()
            at = 2 * local - (local & (reach - 1))
            rising = (at & size) == 0
            a, b = tile[at], tile[at + reach]
            if (a > b) == rising:
                tile[at], tile[at + reach] = b, a
            reach //= 2
        size *= 2
    vyre.barrier()
    x[first + local] = tile[local]
    x[first + local + GROUP] = tile[local + GROUP]


def test_a_bitonic_sort(backend: str) -> None:
    x = rng.integers(0, 1 << 32, 3 * 2 * GROUP, dtype=np.uint32)
    found = bitonic(x.copy(), workgroups=3, backend=backend)
    assert np.array_equal(found.reshape(3, -1), np.sort(x.reshape(3, -1), axis=1))


@vyre.kernel(workgroup_size=GROUP)
def prefix(x: In[u32], out: Out[u32], sums: Out[u32]) -> None:
    """The sums up to each element within a workgroup, and the sum of each workgroup."""
    tile = vyre.shared(u32, GROUP)
    i, local = vyre.invocation_id(0), vyre.local_id(0)
    tile[local] = x[i]
    reach = u32(1)
    for _ in range(6):
        vyre.barrier()
        before = tile[local - reach] if local >= reach else 0
        vyre.barrier()
        tile[local] += before
        reach *= 2
    out[i] = tile[local]
    if local == GROUP - 1:
        sums[vyre.workgroup_id(0)] = tile[local]


@vyre.kernel(workgroup_size=GROUP)
def carried(sums: In[u32], out: InOut[u32]) -> None:
    i = vyre.invocation_id(0)
    for k in range(vyre.workgroup_id(0)):
        out[i] += sums[k]


def test_a_prefix_sum(backend: str) -> None:
    x = rng.integers(0, 1 << 20, 300, dtype=np.uint32)
    out, sums = prefix(x, sums=5, backend=backend)
    assert np.array_equal(carried(sums, out, backend=backend), np.cumsum(x, dtype=np.uint32))


TILE, HALO = 8, 1
EDGE = TILE + 2 * HALO
WEIGHTS = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], np.uint32)


@vyre.kernel(workgroup_size=(TILE, TILE))
def blurred(a: In[u32, Literal["m", "n"]], out: Out[u32, Literal["m", "n"]]) -> None:
    """A tile and one element around it is loaded once; what lies outside of the picture is zero."""
    tile = vyre.shared(u32, (EDGE, EDGE))
    i, j = vyre.grid(2)
    y, x = vyre.local_id(1), vyre.local_id(0)
    top, left = i - y, j - x
    k = y * TILE + x
    while vyre.bounded(k < EDGE * EDGE, 4):
        ty, tx = k // EDGE, k % EDGE
        tile[ty, tx] = a[top + ty - HALO, left + tx - HALO]
        k += TILE * TILE
    vyre.barrier()
    total = u32(0)
    for dy in range(3):
        for dx in range(3):
            total += WEIGHTS[dy, dx] * tile[y + dy, x + dx]
    out[i, j] = total // 16


@pytest.mark.parametrize("shape", [(8, 8), (11, 19)])
def test_a_convolution_with_a_halo(backend: str, shape: tuple[int, int]) -> None:
    a = rng.integers(0, 256, shape, dtype=np.uint32)
    wide = np.pad(a, 1)
    m, n = shape
    parts = [WEIGHTS[y, x] * wide[y : y + m, x : x + n] for y in range(3) for x in range(3)]
    assert np.array_equal(blurred(a, backend=backend), np.sum(parts, axis=0, dtype=np.uint32) // 16)


@vyre.kernel(workgroup_size=GROUP)
def digits(x: In[u32], out: Out[u32, Literal["g", 16]], shift: u32) -> None:
    """How often each digit of four bits occurs in the elements of each workgroup."""
    counts = vyre.shared(u32, 16, atomic=True)
    i, local, group = vyre.invocation_id(0), vyre.local_id(0), vyre.workgroup_id(0)
    if local < 16:
        vyre.atomic_exchange(counts, local, 0)
    vyre.barrier()
    if i < len(x):
        vyre.atomic_add(counts, (x[i] >> shift) & 15, 1)
    vyre.barrier()
    if local < 16:
        out[group, local] = counts[local]


def test_digits_of_a_radix_sort(backend: str) -> None:
    x = rng.integers(0, 1 << 32, 150, dtype=np.uint32)
    found = digits(x, (3, 16), shift=8, workgroups=3, backend=backend)
    expected = [np.bincount((x[k : k + GROUP] >> 8) & 15, minlength=16) for k in (0, 64, 128)]
    assert found.tolist() == [row.tolist() for row in expected]


POINTS = 32
ANGLES = -2 * np.pi * np.arange(16) / POINTS
TURNS = np.stack([np.cos(ANGLES), np.sin(ANGLES)]).astype(np.float32)


@vyre.kernel(workgroup_size=POINTS // 2)
def fft(real: InOut[f32], imaginary: InOut[f32]) -> None:
    """Radix 2, each workgroup 32 points in place."""
    re, im = vyre.shared(f32, POINTS), vyre.shared(f32, POINTS)
    k, first = vyre.local_id(0), vyre.workgroup_id(0) * POINTS
    for half in range(2):
        at = k + half * 16
        turned = u32(0)
        for bit in range(5):
            turned |= ((at >> bit) & 1) << (4 - bit)
        re[turned], im[turned] = real[first + at], imaginary[first + at]
    for stage in range(5):
        vyre.barrier()
        reach = u32(1) << stage
        pair = k & (reach - 1)
        a = 2 * k - pair
        b = a + reach
        at = pair * (16 >> stage)
        c, s = TURNS[0, at], TURNS[1, at]
        x = re[b] * c - im[b] * s
        y = re[b] * s + im[b] * c
        re[b], im[b] = re[a] - x, im[a] - y
        re[a], im[a] = re[a] + x, im[a] + y
    vyre.barrier()
    for half in range(2):
        at = k + half * 16
        real[first + at], imaginary[first + at] = re[at], im[at]


def test_a_fourier_transform(backend: str) -> None:
    z: Any = rng.standard_normal((2, 3, POINTS)).astype(np.float32)
    found = fft(*(part.reshape(-1).copy() for part in z), workgroups=3, backend=backend)
    expected = np.fft.fft(z[0] + 1j * z[1], axis=1).reshape(-1)
    assert np.allclose(found[0] + 1j * found[1], expected, rtol=1e-4, atol=1e-4)
    again = fft(*(part.reshape(-1).copy() for part in z), workgroups=3, backend="reference")
    assert [a.tobytes() for a in found] == [a.tobytes() for a in again]
