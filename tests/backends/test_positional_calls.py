"""Kernels called by position on arrays of NumPy: the short way gives what the ordinary one does, or None."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, boolean, u32, vec2
from vyre.backends.host_plan import HostCall
from vyre.errors import DispatchError

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([1, 2, 3, 4], np.uint32)


@vyre.kernel
def doubled(a: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = a[i] + a[i]


@vyre.kernel
def half(a: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    if i < len(a) // 2:
        out[i] = a[i]


@vyre.kernel
def moved(a: In[u32], old: InOut[u32], new: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    new[i] = old[i]
    old[i] = a[i]


def shortened(kernel: Any, *arrays: Any) -> HostCall:
    """What a first call leaves for those like it."""
    kernel(*arrays, backend="cpu")
    short = kernel._shorts["cpu", len(arrays)]
    assert isinstance(short, HostCall)
    return short


def read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


FITTING: dict[str, Callable[[], Any]] = {
    "an array": lambda: X,
    "a longer one": lambda: np.arange(70_001, dtype=np.uint32),
    "a part of one": lambda: np.arange(9, dtype=np.uint32)[3:7],
    "read-only": lambda: read_only(X.copy()),
    "of memory that is not NumPy's": lambda: np.frombuffer(bytearray(16), np.uint32),
}


@pytest.mark.parametrize("what", FITTING)
def test_it_gives_what_the_ordinary_way_gives(what: str) -> None:
    short, given = shortened(doubled, X), FITTING[what]()
    found = short((given,))
    assert found.dtype == np.uint32
    assert np.array_equal(found, doubled(a=given, backend="cpu"))
    assert np.array_equal(found, given + given)


ODD: dict[str, Callable[[], Any]] = {
    "a list": lambda: [1, 2, 3],
    "a length": lambda: 4,
    "nothing": lambda: None,
    "strided": lambda: np.arange(8, dtype=np.uint32)[::2],
    "of another type": lambda: X.view(np.int32),
    "of another byte order": lambda: X.astype(">u4"),
    "of two dimensions": lambda: X.reshape(2, 2),
    "of none": lambda: np.array(1, np.uint32),
    "empty": lambda: X[:0],
    "misaligned": lambda: np.frombuffer(bytes(17), np.uint8)[1:].view(np.uint32),
    "of a class of its own": lambda: np.ma.masked_array(X),
    "a device buffer": lambda: vyre.to_device(X, backend="cpu"),
}


@pytest.mark.parametrize("what", ODD)
def test_what_is_unusual_goes_the_ordinary_way(what: str) -> None:
    assert shortened(doubled, X)((ODD[what](),)) is None


def test_an_output_that_is_passed_is_written_and_given_back() -> None:
    out = np.zeros((2, 2), np.uint32)
    short = shortened(doubled, X, out)
    out.fill(9)
    assert short((X.reshape(2, 2), out)) is out
    assert out.tolist() == [[2, 4], [6, 8]]
    assert short((X, read_only(np.zeros(4, np.uint32)))) is None
    with pytest.raises(DispatchError, match="read-only"):
        doubled(X, read_only(np.zeros(4, np.uint32)), backend="cpu")


def test_memory_that_is_written_is_bound_once() -> None:
    whole = np.zeros(8, np.uint32)
    short = shortened(doubled, X, whole[:4])
    for first in range(4):
        assert short((whole[first : first + 4], whole[:4])) is None
    assert short((whole[4:], whole[:4])) is not None
    with pytest.raises(DispatchError, match="share memory"):
        doubled(whole[3:7], whole[:4], backend="cpu")


def test_outputs_start_as_zeros_unless_all_of_them_is_written() -> None:
    out = np.full(4, 9, np.uint32)
    made, passed = shortened(half, X), shortened(half, X, out.copy())
    assert passed((X, out)) is out
    assert out.tolist() == [1, 2, 0, 0]
    for _ in range(20):  # memory that was just freed is used again
        dirty = np.full(4, 9, np.uint32)
        del dirty
        assert made((X,)).tolist() == [1, 2, 0, 0]


def test_several_outputs_come_in_their_order() -> None:
    old = np.arange(4, dtype=np.uint32)
    short = shortened(moved, X, old.copy())
    first, second = short((X, old))
    assert first is old
    assert (old.tolist(), second.tolist()) == ([1, 2, 3, 4], [0, 1, 2, 3])
    longer = np.arange(8, dtype=np.uint32)
    assert short((longer, old))[1].shape == (8,)


def test_a_block_that_is_captured_goes_the_ordinary_way() -> None:
    short = shortened(doubled, X)
    with vyre.capture("cpu"):
        assert short((X,)) is None
        with pytest.raises(DispatchError, match="device buffers"):
            doubled(X, backend="cpu")


def test_kernels_with_more_than_plain_buffers_have_no_short_way() -> None:
    @vyre.kernel
    def scaled(a: In[u32], by: u32, out: Out[u32]) -> None:
        i = vyre.invocation_id(0)
        out[i] = a[i] * by

    @vyre.kernel
    def swapped(a: In[vec2], out: Out[vec2]) -> None:
        i = vyre.invocation_id(0)
        out[i] = vec2(vyre.lane(a[i], 1), vyre.lane(a[i], 0))

    @vyre.kernel
    def odd(a: In[u32], out: Out[boolean]) -> None:
        i = vyre.invocation_id(0)
        out[i] = a[i] % 2 == 1

    for kernel, arrays, expected in (
        (scaled, (X, 3), [3, 6, 9, 12]),
        (swapped, (X.reshape(2, 2),), [[2, 1], [4, 3]]),
        (odd, (X,), [True, False, True, False]),
    ):
        for _ in range(2):
            assert kernel(*arrays, backend="cpu").tolist() == expected
        assert kernel._shorts == {("cpu", len(arrays)): None}


def test_other_arguments_go_the_ordinary_way() -> None:
    @vyre.kernel
    def kernel(a: In[u32], out: Out[u32]) -> None:
        i = vyre.invocation_id(0)
        out[i] = a[i]

    kernel(X, backend="cpu", workgroups=1)
    kernel(a=X, backend="cpu")
    kernel(X, np.zeros(4, np.uint32), backend="cpu", copy=True)
    kernel(X, backend="cpu", step_limit=10)
    assert kernel._shorts == {}
    assert kernel(X, 8, backend="cpu").shape == (8,)
    assert kernel(X, np.zeros(4, np.uint32), backend="cpu").shape == (4,)
    assert kernel(X, 8, backend="cpu").shape == (8,)  # after a short way for arrays was found


def test_each_backend_has_a_short_way_of_its_own() -> None:
    @vyre.kernel
    def kernel(a: In[u32], out: Out[u32]) -> None:
        i = vyre.invocation_id(0)
        out[i] = a[i]

    for name in ("cpu", "reference", "cpu"):
        with vyre.use(name):
            assert kernel(X).tolist() == X.tolist()
    assert kernel._shorts.keys() == {("cpu", 1), ("reference", 1)}
    assert isinstance(kernel._shorts["cpu", 1], HostCall)
    assert kernel._shorts["reference", 1] is None


def test_threads_share_a_short_way() -> None:
    short = shortened(doubled, X)
    wrong: list[int] = []

    def work(seed: int) -> None:
        for turn in range(200):
            given = np.arange(seed, seed + 100 + turn % 3, dtype=np.uint32)
            if not np.array_equal(short((given,)), given * 2):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
