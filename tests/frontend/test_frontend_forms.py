"""Forms of Python that a kernel writes out: swaps, loops over constants, ways out, functions with buffers."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import vyre
from vyre import In, InOut, KernelWarning, Out, Shared, f32, u32

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from vyre import KernelError

BACKENDS = ("reference", "cpu")
OFFSETS = ((1, 2), (3, 4), (5, 6))
WEIGHTS = np.array([2, 3, 5], np.uint32)


def u32s(*values: int) -> NDArray[np.uint32]:
    return np.array(values, np.uint32)


@vyre.kernel
def fibonacci(n: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    a, b = 0, 1
    for _ in range(n[i]):
        a, b = b, a + b
    out[i] = a


@vyre.kernel
def swap_elements(x: InOut[u32]) -> None:
    if vyre.invocation_id(0) == 0:
        x[0], x[1] = x[1], x[0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_names_at_once(backend: str) -> None:
    assert fibonacci(u32s(0, 1, 2, 10), backend=backend).tolist() == [0, 1, 1, 55]
    assert swap_elements(u32s(7, 9), backend=backend).tolist() == [9, 7]


@vyre.kernel
def unrolled(x: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    total = 0
    for a, b in OFFSETS:
        if a == x[i]:
            continue
        total += a * 10 + b
    for k, w in enumerate(WEIGHTS):
        total += w * 1000 * k
    out[i] = total + len(OFFSETS) * 100000


@pytest.mark.parametrize("backend", BACKENDS)
def test_loops_over_constants(backend: str) -> None:
    assert unrolled(u32s(0, 3), backend=backend).tolist() == [313102, 313068]


@vyre.kernel
def steps(bounds: In[u32], out: Out[u32, Literal["m", 64]], kind: u32) -> None:
    if vyre.invocation_id(0) != 0:
        return
    start, stop, at = bounds[0], bounds[1], u32(0)
    if kind == 0:
        for i in range(start - 1, -1, -1):
            out[0, at] = i
            at += 1
    if kind == 1:
        for i in range(start, -1, -3):
            out[0, at] = i
            at += 1
    if kind == 2:
        for i in range(start - 2, stop, -2):
            out[0, at] = i
            at += 1
    if kind == 3:
        for i in range(start - 1, 4, -5):
            out[0, at] = i
            at += 1
    if kind == 4:
        for i in range(start, -1, -1):
            out[0, at] = i
            at += 1
    out[0, 63] = at


RANGES: tuple[Callable[[int, int], range], ...] = (
    lambda a, b: range(a - 1, -1, -1),
    lambda a, b: range(a, -1, -3),
    lambda a, b: range(a - 2, b, -2),
    lambda a, b: range(a - 1, 4, -5),
    lambda a, b: range(a, -1, -1),
)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", range(5))
def test_ranges_downwards_are_those_of_python(kind: int, backend: str) -> None:
    for start in (0, 1, 2, 3, 7, 20):
        for stop in (0, 1, 5, 30) if kind == 2 else (0,):
            row = steps(u32s(start, stop), kind=kind, out=(1, 64), backend=backend)[0]
            assert row[: row[63]].tolist() == list(RANGES[kind](start, stop)), (start, stop)


@vyre.kernel
def constant_range(out: Out[u32]) -> None:
    at = u32(0)
    for i in range(9, -1, -2):
        out[at] = i
        at += 1


def test_a_constant_range_downwards() -> None:
    assert constant_range(out=6, workgroups=1).tolist() == [9, 7, 5, 3, 1, 0]


def sign(x: f32, scale: f32 = 2.0) -> f32:  # pyright: ignore[reportArgumentType]
    if x > 0:
        return scale
    if x < 0.0:
        return -scale
    return 0.0  # pyright: ignore[reportReturnType]


def classify(x: u32) -> u32:
    result = u32(7)
    if x < 10:
        if x == 3:
            return u32(33)
        result += 1
    result *= 2
    if x == 20:
        return result + 100
    return result


@vyre.kernel
def helpers(x: In[f32], n: In[u32], out: Out[f32], kinds: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = sign(x[i]) + sign(scale=3.0, x=x[i])  # pyright: ignore[reportArgumentType]
    kinds[i] = classify(n[i])


@pytest.mark.parametrize("backend", BACKENDS)
def test_early_returns_defaults_and_keywords(backend: str) -> None:
    out, kinds = helpers(np.array([1, -1, 0, 5], np.float32), u32s(3, 4, 20, 30), backend=backend)
    assert out.tolist() == [5, -5, 0, 5]
    assert kinds.tolist() == [33, 16, 114, 14]


def total(a: In[u32], start: u32, stop: u32, weight: u32 = 1) -> u32:  # pyright: ignore[reportArgumentType]
    found = u32(0)
    for k in range(start, stop):
        if k == 2:
            continue
        found += a[k] * weight
    return found


@vyre.op
def exchange(a: InOut[u32], b: InOut[u32], i: u32) -> None:
    if i >= len(a):
        return
    a[i], b[0] = b[0], a[i]


@vyre.kernel
def sums(x: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    found = 1
    out[i] = total(x, u32(0), i + 1) + total(x, stop=i, start=u32(0), weight=u32(100)) + found


@vyre.kernel
def aliased(x: InOut[u32]) -> None:
    if vyre.invocation_id(0) == 0:
        exchange(x, x, u32(2))
        exchange(x, b=x, i=u32(9))


@pytest.mark.parametrize("backend", BACKENDS)
def test_functions_that_take_buffers(backend: str) -> None:
    assert sums(u32s(1, 2, 3, 4), backend=backend).tolist() == [2, 104, 304, 308]
    assert aliased(u32s(5, 6, 7), backend=backend).tolist() == [7, 6, 5]


def fill(tile: Shared[u32], value: u32) -> None:
    tile[vyre.local_id(0)] = value
    vyre.barrier()


@vyre.kernel(workgroup_size=4)
def neighbours(x: In[u32], out: Out[u32]) -> None:
    tile = vyre.shared(u32, 4)
    i = vyre.invocation_id(0)
    fill(tile, x[i])
    out[i] = tile[3 - vyre.local_id(0)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_that_fills_workgroup_memory(backend: str) -> None:
    assert neighbours(u32s(1, 2, 3, 4), backend=backend).tolist() == [4, 3, 2, 1]


def pick(a: In[f32, Literal["r", "c"]], i: u32, j: u32) -> f32:
    return a[i, j] * 2


@vyre.kernel
def with_nested(a: In[f32, Literal["m", "n"]], out: Out[f32, Literal["m", "n"]], bias: f32) -> None:
    def shifted(x: f32, by: f32 = 0.5) -> f32:  # pyright: ignore[reportArgumentType]
        return x + by + bias * len(OFFSETS)

    i, j = vyre.grid(2)
    out[i, j] = shifted(pick(a, i, j)) + shifted(a[i, j], 1.0)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("backend", BACKENDS)
def test_nested_functions_and_shapes_through_functions(backend: str) -> None:
    a = np.array([[1, 2], [3, 4]], np.float32)
    assert np.array_equal(with_nested(a, bias=1.0, backend=backend), a * 3 + 7.5)


def _kernel(body: str, head: str = "") -> str:
    signature = "def k(a: In[u32], w: In[f32], out: InOut[u32]):"
    return f"{head}@vyre.kernel\n{signature}\n    i = vyre.invocation_id(0)\n{body}"


HEAD = "def f(a: InOut[u32], i: u32) -> u32:\n    a[i] = 1\n    return a[i]\n"


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        ("    §x, y = 1, 2, 3\n", "2 names stand for 3 values", "as many"),
        ("    §x, y = i\n", "cannot be unpacked", "as many values"),
        ("    for k in range(9, §-2, -1):\n        pass\n", "below every u32", "-1"),
        ("    for k in range(0, 9, §0):\n        pass\n", "other than 0", "count upwards"),
        ("    out[i] = a[i] + §f(out, i)\n", "middle of a statement", "line of its own"),
        ("    x = §f(a, i)\n", "'a' cannot be stored into", "annotate `a` In"),
        ("    x = §f(w, i)\n", "holds U32", "F32"),
        ("    x = §f(out)\n", "i missing", "(a, i)"),
        ("    x = §f(out, i, j=1)\n", "no parameter 'j'", "(a, i)"),
        ("    x = §f(out, i, a=out)\n", "'a' twice", "once"),
    ],
)
def test_refused_forms(refused: Callable[[str], KernelError], text: str, message: str, fix: str) -> None:
    error = refused(_kernel(text, HEAD))
    assert message in error.message
    assert fix in error.fix or fix in error.message


def test_a_nested_function_does_not_read_variables(refused: Callable[[str], KernelError]) -> None:
    body = "    x = 3\n    def g(y: u32) -> u32:\n        return y + x\n    x = 4\n    out[i] = §g(1)\n"
    error = refused(_kernel(body))
    assert "variable 'x'" in error.message
    assert "g(…, x)" in error.fix


def test_functions_that_call_each_other_are_refused(load: Callable[[str], dict[str, Any]]) -> None:
    head = "def f(a: In[u32], i: u32) -> u32:\n    return f(a, i)\n"
    with pytest.raises(vyre.KernelError, match="recursion"):
        load(_kernel("    out[i] = f(a, i)\n", head))


@pytest.mark.parametrize("bound", ["range(i - 1, 9)", "range(i - 1)", "range(vyre.local_id(0) - 2, 9)"])
def test_an_id_that_wraps_in_a_range_is_warned_of(load: Callable[[str], dict[str, Any]], bound: str) -> None:
    with pytest.warns(KernelWarning, match="wraps"):
        load(_kernel(f"    for k in {bound}:\n        out[k] = 1\n"))


def test_a_number_that_is_no_id_is_not_warned_of(load: Callable[[str], dict[str, Any]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(_kernel("    for k in range(len(a) - 1):\n        out[k] = 1\n"))


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
