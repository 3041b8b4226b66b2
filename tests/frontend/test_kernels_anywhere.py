"""Kernels are pickled by value, and work in other processes, in threads and at the prompt."""

from __future__ import annotations

import copy
import linecache
import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Kernel, KernelError, Out, f32, u32


def tripled(x: u32) -> u32:
    return x * 3


@vyre.op
def spread(x: u32, factor: u32 = 5) -> u32:  # pyright: ignore[reportArgumentType]
    """Calls an op of its own."""
    return tripled(x) * factor


@vyre.op
def emptied(row: InOut[u32]) -> None:
    row[0] = 0


@vyre.kernel
def mixed(x: In[u32], out: Out[u32], by: u32, scale: f32) -> None:
    """Triples and adds."""
    i = vyre.invocation_id(0)
    out[i] = tripled(x[i]) + by + vyre.convert(scale, u32)


def made(amount: int) -> Kernel:
    @vyre.kernel(workgroup_size=8)
    def raised(x: InOut[u32]) -> None:
        x[vyre.invocation_id(0)] += amount

    return raised


TABLE = (3, 1, 4, 1, 5)


@vyre.kernel
def formed(a: In[f32, Literal["m", "n"]], out: Out[f32, Literal["m", "n"]]) -> None:
    """A shape, a private array, a table and a loop that ends early."""
    i, j = vyre.grid(2)
    kept = vyre.private(u32, 4)
    for k in range(10):
        if k > 2:
            break
        kept[k] = TABLE[k]
    out[i, j] = a[i, j] * 2.0 + vyre.convert(kept[2], f32)


def u32s(*values: int) -> Any:
    return np.array(values, np.uint32)


def run(kernel: Kernel) -> tuple[list[int], str]:
    """What a child does with a kernel that it was sent."""
    return kernel(u32s(1, 2)).tolist(), kernel.__name__


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_kernel_is_pickled_by_value(protocol: int) -> None:
    again: Kernel = pickle.loads(pickle.dumps(mixed, protocol))
    assert (
        again(u32s(1, 2), by=4, scale=2.0).tolist() == mixed(u32s(1, 2), by=4, scale=2.0).tolist() == [9, 12]
    )
    assert (again.__name__, again.__doc__, again.__module__) == ("mixed", "Triples and adds.", __name__)
    assert repr(again) == repr(mixed)
    assert again.source_program == mixed.source_program
    assert again.program == mixed.program
    with pytest.raises(vyre.DispatchError, match=r"write mixed\(x, by=4, scale=scale\)"):
        again(u32s(1), by=4)


def test_a_kernel_of_a_closure_is_pickled_with_its_constants() -> None:
    again: Kernel = pickle.loads(pickle.dumps(made(5)))
    assert again(u32s(1, 2)).tolist() == [6, 7]
    assert again.program.workgroup_size == (8, 1, 1)
    assert copy.deepcopy(made(6))(u32s(1)).tolist() == [7]


def kernel_of(op: Any) -> Kernel:
    """A kernel that calls an op, whichever it is."""

    @vyre.kernel
    def calls(x: In[u32], out: Out[u32]) -> None:
        i = vyre.invocation_id(0)
        out[i] = op(x[i]) + op(x[i], 1)

    return calls


def run_op(op: Any) -> list[int]:
    return kernel_of(op)(u32s(1, 2)).tolist()


def test_an_op_is_pickled_by_value_and_works_in_a_spawned_process() -> None:
    again = pickle.loads(pickle.dumps(spread))
    assert (again.__name__, again.__doc__) == ("spread", "Calls an op of its own.")
    assert repr(again) == repr(spread)
    assert again.ops == spread.ops
    assert run_op(again) == run_op(spread) == [18, 36]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(run_op, [again]) == [[18, 36]]
    assert pickle.loads(pickle.dumps(emptied)) is emptied  # it takes a buffer, and is a function


def test_every_form_of_a_kernel_is_pickled() -> None:
    again: Kernel = pickle.loads(pickle.dumps(formed))
    a, out = np.arange(6, dtype=np.float32).reshape(2, 3), np.full((2, 3), 9, np.float32)
    assert again(a, out) is out
    assert np.array_equal(out, a * 2 + 4)
    assert np.array_equal(formed(a), out)


def test_nodes_that_are_read_back_are_the_same_objects() -> None:
    """Equality is identity: a copy beside the original would be unequal to it."""
    for node in mixed.source_program.entry:
        assert pickle.loads(pickle.dumps(node)) is node
        assert all(pickle.loads(pickle.dumps(x)) is x for x in node.exprs)


def test_a_spawned_process_runs_a_kernel_that_it_was_sent() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(run, [made(7), made(8)]) == [([8, 9], "raised"), ([9, 10], "raised")]


def test_threads_share_a_kernel_from_its_first_call_on() -> None:
    kernel = made(9)

    def called(k: int) -> list[int]:
        return kernel(u32s(*range(k))).tolist()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(called, range(40)))
    assert found == [[n + 9 for n in range(k)] for k in range(40)]


PROMPT = """import vyre
from vyre import In, Out, u32
@vyre.kernel
def k(x: In[u32], out: Out[u32]):
    i = vyre.invocation_id(0)
    out[i] = x[i] * 2

print(k)
"""


def test_the_prompt_of_python() -> None:
    """It keeps what was typed since Python 3.13; before, the refusal says where kernels can be written."""
    done = subprocess.run(
        [sys.executable, "-i", "-q"], input=PROMPT, capture_output=True, text=True, check=False
    )
    if sys.version_info >= (3, 13):
        assert "<vyre.kernel k(x: In[U32], out: Out[U32])>" in done.stdout
    else:
        assert "the source of k cannot be read" in done.stderr
        assert (
            "Fix: write the function in a file, a notebook cell, or the prompt of Python 3.13" in done.stderr
        )


def test_source_that_python_keeps_for_a_prompt_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Python 3.13 and notebooks keep it: under a name that is not a file."""
    name, text = "<python-input-7>", PROMPT.replace("print(k)\n", "")
    lines = text.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, name, (len(text), None, lines, name))
    names: dict[str, Any] = {}
    exec(compile(text, name, "exec"), names)
    assert names["k"](u32s(3)).tolist() == [6]


def test_a_parameter_cannot_have_the_name_of_an_option() -> None:
    with pytest.raises(
        KernelError, match=r"'copy' has the name of an option.*\n.*\n.*\nFix: choose another name"
    ):

        @vyre.kernel
        def taken(copy: In[u32], out: Out[u32]) -> None:  # pyright: ignore[reportUnusedFunction]
            out[0] = copy[0]
