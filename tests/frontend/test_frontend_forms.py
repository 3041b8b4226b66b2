"""Forms of Python that a kernel writes out: swaps, loops over constants, ways out, functions with buffers."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import vyre
from vyre import In, InOut, KernelWarning, Out, Shared, f32, i32, u32

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


FROM = -3


@vyre.kernel
def signed_ranges(a: In[i32], out: Out[i32]) -> None:
    n = u32(0)
    for k in range(-2, 3):
        out[n] = k
        n += 1
    for k in range(FROM, a[0], 2):
        out[n] = k
        n += 1
    for k in range(a[1], a[0]):
        out[n] = k
        n += 1
    for k in range(a[0] - 1, -4, -3):
        out[n] = k
        n += 1
    for k in range(2, -3, -1):
        out[n] = k
        n += 1
    for k in range(a[1] - 1, a[2], -2):
        out[n] = k
        n += 1
    for k in range(a[0]):
        out[n] = k
        n += 1
    for k in range(2**31 - 1, a[3], -(2**30)):
        out[n] = k
        n += 1


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("a", [(4, -5, -9, -(2**31)), (-4, 5, -9, 7), (0, 0, 0, 2**31 - 1)])
def test_ranges_of_i32_are_those_of_python(a: tuple[int, int, int, int], backend: str) -> None:
    expected = [
        *range(-2, 3), *range(-3, a[0], 2), *range(a[1], a[0]), *range(a[0] - 1, -4, -3), *range(2, -3, -1),
        *range(a[1] - 1, a[2], -2), *range(a[0]), *range(2**31 - 1, a[3], -(2**30)), -7,
    ]  # fmt: skip
    found = signed_ranges(np.array(a, np.int32), len(expected), workgroups=1, backend=backend)
    assert found.tolist() == [*expected[:-1], 0]


@vyre.kernel
def reversed_range(x: In[u32], out: Out[u32]) -> None:
    at = u32(0)
    for i in reversed(range(len(x))):
        out[at] = x[i]
        at += 1


def test_a_reversed_range() -> None:
    assert reversed_range(u32s(1, 2, 3), workgroups=1).tolist() == [3, 2, 1]


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
        ("    §x, y = 1, 2, 3\n", "3 values cannot be assigned to 2 names", "as many"),
        ("    §x, y = i\n", "cannot be unpacked", "as many values"),
        ("    for k in range(-1, §i):\n        pass\n", "is I32 and got U32", "i32"),
        ("    for k in range(§-a[i], 3):\n        pass\n", "near 2^32", "write -i32(a[i])"),
        ("    for k in range(0, 9, §0):\n        pass\n", "other than 0", "count upwards"),
        ("    out[i] = a[i] + §f(out, i)\n", "middle of a statement", "line of its own"),
        ("    x = §f(a, i)\n", "'a' cannot be stored into", "annotate `a` In"),
        ("    x = §f(w, i)\n", "holds U32", "F32"),
        ("    x = §f(out)\n", "missing the argument 'i'", "(a, i)"),
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
