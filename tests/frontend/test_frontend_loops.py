"""Loops that end early, memory of one invocation, tables in the program, and defaults of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import vyre
from vyre import In, Out, f32, u32

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from vyre import KernelError

BACKENDS = ("reference", "cpu")


def u32s(*values: int) -> NDArray[np.uint32]:
    return np.array(values, np.uint32)


@vyre.kernel
def first_multiple(x: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    found = 1000
    for k in range(1, 100):
        if k % 2 == 1:
            continue
        if (k * x[i]) % 7 == 3:
            found = k
            break
    out[i] = found


@vyre.kernel
def collatz(x: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    n, length = x[i], u32(0)
    while vyre.bounded(n > 1, 200):
        length += 1
        if n % 2 == 0:
            n //= 2
            continue
        n = 3 * n + 1
    out[i] = length


def found_at(a: In[u32], value: u32) -> u32:
    for k in range(len(a)):
        for half in (0, 1):
            if a[k] == value + half * 100:
                return u32(k)
    return u32(99)


def sbox(x: u32) -> u32:
    return u32(SBOX[x & 3])


SBOX = [9, 7, 5, 3]
MATRIX = np.array([[1.5, 2.5], [3.5, 4.5]], np.float32)
SIGNED = (-1, 1)


@vyre.kernel
def tables(x: In[u32], out: Out[u32], weights: Out[f32], at: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = sbox(x[i]) + SBOX[i] + SBOX[1] * 1000
    weights[i] = MATRIX[i, 1] + MATRIX[1, 0]
    if SIGNED[i] < 0:
        at[i] = found_at(x, u32(7))
    else:
        at[i] = found_at(x, value=u32(50))


@vyre.kernel
def reverse(x: In[u32], out: Out[u32]) -> None:
    stack = vyre.private(u32, 8)
    grid = vyre.private(u32, (2, 2))
    depth = u32(0)
    for k in range(4):
        stack[depth] = x[k]
        grid[k // 2, k % 2] = x[k]
        depth += 1
    for k in range(4):
        depth -= 1
        out[k] = stack[depth] * 10 + grid[k % 2, k // 2]


@pytest.mark.parametrize("backend", BACKENDS)
def test_break_and_bounded_loops(backend: str) -> None:
    x = u32s(1, 2, 5, 7)
    expected = [next((k for k in range(2, 100, 2) if k * v % 7 == 3), 1000) for v in x.tolist()]
    assert first_multiple(x, backend=backend).tolist() == expected
    assert collatz(u32s(1, 6, 27, 0), backend=backend).tolist() == [0, 8, 111, 0]


def test_a_bounded_loop_ends_after_its_turns() -> None:
    assert collatz(u32s(837799), backend="reference").tolist() == [200]
    (finding,) = collatz.check(u32s(837799), workgroups=1).findings[-1:]
    assert finding.kind == "bounded loop"
    assert finding.harmless
    assert finding.places[0].location is not None
    assert "while vyre.bounded(n > 1, 200):" in finding.places[0].location.text
    assert all(f.kind != "bounded loop" for f in collatz.check(u32s(27), workgroups=1).findings)


@vyre.kernel
def walked(after: In[u32], out: Out[u32]) -> None:
    at = vyre.invocation_id(0)
    while vyre.bounded(after[at + 1] != 0 and at < 9, 3):
        at += 1
    out[vyre.invocation_id(0)] = at


def test_a_bounded_loop_that_ends_with_its_last_turn_is_not_reported() -> None:
    def spent(*after: int) -> list[str]:
        return [f.kind for f in walked.check(u32s(*after), 1).findings if f.kind == "bounded loop"]

    assert spent(1, 1, 1, 1, 0) == []  # three turns, after which the condition fails
    assert spent(1, 1, 1, 1, 1, 0) == ["bounded loop"]
    told = walked.check(u32s(1, 1, 1, 1), 1).findings
    assert all("element 4" not in f.message for f in told), "what no turn reads is not told"


@pytest.mark.parametrize("backend", BACKENDS)
def test_constant_tables_and_returns_from_loops(backend: str) -> None:
    out, weights, at = tables(u32s(2, 150), backend=backend)
    assert out.tolist() == [5 + 9 + 7000, 5 + 7 + 7000]
    assert weights.tolist() == [2.5 + 3.5, 4.5 + 3.5]
    assert at.tolist() == [99, 1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_private_arrays(backend: str) -> None:
    assert reverse(u32s(1, 2, 3, 4), workgroups=1, backend=backend).tolist() == [41, 33, 22, 14]


@vyre.kernel
def scaled(x: In[u32], out: Out[u32], by: u32 = 3, plus: u32 = 1) -> None:  # pyright: ignore[reportArgumentType]
    i = vyre.invocation_id(0)
    out[i] = x[i] * by + plus


def test_scalars_of_a_kernel_have_defaults() -> None:
    assert scaled(u32s(1, 2)).tolist() == [4, 7]
    assert scaled(u32s(1, 2), plus=0).tolist() == [3, 6]
    assert scaled(u32s(1, 2), None, 5).tolist() == [6, 11]


def test_a_buffer_has_no_default(refused: Callable[[str], KernelError]) -> None:
    error = refused("@vyre.kernel\ndef k(out: Out[u32], a: In[u32] = §None):\n    out[0] = 1\n")
    assert "'a' has a default" in error.message


def counted_twice(words: In[u32], start: u32) -> u32:
    found = start
    for _ in range(3):
        found += words[0]
    for _ in range(2):
        found *= 2
    return found


@vyre.kernel
def counters_without_names(x: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = counted_twice(x, x[i])
    for _ in range(2):
        out[i] += counted_twice(x, x[i])


@pytest.mark.parametrize("backend", BACKENDS)
def test_loops_whose_counter_has_no_name_stand_beside_and_inside_each_other(backend: str) -> None:
    x = u32s(2, 5, 7)
    assert counters_without_names(x, backend=backend).tolist() == [3 * 4 * (v + 6) for v in (2, 5, 7)]
