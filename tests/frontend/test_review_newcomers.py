"""What a newcomer from CUDA, Numba or NumPy writes first, and what the front end answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, f32, u32
from vyre.errors import DispatchError, KernelError

if TYPE_CHECKING:
    from collections.abc import Callable

COEFFICIENTS = [1.0, 0.5, 0.25, 0.125]
TABLE = np.array([[3, 5], [7, 11]], np.uint32)


@vyre.kernel
def polynomial(x: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    value = f32(COEFFICIENTS[-1])
    value = value * x[i] + COEFFICIENTS[2]
    value = value * x[i] + COEFFICIENTS[1]
    out[i] = value * x[i] + COEFFICIENTS[0]


@vyre.kernel
def lookup(out: Out[u32]) -> None:
    out[0] = TABLE[1][0] + len(out)


def test_constants_come_from_lists_and_arrays_outside() -> None:
    x = np.linspace(-2, 2, 9, dtype=np.float32)
    want = np.full(9, COEFFICIENTS[3], np.float32)
    for c in COEFFICIENTS[2::-1]:
        want = want * x + np.float32(c)
    assert polynomial(x).tolist() == want.tolist()
    assert lookup(out=1).tolist() == [8]


KERNEL = (
    "T = [1, 2]\n@vyre.kernel\ndef k(a: In[u32], out: Out[u32]):\n    i = vyre.invocation_id(0)\n    {}\n"
)


@pytest.mark.parametrize(
    ("body", "message", "fix"),
    [
        ("out[i] = §T[2]", "outside the 2 elements", "in range"),
        ("out[i] = §threadIdx.x", "'threadIdx' is not known", "vyre.local_id(0)"),
        ("out[i] = §popcount(a[i])", "'popcount' is not known", "from vyre import popcount"),
        ("out[i] = vyre.cast(§exp(1.5), u32)", "'exp' is not known", "write vyre.exp"),
        ("§vyre.syncthreads()", "no 'syncthreads'", "vyre.barrier()"),
        ("out[i] = §vyre.thread_id(0)", "no 'thread_id'", "vyre.invocation_id(0)"),
        ("out[i] = §vyre.pocount(i)", "no 'pocount'", "did you mean popcount?"),
        ("out[i] = §np.sqrt(a[i])", "cannot be called", "vyre.sqrt("),
        ("tile = §np.zeros(64)", "cannot be called", "vyre.shared("),
        ("out[i] = §a[i].astype(f32)", "`.astype`", "vyre.convert(x, f32)"),
        ("out[i] = §a[i] + 1.5", "1.5 is a float", "vyre.convert(x, f32)"),
        (
            "§vyre.atomic_add(out[i], 1)",
            "missing a required argument",
            "vyre.atomic_add(buffer, index, value).",
        ),
        ("for x in §a: pass", "range() only", "range(len(a))"),
    ],
)
def test_habits_of_other_languages_are_answered(
    body: str, message: str, fix: str, refused: Callable[[str], KernelError]
) -> None:
    error = refused(KERNEL.format(body))
    assert message in error.message
    assert fix in error.fix


def test_a_numpy_element_type_is_translated(refused: Callable[[str], KernelError]) -> None:
    error = refused("@vyre.kernel\ndef k(a: §InOut[np.float32]):\n    pass\n")
    assert error.fix == "write a: InOut[f32]."


def test_the_translator_shows_no_inner_exception(refused: Callable[[str], KernelError]) -> None:
    error = refused(KERNEL.format("out[i] = §a[i] / 2"))
    assert error.__suppress_context__


@vyre.kernel
def double(x: InOut[u32]) -> None:
    i = vyre.invocation_id(0)
    x[i] = x[i] * 2


def test_a_launch_in_brackets_is_answered() -> None:
    launch: Any = double
    with pytest.raises(DispatchError, match=r"workgroups=n"):
        launch[1, 64](np.zeros(3, np.uint32))


def test_a_list_is_answered_with_an_array() -> None:
    with pytest.raises(DispatchError, match=r"pass vyre\.array\(x, vyre\.u32\)"):
        double([1, 2, 3])
