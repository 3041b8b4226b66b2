"""Kernels as people first write them: parameters that change, rows of tables, signed indices, plain casts."""

from __future__ import annotations

from typing import Literal

import numpy as np

import vyre
from vyre import In, InOut, Out, Private, boolean, f16, f32, i32, u8, u32, u64

rng = np.random.default_rng(31)

SOBEL = [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]
WORD = b"abab"
BEFORE = (0, 0, 1, 2)


def power(base: u64, exponent: u64, modulus: u64) -> u64:
    result = u64(1)
    base %= modulus
    while vyre.bounded(exponent > 0, 64):
        if exponent & 1 != 0:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result


def is_prime(n: u64) -> boolean:
    if n < 2:
        return False  # pyright: ignore[reportReturnType]
    d, twos = n - 1, u32(0)
    while vyre.bounded(d & 1 == 0, 64):
        d >>= 1
        twos += 1
    for witness in (2, 7, 61):
        if n == witness:
            return True  # pyright: ignore[reportReturnType]
        x = power(u64(witness), d, n)
        passed = x == 1 or x == n - 1
        for _ in range(1, twos):
            x = x * x % n
            if x == n - 1:
                passed = True
                break
        if not passed:
            return False  # pyright: ignore[reportReturnType]
    return True  # pyright: ignore[reportReturnType]


@vyre.kernel
def primes(n: In[u64], out: Out[boolean]) -> None:
    i = vyre.invocation_id(0)
    out[i] = is_prime(n[i])


def test_miller_rabin(backend: str) -> None:
    n = [0, 1, 2, 3, 4, 9, 25, 61, 91, 2047, 25326001, 2**31 - 1, 2**32 - 5]
    want = [v > 1 and all(v % k for k in range(2, int(v**0.5) + 1)) for v in n]
    assert primes(np.array(n, np.uint64), backend=backend).tolist() == want


@vyre.kernel(workgroup_size=(8, 8))
def slopes(image: In[u8, Literal["h", "w"]], out: Out[u8, Literal["h", "w"]]) -> None:
    y, x = vyre.grid(2)
    across = i32(0)
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            across += i32(image[i32(y) + dy, i32(x) + dx]) * SOBEL[u32(dy + 1)][u32(dx + 1)]
    out[y, x] = min(abs(across), 255)


def test_sobel_with_signed_coordinates(backend: str) -> None:
    image = rng.integers(0, 256, (9, 13)).astype(np.uint8)
    around = np.pad(image.astype(int), 1)
    across = sum(around[y : y + 9, x : x + 13] * SOBEL[y][x] for y in range(3) for x in range(3))
    assert slopes(image, backend=backend).tolist() == np.minimum(abs(across), 255).tolist()


@vyre.kernel(workgroup_size=(8, 8))
def resized(source: In[f32, Literal["h", "w"]], out: Out[f32, Literal["m", "n"]]) -> None:
    i, j = vyre.grid(2)
    h, w = source.shape
    m, n = out.shape
    y = vyre.max((f32(i) + 0.5) * f32(h) / f32(m) - 0.5, 0.0)
    x = vyre.max((f32(j) + 0.5) * f32(w) / f32(n) - 0.5, 0.0)
    top, left = vyre.convert(vyre.floor(y), u32), vyre.convert(vyre.floor(x), u32)
    bottom, right = min(top + 1, h - 1), min(left + 1, w - 1)
    down, along = y - f32(top), x - f32(left)
    upper = source[top, left] * (1 - along) + source[top, right] * along
    lower = source[bottom, left] * (1 - along) + source[bottom, right] * along
    out[i, j] = upper * (1 - down) + lower * down


