"""Lines that Python and other languages read differently: each is refused, warned of, or has one meaning."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import In, KernelWarning, Out, f16, f32, i32, u32

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre import KernelError

HEAD = """\
N = 100
@vyre.kernel
def k(a: In[u32], w: In[f32], s: In[i32], h: In[f16], out: Out[u32], f: Out[f32]):
"""


def kernel(body: str) -> str:
    return f"{HEAD}    i = vyre.invocation_id(0)\n    {body}\n"


@pytest.mark.parametrize(
    ("body", "message", "fix"),
    [
        ("t = 0\n    §t += w[i]", "U32 and F32", "write t = 0.0"),
        ("t = 0\n    t = §t + w[i]", "U32 and F32", "write t = 0.0"),
        ("t = 0\n    §t = w[i]", "'t' is U32 and got F32", "write t = 0.0"),
        ("t = 1\n    §t = s[i]", "'t' is U32 and got I32", "write t = i32(1)"),
        ("t = 0.5\n    §t += h[i]", "F32 and F16", "write t = f16(0.5)"),
        ("if §a[i] >= 0:\n        out[i] = 1", "`x >= 0` always holds", "a >= b"),
        ("out[i] = §a[i] - 1 < 0", "`x < 0` never holds", "a >= b"),
        ("out[i] = §0 <= a[i]", "`0 <= x` always holds", "a >= b"),
        ("out[i] = §0 > a[i]", "`0 > x` never holds", "a >= b"),
        (
            "out[i] = §vyre.cast(w[i], u32)",
            "vyre.cast does not go from F32 to U32",
            "vyre.bitcast(w[i], u32) gives its bits",
        ),
        (
            "f[i] = §vyre.cast(a[i], f32)",
            "does not go from U32 to F32",
            "write vyre.convert(a[i], f32), which gives its value",
        ),
        (
            "x = §vyre.convert(a[i], u64)",
            "does not go from U32 to U64",
            "write u64(a[i]), which keeps its value",
        ),
        (
            "x = §vyre.convert(w[i], f16)",
            "does not go from F32 to F16",
            "write vyre.cast(w[i], f16), which rounds",
        ),
        ("x = §vyre.bitcast(s[i], u64)", "no common bits", "write u64(s[i]), which extends the sign"),
        (
            "x = §u32(w[i])",
            "could mean",
            'write vyre.convert(w[i], u32, mode="truncate"), which drops the fraction',
        ),
        ("x = §N // 2.0", "no meaning on floats", "math.floor"),
        ("x = §N % 0", "cannot be computed", "number"),
    ],
)
def test_refused(refused: Callable[[str], KernelError], body: str, message: str, fix: str) -> None:
    error = refused(kernel(body))
    assert message in error.message
    assert fix in error.fix


@pytest.mark.parametrize("test", ["a[i] > 0", "s[i] >= 0", "0 < a[i]", "w[i] >= 0"])
def test_comparisons_that_say_something(load: Callable[[str], dict[str, Any]], test: str) -> None:
    load(kernel(f"out[i] = {test}"))


@vyre.kernel
def quotients(s: In[i32], t: In[i32], out: Out[i32], rest: Out[i32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = s[i] // t[i]
    rest[i] = s[i] % t[i]


@pytest.mark.parametrize(
    ("left", "right"), [(-7, 2), (7, -2), (-7, -2), (7, 2), (-8, 2), (8, -2), (-100, 64)]
)
def test_signed_quotients_truncate_folded_or_not(
    load: Callable[[str], dict[str, Any]], left: int, right: int
) -> None:
    body = f"    q[0] = {left} // {right}\n    r[0] = {left} % {right}\n"
    text = f"@vyre.kernel\ndef k(q: Out[i32], r: Out[i32]):\n{body}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelWarning)
        folded = [x.tolist() for x in load(text)["k"](q=1, r=1)]
    run = [x.tolist() for x in quotients(np.array([left], np.int32), np.array([right], np.int32))]
    assert folded == run == [[int(left / right)], [left - int(left / right) * right]]


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ("-(-N // 64)", True),
        ("-N % 64", True),
        ("N % -64", True),
        ("-128 // 64 + 4", False),
        ("(N + 63) // 64", False),
        ("N % 64", False),
    ],
)
def test_folding_that_differs_from_python_is_warned_of(
    load: Callable[[str], dict[str, Any]], text: str, warned: bool
) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load(kernel(f"x = i32({text})"))
    assert [w.category for w in caught] == [KernelWarning] * warned
    if warned:
        assert caught[0].filename.endswith("user_kernel.py")
        assert caught[0].lineno == 11


@vyre.kernel
def three_ways(w: In[f32], bits: Out[u32], value: Out[u32], half: Out[f16]) -> None:
    i = vyre.invocation_id(0)
    bits[i] = vyre.bitcast(w[i], u32)
    value[i] = vyre.convert(w[i], u32)
    half[i] = vyre.cast(w[i], f16)


def test_cast_convert_and_bitcast_have_one_meaning_each() -> None:
    bits, value, half = three_ways(np.array([2.5, 3.0], np.float32))
    assert bits.tolist() == [0x40200000, 0x40400000]
    assert value.tolist() == [2, 3]
    assert half.tolist() == [2.5, 3.0]
