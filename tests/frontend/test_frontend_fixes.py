"""Fixes name what to write in the user's own words, and following them does not break the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre import KernelError

HEAD = """\
@vyre.kernel
def k(a: In[u32], w: In[f32], s: In[i32], m: In[f32, Literal["h", "w"]], wide: In[u64],
      out: Out[u32], f: Out[f32], grid: Out[f32, Literal["h", "w"]], radius: u32):
    i = vyre.invocation_id(0)
    y, x = i, i
"""
MEAN = "total = 0.0\n    for k in range(radius):\n        total += w[i + k]\n    f[i] = "


@pytest.mark.parametrize(
    ("body", "fix"),
    [
        (f"{MEAN}§total / (2 * radius + 1)", "write vyre.convert(2 * radius + 1, f32), which"),
        (f"{MEAN}§(2 * radius + 1) / total", "write vyre.convert(2 * radius + 1, f32), which"),
        ("t = 0\n    if i < 3:\n        t = a[i]\n    §t += w[i]", "write vyre.convert(w[i], u32), which"),
        ("t = 0\n    t = a[i]\n    f[i] = §w[i] * t", "write vyre.convert(t, f32), which"),
        ("n = 0\n    n += 1\n    f[i] = §w[i] * n", "write n = 0.0 where it is first assigned"),
        (
            "for r in range(-i32(radius), §radius + 1):\n        pass",
            "write i32(radius + 1), which keeps the bits: ",
        ),
        ("d = §a[i] + wide[i]", "write u64(a[i]), which keeps its value."),
        ("§if s[i]:\n        out[i] = 1", "compare it: s[i] != 0."),
        ("§out[i] = w[i] if i < 3 else w[0]", "write vyre.convert((w[i] if i < 3 else w[0]), u32), which"),
        ("f[i] = §a[i] / radius", "write `//`, or convert both sides: vyre.convert(a[i], f32)."),
        ("f[i] = §m[y][x]", "write m[y, x]."),
        ("§grid[y][x] = w[i]", "write grid[y, x]."),
        ("§grid[y + 1][x] += w[i]", "write grid[y + 1, x]."),
        ("f[i] = §w[y][x]", 'declare its shape, as in w: In[f32, Literal["m", "n"]], and write w[y, x].'),
    ],
)
def test_a_fix_is_in_the_words_of_the_user(
    refused: Callable[[str], KernelError], body: str, fix: str
) -> None:
    assert refused(f"{HEAD}    {body}\n").fix.startswith(fix)


def test_an_expression_too_long_to_repeat_is_x(refused: Callable[[str], KernelError]) -> None:
    long = " + ".join(["w[i]"] * 9)
    assert refused(f"{HEAD}    §out[i] = {long}\n").fix.startswith("write vyre.convert(x, u32), which")


@pytest.mark.parametrize(
    "body",
    [
        f"{MEAN}total / vyre.convert(2 * radius + 1, f32)",
        "n = 0.0\n    n += 1\n    f[i] = w[i] * n",
        "for r in range(-i32(radius), i32(radius + 1)):\n        pass",
        "d = u64(a[i]) + wide[i]",
        "f[i] = m[y, x]",
        "grid[y + 1, x] += w[i]",
        "out[i] = wide[i][1]",
    ],
)
def test_what_the_fixes_say_is_accepted(load: Callable[[str], dict[str, Any]], body: str) -> None:
    load(f"{HEAD}    {body}\n")


def test_a_kernel_that_calls_itself_is_told_so(refused: Callable[[str], KernelError]) -> None:
    error = refused(f"{HEAD}    out[i] = §k(a)\n")
    assert error.message == "recursion has no meaning in a kernel: k → k."


def test_an_annotation_is_shown_as_it_is_written(refused: Callable[[str], KernelError]) -> None:
    error = refused("@vyre.kernel\ndef k(x: §Out[In[u32]]):\n    x[0] = 1\n")
    assert error.message == "In[u32] is not an element type."


def test_a_table_that_holds_text_is_refused_for_that(refused: Callable[[str], KernelError]) -> None:
    error = refused(f"T = [1, 'a']\n{HEAD}    t = §T[i]\n")
    assert error.message == "the table holds 'a', which is not a number."