def test_bilinear_resize(backend: str) -> None:
    source = rng.random((5, 7)).astype(np.float32)
    half, one = np.float32(0.5), np.float32(1)

    def places(size: int, wanted: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        at = (np.arange(wanted, dtype=np.float32) + half) * np.float32(size) / np.float32(wanted) - half
        at = np.maximum(at, np.float32(0))
        low = np.floor(at).astype(int)
        return low, np.minimum(low + 1, size - 1), at - low.astype(np.float32)

    (top, bottom, down), (left, right, along) = places(5, 9), places(7, 11)
    down = down[:, None]
    upper = source[np.ix_(top, left)] * (one - along) + source[np.ix_(top, right)] * along
    lower = source[np.ix_(bottom, left)] * (one - along) + source[np.ix_(bottom, right)] * along
    want = upper * (one - down) + lower * down
    assert resized(source, (9, 11), backend=backend).tobytes() == want.tobytes()


@vyre.kernel
def sums(a: In[f16, Literal["n", "m"]], half: Out[f16, Literal["n"]], wide: Out[f32, Literal["n"]]) -> None:
    i = vyre.invocation_id(0)
    narrow, more = f16(0), f32(0)
    for k in range(a.shape[1]):
        narrow += a[i, k]
        more += f32(a[i, k])
    half[i] = narrow
    wide[i] = more


def test_sums_in_two_formats(backend: str) -> None:
    a = rng.random((4, 40)).astype(np.float16)
    narrow, more = np.zeros(4, np.float16), np.zeros(4, np.float32)
    for column in a.T:
        narrow, more = narrow + column, more + column
    half, wide = sums(a, backend=backend)
    assert half.tobytes() == narrow.tobytes()
    assert wide.tobytes() == more.tobytes()


@vyre.kernel
def matches(text: In[u8, Literal["n", "m"]], counts: Out[u32, Literal["n"]]) -> None:
    row = vyre.invocation_id(0)
    at = found = u32(0)
    for k in range(text.shape[1]):
        letter = text[row, k]
        while vyre.bounded(at > 0 and WORD[at] != letter, 4):
            at = u32(BEFORE[at - 1])
        if WORD[at] == letter:
            at += 1
        if at == len(WORD):
            found += 1
            at = u32(BEFORE[at - 1])
    counts[row] = found


def test_knuth_morris_pratt(backend: str) -> None:
    text = rng.integers(ord("a"), ord("c"), (6, 40)).astype(np.uint8)
    rows = [row.tobytes() for row in text]
    want = [sum(row.startswith(WORD, k) for k in range(40)) for row in rows]
    assert matches(text, backend=backend).tolist() == want


def turned(x: u32, n: u32) -> u32:
    return (x << n) | (x >> (32 - n))


def quarter(s: Private[u32], a: u32, b: u32, c: u32, d: u32) -> None:
    s[a] += s[b]
    s[d] = turned(s[d] ^ s[a], u32(16))
    s[c] += s[d]
    s[b] = turned(s[b] ^ s[c], u32(12))
    s[a] += s[b]
    s[d] = turned(s[d] ^ s[a], u32(8))
    s[c] += s[d]
    s[b] = turned(s[b] ^ s[c], u32(7))


@vyre.kernel
def chacha20(start: In[u32, Literal[16]], out: Out[u32, Literal["n", 16]]) -> None:
    s = vyre.private(u32, 16)
    i = vyre.invocation_id(0)
    for k in range(16):
        s[k] = start[k]
    s[12] += i
    for _ in range(10):
        for k in range(4):
            quarter(s, u32(k), u32(k + 4), u32(k + 8), u32(k + 12))
        for k in range(4):
            quarter(s, u32(k), u32(4 + (k + 1) % 4), u32(8 + (k + 2) % 4), u32(12 + (k + 3) % 4))
    for k in range(16):
        out[i, k] = s[k] + (start[k] + i if k == 12 else start[k])


def test_chacha20(backend: str) -> None:
    nonce = bytes.fromhex("000000090000004a00000000")
    start = b"expand 32-byte k" + bytes(range(32)) + (1).to_bytes(4, "little") + nonce
    block = chacha20(np.frombuffer(start, np.uint32), (2, 16), backend=backend)[0].tobytes()
    # RFC 8439, 2.3.2
    assert block.hex() == (
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    )


@vyre.kernel
def lines(ends: In[i32, Literal["n", 4]], image: InOut[u32, Literal["h", "w"]]) -> None:
    k = vyre.invocation_id(0)
    if k >= len(ends):
        return
    x, y, x1, y1 = ends[k, 0], ends[k, 1], ends[k, 2], ends[k, 3]
    across, down = abs(x1 - x), -abs(y1 - y)
    error = across + down
    for _ in range(64):
        vyre.atomic_add(image, (y, x), 1)
        if x == x1 and y == y1:
            break
        twice = 2 * error
        if twice >= down:
            error += down
            x += i32(1) if x < x1 else -1
        if twice <= across:
            error += across
            y += i32(1) if y < y1 else -1


def test_bresenham_by_atomics_at_signed_places(backend: str) -> None:
    ends = rng.integers(0, 20, (12, 4)).astype(np.int32)
    want = np.zeros((20, 20), np.uint32)
    for x, y, x1, y1 in ends.tolist():
        across, down = abs(x1 - x), -abs(y1 - y)
        error = across + down
        while True:
            want[y, x] += 1
            if (x, y) == (x1, y1):
                break
            twice = 2 * error
            if twice >= down:
                error, x = error + down, x + (1 if x < x1 else -1)
            if twice <= across:
                error, y = error + across, y + (1 if y < y1 else -1)
    image = np.zeros((20, 20), np.uint32)
    lines(ends, image, workgroups=1, backend=backend)
    assert image.tolist() == want.tolist()
