"""`vyre.debug_print` shows values of a running kernel, the same lines on every backend."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre import In, Out, f32, i32, u32
from vyre.backends import get
from vyre.errors import BackendUnavailable, KernelError
from vyre.frontend import printing


@vyre.kernel(workgroup_size=4)
def halved(a: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    x = a[i] * 0.5
    if x > 1:
        vyre.debug_print("x is", x, "at", i, i < 3, 7)
        vyre.debug_print("again", vyre.convert(x, i32) - 3)
    out[i] = x


VALUES = np.array([1, 3, 5, 0, 7], np.float32)
LINES = [
    "(1, 0, 0): x is 1.5 at 1 1 7",
    "(1, 0, 0): again -1",
    "(2, 0, 0): x is 2.5 at 2 1 7",
    "(2, 0, 0): again -1",
    "(4, 0, 0): x is 3.5 at 4 0 7",
    "(4, 0, 0): again 1",
]


@pytest.mark.parametrize("name", ["reference", "cpu", "wgpu", "opencl"])
def test_what_is_printed_is_the_same_everywhere(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        backend = get(name)
    except BackendUnavailable as missing:
        pytest.skip(missing.message)
    found = halved(VALUES, backend=backend)
    assert found.tolist() == [0.5, 1.5, 2.5, 0, 3.5]
    assert capsys.readouterr().out.splitlines() == LINES


def test_lanes_and_narrow_floats_are_printed_whole(capsys: pytest.CaptureFixture[str]) -> None:
    @vyre.kernel(workgroup_size=1)
    def wide(a: In[vyre.u64], h: In[vyre.f16], out: Out[u32]) -> None:
        vyre.debug_print(a[0], h[0])
        out[0] = 1

    wide(np.array([(5 << 32) + 1], np.uint64), np.array([0.1], np.float16), out=1)
    assert capsys.readouterr().out == f"(0, 0, 0): {(5 << 32) + 1} 0.1\n"


def test_the_grid_is_that_of_the_outputs(capsys: pytest.CaptureFixture[str]) -> None:
    @vyre.kernel(workgroup_size=1)
    def named(out: Out[u32]) -> None:
        vyre.debug_print("here")
        out[vyre.invocation_id(0)] = 1

    named(out=3)
    assert capsys.readouterr().out == "(0, 0, 0): here\n(1, 0, 0): here\n(2, 0, 0): here\n"


def test_what_does_not_fit_is_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vyre.frontend.arguments.DEBUG_WORDS", 1 + 2 * 5 + 3)

    @vyre.kernel(workgroup_size=1)
    def counted(out: Out[u32]) -> None:
        vyre.debug_print(vyre.invocation_id(0))
        out[vyre.invocation_id(0)] = 1

    counted(out=4, backend="reference")
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "(0, 0, 0): 0",
        "(1, 0, 0): 1",
        "… debug_print ran out of room: 10 more words did not fit.",
    ]
    assert printing.DEBUG_WORDS > 100_000


def test_a_kernel_that_prints_nothing_this_time_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    halved(np.zeros(5, np.float32))
    assert capsys.readouterr().out == ""


def test_what_cannot_be_printed_is_refused_at_its_line() -> None:
    with pytest.raises(KernelError, match=r"cannot be printed.*\n.*debug_print\(a\)"):

        @vyre.kernel
        def whole(a: In[u32], out: Out[u32]) -> None:  # pyright: ignore[reportUnusedFunction]
            vyre.debug_print(a)
            out[vyre.invocation_id(0)] = 1


def test_python_print_names_ours() -> None:
    with pytest.raises(KernelError, match="debug_print"):

        @vyre.kernel
        def chatty(out: Out[u32]) -> None:  # pyright: ignore[reportUnusedFunction]
            print(1)
            out[vyre.invocation_id(0)] = 1
