"""Out and InOut: what is passed is written and comes back; Out starts as zeros; `copy` leaves it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import DispatchError, In, InOut, Out, boolean, u32
from vyre.backends.registry import get
from vyre.obligations import written

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre import Backend, Kernel


@pytest.fixture(params=["reference", "cpu", "opencl", "wgpu", "dawn", "cuda"])
def backend(request: pytest.FixtureRequest) -> Backend:
    try:
        return get(request.param)
    except DispatchError as error:
        pytest.skip(str(error))


def u32s(*values: int) -> Any:
    return np.array(values, np.uint32)


@vyre.kernel
def odd(x: In[u32], out: Out[u32]) -> None:
    """Leaves every other element of its output as it was."""
    i = vyre.invocation_id(0)
    if x[i] & 1 == 1:
        out[i] += x[i]


@vyre.kernel
def doubled(x: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = x[i] * 2


@vyre.kernel
def raised(x: InOut[u32]) -> None:
    x[vyre.invocation_id(0)] += 1


@vyre.kernel
def is_odd(x: In[u32], out: Out[boolean]) -> None:
    i = vyre.invocation_id(0)
    out[i] = x[i] & 1 == 1


KERNELS: list[tuple[Kernel, list[int]]] = [(odd, [1, 0, 3]), (doubled, [2, 4, 6])]


@pytest.mark.parametrize(("kernel", "expected"), KERNELS)
def test_an_output_that_is_passed_starts_as_zeros_and_comes_back(
    backend: Backend, kernel: Kernel, expected: list[int]
) -> None:
    x, out = u32s(1, 2, 3), u32s(7, 7, 7)
    assert kernel(x, out, backend=backend) is out
    assert out.tolist() == expected
    assert kernel(x, out=out, backend=backend) is out
    assert kernel(x, backend=backend).tolist() == expected


@pytest.mark.parametrize(("kernel", "expected"), KERNELS)
def test_an_output_on_the_device_starts_as_zeros_at_every_call(
    backend: Backend, kernel: Kernel, expected: list[int]
) -> None:
    x = vyre.to_device(u32s(1, 2, 3), backend=backend)
    out = vyre.to_device(u32s(7, 7, 7), backend=backend)
    for _ in range(3):  # from the second on, the launch is a kept one
        assert kernel(x, out, backend=backend) is out
        assert out.numpy().tolist() == expected
        out.copy_from(u32s(9, 9, 9))


@pytest.mark.parametrize(("kernel", "expected"), KERNELS)
def test_an_output_beside_buffers_of_the_device_starts_as_zeros(
    backend: Backend, kernel: Kernel, expected: list[int]
) -> None:
    x, out = vyre.to_device(u32s(1, 2, 3), backend=backend), u32s(7, 7, 7)
    assert kernel(x, out, backend=backend) is out
    assert out.tolist() == expected


def test_the_same_program_without_a_kernel_keeps_what_is_passed() -> None:
    """A kernel clears its outputs by the call, not by the program, which both share."""
    x, out = u32s(1, 2, 3), u32s(7, 7, 7)
    held = vyre.to_device(out, backend="cpu"), vyre.to_device(x, backend="cpu")
    for _ in range(2):
        odd(held[1], held[0], backend="cpu")
        held[0].copy_from(out)
        vyre.dispatch(odd.program, {"x": held[1], "out": held[0]}, backend="cpu")
        assert held[0].numpy().tolist() == [8, 7, 10]
    assert vyre.dispatch(odd.program, {"x": x, "out": out}, backend="cpu")["out"].tolist() == [8, 7, 10]


def test_copies_are_new_and_leave_what_is_passed_alone(backend: Backend) -> None:
    x, out = u32s(1, 2, 3), u32s(7, 7, 7)
    assert odd(x, out, backend=backend, copy=True).tolist() == [1, 0, 3]
    assert raised(x, backend=backend, copy=True).tolist() == [2, 3, 4]
    assert (x.tolist(), out.tolist()) == ([1, 2, 3], [7, 7, 7])
    held = vyre.to_device(out, backend=backend)
    made = odd(vyre.to_device(x, backend=backend), held, backend=backend, copy=True)
    assert made is not held
    assert (made.numpy().tolist(), held.numpy().tolist()) == ([1, 0, 3], [7, 7, 7])


def test_a_part_of_the_grid_clears_the_rest() -> None:
    """`doubled` writes everything it reaches; what it does not reach must be zero all the same."""
    out = np.full(200, 7, np.uint32)
    doubled(u32s(*range(200)), out, workgroups=1)
    assert out.tolist() == [2 * k for k in range(64)] + [0] * 136
    doubled(u32s(*range(200)), out, workgroups=0)
    assert not out.any()


def test_what_is_written_from_end_to_end_is_not_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    from vyre.backends.slots import Slot

    cleared: list[str] = []
    clear = Slot.clear

    def counted(slot: Slot) -> None:
        cleared.append(slot.decl.name)
        clear(slot)

    monkeypatch.setattr(Slot, "clear", counted)
    doubled(u32s(1, 2), u32s(7, 7), backend="reference")
    assert cleared == []
    odd(u32s(1, 2), u32s(7, 7), backend="reference")
    doubled(u32s(1, 2), np.zeros(100, np.uint32), workgroups=1, backend="reference")
    assert cleared == ["out", "out"]
    assert written.fully_written(doubled.program) == {"out"}


def test_nothing_is_cleared_where_the_call_is_refused() -> None:
    out = u32s(7, 7)
    with pytest.raises(DispatchError, match="beyond a u32"):
        odd(u32s(1, 2), out, workgroups=(1 << 31, 1 << 31, 1 << 31))
    with pytest.raises(DispatchError, match="holds U32"):
        odd(np.zeros(2, np.float32), out)
    assert out.tolist() == [7, 7]


def test_truth_values_are_written_into_an_array_of_bool(backend: Backend) -> None:
    out = np.array([True, True, True])
    assert is_odd(u32s(1, 2, 3), out, backend=backend) is out
    assert out.tolist() == [True, False, True]


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: np.zeros(8, np.uint32)[::2], r"not contiguous.*Fix: pass copy=True"),
    (lambda: np.broadcast_to(np.uint32(0), (4,)), r"read-only memory.*Fix: pass copy=True"),
    (lambda: bytes(16), r"read-only memory.*Fix: pass copy=True"),
    (lambda: np.zeros(4, np.int64), r"got int64.*Fix: omit out, or pass np\.zeros\(\(4,\), np\.uint32"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_what_cannot_be_written_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(DispatchError, match=message):
        doubled(u32s(1, 2, 3, 4), make())
