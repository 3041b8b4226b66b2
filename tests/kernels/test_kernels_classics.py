"""What textbooks show: a sorting network, edit distances, components of a graph, filters, text search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vyre
from vyre import In, InOut, Out, boolean, i32, u8, u32

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = ((-1, 0, 1), (-2, 0, 2), (-1, 0, 1))
ACROSS = np.array(ROWS, np.int32)
PATTERN = b"aba"


@vyre.kernel(workgroup_size=128)
def sorted_blocks(x: InOut[u32]) -> None:
    tile = vyre.shared(u32, 128)
    t, g = vyre.local_id(0), vyre.invocation_id(0)
    tile[t] = x[g]
    vyre.barrier()
    for size in range(1, 8):
        for level in range(size - 1, -1, -1):
            step = u32(1) << level
            mine, other = tile[t], tile[t ^ step]
            rising = (t & (u32(1) << size)) == 0
            lower = (t & step) == 0
            vyre.barrier()
            tile[t] = min(mine, other) if rising == lower else max(mine, other)
            vyre.barrier()
    x[g] = tile[t]


@vyre.kernel
def distances(
    a: In[u8, Literal["n", "m"]], b: In[u8, Literal["n", "k"]], out: Out[u32, Literal["n"]]
) -> None:
    row = vyre.private(u32, 32)
    i = vyre.invocation_id(0)
    for j in range(b.shape[1] + 1):
        row[j] = j
    for r in range(a.shape[1]):
        diagonal = row[0]
        row[0] = r + 1
        for j in range(b.shape[1]):
            best = min(row[j] + 1, row[j + 1] + 1, diagonal + u32(a[i, r] != b[i, j]))
            diagonal = row[j + 1]
            row[j + 1] = best
    out[i] = row[b.shape[1]]


@vyre.kernel
def joined(parent: InOut[u32], left: In[u32], right: In[u32]) -> None:
    e = vyre.invocation_id(0)
    if e >= len(left):
        return
    u, v = left[e], right[e]
    for _ in range(1000):
        while vyre.bounded(parent[u] != u, 1000):
            u = parent[u]
        while vyre.bounded(parent[v] != v, 1000):
            v = parent[v]
        if u == v:
            break
        high, low = max(u, v), min(u, v)
        u, v = vyre.atomic_compare_exchange(parent, high, low, high), low
        if u == high:
            break


@vyre.kernel(workgroup_size=(8, 8))
def edges(image: In[u8, Literal["h", "w"]], out: Out[u8, Literal["h", "w"]]) -> None:
    y, x = vyre.grid(2)
    h, w = image.shape
    total = i32(0)
    if 0 < y < h - 1 and 0 < x < w - 1:
        for dy in range(3):
            for dx in range(3):
                total += i32(image[y + dy - 1, x + dx - 1]) * ACROSS[dy, dx]
        out[y, x] = u32(min(abs(total), 255))


@vyre.kernel(workgroup_size=(8, 8))
def medians(image: In[u8, Literal["h", "w"]], out: Out[u8, Literal["h", "w"]]) -> None:
    window = vyre.private(u32, 9)
    y, x = vyre.grid(2)
    count = u32(0)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            row = min(max(i32(y) + dy, 0), i32(image.shape[0]) - 1)
            column = min(max(i32(x) + dx, 0), i32(image.shape[1]) - 1)
            value = image[u32(row), u32(column)]
            k = count
            while vyre.bounded(k > 0 and window[k - 1] > value, 9):
                window[k] = window[k - 1]
                k -= 1
            window[k] = value
            count += 1
    out[y, x] = window[4]


@vyre.kernel
def found(text: In[u8], hit: Out[boolean], score: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    same = i + len(PATTERN) <= len(text)
    for k, letter in enumerate(PATTERN):
        same = same and text[i + k] == letter
    hit[i] = same != 0
    score[i] = sum(PATTERN) + max(PATTERN) - PATTERN[i % 3]


def numbers(shape: tuple[int, ...], high: int, kind: type[Any]) -> NDArray[Any]:
    return np.random.default_rng(7).integers(0, high, shape).astype(kind)


def test_a_bitonic_network_sorts_each_block(backend: str) -> None:
    x = numbers((256,), 1 << 32, np.uint32)
    expected = np.sort(x.reshape(2, 128), axis=1).ravel()
    assert np.array_equal(sorted_blocks(x, backend=backend), expected)


def test_edit_distances(backend: str) -> None:
    a, b = numbers((6, 9), 3, np.uint8), numbers((6, 7), 3, np.uint8)

    def distance(s: list[int], t: list[int]) -> int:
        row = list(range(len(t) + 1))
        for i, c in enumerate(s):
            below = [i + 1]
            for j, d in enumerate(t):
                below.append(min(row[j + 1] + 1, below[j] + 1, row[j] + (c != d)))
            row = below
        return row[-1]

    expected = [distance(s, t) for s, t in zip(a.tolist(), b.tolist(), strict=True)]
    assert distances(a, b, backend=backend).tolist() == expected


def test_components_are_joined_by_atomics(backend: str) -> None:
    left, right = numbers((30,), 40, np.uint32), numbers((31,), 40, np.uint32)[1:].copy()
    parent = joined(np.arange(40, dtype=np.uint32), left, right, workgroups=1, backend=backend).tolist()
    expected = list(range(40))

    def root(table: list[int], x: int) -> int:
        while table[x] != x:
            x = table[x]
        return x

    for u, v in zip(left.tolist(), right.tolist(), strict=True):
        a, b = root(expected, u), root(expected, v)
        expected[max(a, b)] = min(a, b)
    assert [root(parent, k) for k in range(40)] == [root(expected, k) for k in range(40)]


def test_filters_of_an_image(backend: str) -> None:
    image = numbers((13, 17), 256, np.uint8)
    padded = np.pad(image, 1, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    assert np.array_equal(medians(image, backend=backend), np.median(windows, axis=(2, 3)))
    sums = np.minimum(np.abs((windows.astype(int) * ACROSS).sum(axis=(2, 3))), 255)
    sums[[0, -1]] = 0
    sums[:, [0, -1]] = 0
    assert np.array_equal(edges(image, backend=backend), sums)


def test_text_is_found_by_the_bytes_of_a_pattern(backend: str) -> None:
    text = np.frombuffer(b"abababbabaab", np.uint8)
    hit, score = found(text, backend=backend)
    assert hit.tolist() == [bytes(text[k : k + 3]) == PATTERN for k in range(len(text))]
    assert score.tolist() == [sum(PATTERN) + max(PATTERN) - PATTERN[k % 3] for k in range(len(text))]
