"""A grid that would wrap is refused by every backend at every entrance, and nothing runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import In, Out, Program, u32
from vyre.backends import get
from vyre.errors import DispatchError
from vyre.reference import run as interpret

if TYPE_CHECKING:
    from vyre import Backend

FOUR = Program.from_text(
    "vyre 1\nworkgroup 1 1 1\nbuffer out: readwrite U32[4] @0\n"
    "entry { if invocation.x < 4 { out[invocation.x] = 7 } }"
)
WRAPPING = [(1 << 31, 1 << 31, 4), (1 << 22, 1 << 22, 1 << 20), (1 << 31, 1 << 31, 1 << 31)]


@vyre.kernel
def sevens(a: In[u32], out: Out[u32]) -> None:
    out[vyre.invocation_id(0)] = a[0]


@pytest.fixture(params=["reference", "cpu", "opencl", "wgpu", "dawn", "cuda"])
def backend(request: pytest.FixtureRequest) -> Backend:
    try:
        return get(request.param)
    except DispatchError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("grid", WRAPPING)
def test_arrays_device_buffers_and_kernels(backend: Backend, grid: Any) -> None:
    arrays = {"out": np.full(4, 5, np.uint32)}
    with pytest.raises(DispatchError, match=r"invocations; at most 281474976710656 .* Fix: use fewer"):
        vyre.dispatch(FOUR, arrays, backend=backend, workgroups=grid)
    held = vyre.to_device(arrays["out"], backend=backend)
    with pytest.raises(DispatchError, match="invocations; at most"):
        vyre.compile_program(FOUR, backend=backend)({"out": held}, workgroups=grid)
    with pytest.raises(DispatchError, match=r"beyond a u32|invocations; at most"):
        sevens(arrays["out"], held, workgroups=grid, backend=backend)
    assert held.numpy().tolist() == arrays["out"].tolist() == [5] * 4


@pytest.mark.parametrize("grid", [*WRAPPING, (1 << 32, 1, 1), (True, 1, 1), (1.0, 1, 1), (-1, 1, 1)])
def test_executables_themselves(backend: Any, grid: Any) -> None:
    executable = backend.compile(FOUR)
    memory = bytearray(16)
    with pytest.raises(DispatchError):
        executable.run({"out": memoryview(memory)}, grid)
    held = vyre.to_device(np.zeros(4, np.uint32), backend=backend)
    with pytest.raises(DispatchError):
        executable.bind([held.memory], grid)()
    assert not any(memory)
    assert not held.numpy().any()


def test_a_kept_launch_does_not_let_other_kinds_of_numbers_in(backend: Backend) -> None:
    held = vyre.to_device(np.zeros(4, np.uint32), backend=backend)
    compiled = vyre.compile_program(FOUR, backend=backend)
    compiled({"out": held}, workgroups=1)
    compiled({"out": held}, workgroups=(1, 1))
    for same in (True, 1.0, (1.0, 1), (True, True)):
        with pytest.raises(DispatchError, match="is not a grid"):
            compiled({"out": held}, workgroups=same)  # pyright: ignore[reportArgumentType] - the point
    compiled({"out": held}, workgroups=(np.int64(4),))  # pyright: ignore[reportArgumentType] - taken too
    assert held.numpy().tolist() == [7] * 4


def test_the_interpreter_itself() -> None:
    with pytest.raises(DispatchError, match="invocations; at most"):
        interpret(FOUR, {}, (1 << 31, 1 << 31, 4))
    wide = Program(FOUR.buffers, (64,), FOUR.entry)
    with pytest.raises(DispatchError, match="beyond a u32"):
        interpret(wide, {}, ((1 << 26) + 1, 1, 1))
