"""What a newcomer from CUDA, Numba or NumPy writes first, and what the front end answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, boolean, f16, f32, f64, i32, u32
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
        ("out[i] = §np.minimum(a[i], 3)", "cannot be called", "min(x, y)"),
        ("§vyre.atomic_sub(out, 0, 1)", "no 'atomic_sub'", "vyre.atomic_add(buffer, index, 0 - value)"),
        ("§vyre.atomic_cas(out, 0, 1, 2)", "no 'atomic_cas'", "vyre.atomic_compare_exchange("),
        ("out[i] = §a[i].bit_length()", "`.bit_length`", "32 - vyre.clz(x)"),
        ("out[i] = §a[i].foo()", "`.foo`", "use operators and functions."),
        ("out[i] = §a.length", "no attribute 'length'", "len(a) is its length"),
        ("§x = 1j", "not a value of a kernel", "the real and the imaginary part in two floats"),
        ("print(§f'{i}')", "an f-string", "vyre.debug_print("),
        ("§x, *y = i, i, i", "`*` has no meaning", "a name for each value"),
        ("out[i] = 1 if §a[i] == 'a' else 0", "'a' is text and not a number", "write ord('a')"),
        ("out[i] = §any(a)", "cannot be called", "a `for` loop with a flag"),
        (
            "out[i] = §u32(vyre.convert(i, f32))",
            "its whole part",
            'mode="truncate"), which drops the fraction',
        ),
        ("if §~(a[i] > 1): pass", "not its opposite", "write not (a[i] > 1)."),
        ("big = a[i] > 1\n    if §~big: pass", "not its opposite", "write not big."),
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


@pytest.mark.parametrize(
    ("body", "fix"),
    [
        ("k = 0.1\n    out[i] = §k * a[i]", "write k = f64(0.1) where it is first assigned"),
        ("k = 3\n    out[i] = §k * a[i]", "write k = f64(3) where it is first assigned"),
        ("k = 0.1 if i > 1 else 0.3\n    out[i] = §k * a[i]", "write f64(…) around the plain numbers that k"),
        ("k = math.inf\n    out[i] = §k * a[i]", "write f64(…) around the plain numbers that k"),
    ],
)
def test_the_fix_of_a_plain_number_keeps_the_number(
    body: str, fix: str, refused: Callable[[str], KernelError]
) -> None:
    head = "@vyre.kernel\ndef k(a: In[f64], out: Out[f64]):\n    i = vyre.invocation_id(0)\n    "
    assert refused(f"{head}{body}\n").fix.startswith(fix)


def scaled(x: u32, n: u32) -> u32:
    n += 1
    if n > 3:
        x = u32(0)
    x *= n
    return x


def noted(out: Out[u32], n: u32) -> None:
    n += 1
    out[n] = n


@vyre.kernel
def parameters(out: Out[u32], n: u32) -> None:
    first = n
    n = n * 2
    n += 1
    if vyre.invocation_id(0) == 0:
        noted(out, u32(2))
        out[0] = n
        out[1] = first
        for k in range(2):
            out[4 + k] = scaled(first, u32(k + 2))
        out[6] = first


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_parameters_are_variables_of_the_function(backend: str) -> None:
    assert parameters(7, 5, backend=backend).tolist() == [11, 5, 0, 3, 15, 0, 5]


ROWS = ((1, -2, 3), [4, 5, 6])
BYTES = np.array([3, 250, 7], np.uint8)


@vyre.kernel
def kinds(a: In[u32], whole: Out[i32], real: Out[f32], flag: Out[boolean], wide: Out[f64]) -> None:
    i = vyre.invocation_id(0)
    x = y = a[i]
    big = x > 1
    flag[i] = big
    whole[i] = ROWS[i % 2][x % 3] * i32(BYTES[y % 3]) + ROWS[0][i % 3] + len(BYTES) + ord("a")
    real[i] = f32(a[i32(i) - 1]) + f32(big)
    wide[i] = f64(vyre.cast(real[i], f16))


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_rows_of_tables_signed_indices_and_casts(backend: str) -> None:
    a = np.array([5, 0, 1, 2], np.uint32)
    whole, real, flag, wide = kinds(a, backend=backend)
    table = np.array(ROWS)
    places = range(4)
    assert whole.tolist() == [
        table[i % 2, a[i] % 3] * int(BYTES[a[i] % 3]) + table[0, i % 3] + 3 + 97 for i in places
    ]
    assert real.tolist() == [(float(a[i - 1]) if i else 0.0) + float(a[i] > 1) for i in places]
    assert flag.tolist() == (a > 1).tolist()
    assert wide.tolist() == real.tolist()


@vyre.kernel
def choices(a: In[i32], out: Out[i32], wide: Out[f64], both: Out[boolean]) -> None:
    i = vyre.invocation_id(0)
    step = 1 if a[i] < 2 else -1
    least = -5
    out[i] = a[i] + (1 if i > 1 else 0) + 10 * step + least
    wide[i] = 0.1 if i > 1 else -0.3
    both[i] = (a[i] > 0) & (a[i] < 3)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_plain_numbers_take_their_type_from_where_they_are_used(backend: str) -> None:
    a = np.array([-1, 4, 1, 2], np.int32)
    out, wide, both = choices(a, backend=backend)
    assert out.tolist() == [int(x) + (i > 1) + (10 if x < 2 else -10) - 5 for i, x in enumerate(a)]
    assert wide.tolist() == [-0.3, -0.3, 0.1, 0.1]
    assert both.tolist() == ((a > 0) & (a < 3)).tolist()


@pytest.mark.parametrize(
    ("table", "body", "message", "fix"),
    [
        ("[[1, 2], [3]]", "out[i] = §T[i][0]", "have 1 and 2 elements", "make all its rows 2 long."),
        ("[[1, 2], 3]", "out[i] = §T[i][0]", "numbers beside rows", "rows alike."),
        ("np.ones((2, 2), np.uint32)", "out[i] = §T[i]", "'T' has 2 dimensions", "write T[i, j]."),
        ("[[1, 2], [3, 4]]", "out[i] = §T[i][2]", "outside the dimension 2 of 'T'", "from 0 to 1."),
    ],
)
def test_a_table_that_does_not_fit_is_named_as_it_is_written(
    table: str, body: str, message: str, fix: str, refused: Callable[[str], KernelError]
) -> None:
    error = refused(f"T = {table}\n{KERNEL.partition(chr(10))[2].format(body)}")
    assert message in error.message
    assert fix in error.fix


def test_a_workgroup_size_by_position_is_told_its_name(load: Callable[[str], dict[str, Any]]) -> None:
    with pytest.raises(KernelError) as caught:
        load("@vyre.kernel(64)\ndef k(out: Out[u32]):\n    out[0] = 1\n")
    assert caught.value.fix == "write @vyre.kernel(workgroup_size=64)."
    assert caught.value.location.line == 7


WRAPPER = """
import functools
def noted(function):
    @functools.wraps(function)
    def inner(*given):
        return function(*given)
    return inner
"""


def test_a_decorator_that_wraps_goes_above_the_kernel(load: Callable[[str], dict[str, Any]]) -> None:
    """The code of the wrapper would not run, and the names would be those of its module."""
    kernel = "def k(a: In[u32], out: Out[u32]):\n    out[0] = a[0] + 1\n"
    with pytest.raises(KernelError, match="wrapped by a decorator") as caught:
        load(f"{WRAPPER}@vyre.kernel\n@noted\n{kernel}")
    assert caught.value.fix == "put vyre's decorator next to `def`, below all others."
    with pytest.raises(KernelError, match="wrapped by a decorator"):
        load(f"{WRAPPER}@vyre.op\n@noted\ndef f(x: u32) -> u32:\n    return x\n")
    assert load(f"{WRAPPER}@noted\n@vyre.kernel\n{kernel}")["k"](np.array([4], np.uint32)).tolist() == [5]


def test_a_staticmethod_goes_above_the_kernel(load: Callable[[str], dict[str, Any]]) -> None:
    with pytest.raises(KernelError) as caught:
        load("class C:\n    @vyre.kernel\n    @staticmethod\n    def k(out: Out[u32]):\n        out[0] = 1\n")
    assert caught.value.fix == "put @vyre.kernel below @staticmethod."
