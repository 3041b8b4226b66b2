"""Memory of large outputs comes back when nobody can see it any more, and not before."""

from __future__ import annotations

import sys
from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre.backends import recycled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux may take back what is held")

COUNT = 1 << 19
F32 = np.dtype(np.float32)


@pytest.fixture(autouse=True)
def nothing_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recycled, "_held", type(recycled._held)())


def address(array: NDArray[Any]) -> int:
    return array.__array_interface__["data"][0]


def test_the_next_array_takes_over() -> None:
    first = recycled.empty((COUNT,), F32)
    place = address(first)
    second = recycled.empty((COUNT,), F32)
    assert address(second) != place
    assert (first.dtype, first.shape) == (F32, (COUNT,))
    del first
    again = recycled.empty((COUNT // 4, 4), np.dtype(np.uint32))
    assert address(again) == place
    assert again.shape == (COUNT // 4, 4)
    assert again.flags.writeable


def part(x: NDArray[Any]) -> Any:
    return x[5:9]


def transposed(x: NDArray[Any]) -> Any:
    return x.reshape(2, -1).T


def of_bytes(x: NDArray[Any]) -> Any:
    return x.view(np.uint8)


@pytest.mark.parametrize("view", [part, memoryview, transposed, of_bytes])
def test_a_view_holds_the_memory(view: Callable[[Any], Any]) -> None:
    made = recycled.empty((COUNT,), F32)
    place, seen = address(made), view(made)
    del made
    assert address(recycled.empty((COUNT,), F32)) != place
    del seen
    assert place in {block.address for block in recycled._held}


def test_little_is_held() -> None:
    arrays = [recycled.empty((recycled.MOST // 16,), F32) for _ in range(6)]
    del arrays
    assert 0 < sum(block.nbytes for block in recycled._held) <= recycled.MOST
    small, large = recycled.empty((10,), F32), recycled.empty((recycled.MOST // 4 + 1,), F32)
    assert small.flags.owndata
    assert large.flags.owndata


def test_what_came_back_last_stays_as_it_is_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[int] = []

    def release(start: int, length: int, advice: int) -> int:
        handed.append(length)
        return 0

    monkeypatch.setattr(recycled, "_release", lambda: release)
    for _ in range(9):
        made = recycled.empty((COUNT,), F32)
        del made
    assert handed == []
    arrays = [recycled.empty((COUNT,), F32) for _ in range(20)]
    del arrays
    assert len(handed) == 20 - recycled.WARM // (4 * COUNT)
    assert sum(block.nbytes for block in recycled._held if block.warm) == recycled.WARM
    large = recycled.empty((recycled.WARM // 4 + 1,), F32)
    del large
    assert not recycled._held[0].warm
    assert sum(block.nbytes for block in recycled._held if block.warm) == recycled.WARM


def test_where_memory_runs_out_what_is_held_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    del (made := [recycled.empty((COUNT,), F32)])[:]
    assert made == []
    assert len(recycled._held) == 1
    plain, room = recycled._Block, iter([False, True])

    def block(nbytes: int) -> Any:
        if not next(room):
            raise MemoryError
        return plain(nbytes)

    monkeypatch.setattr(recycled, "_Block", block)
    assert recycled.empty((8 * COUNT,), F32).shape == (8 * COUNT,)
    assert len(recycled._held) <= 1


@vyre.kernel
def halves(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]) -> None:
    i = vyre.invocation_id(0)
    if i % 2 == 0:
        out[i] = a[i]


@vyre.kernel
def same(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = a[i]


def test_an_output_that_is_not_written_whole_starts_as_zeros() -> None:
    a = np.full(COUNT, 7, np.uint32)
    for _ in range(3):
        assert (same(a) == 7).all()
        found = halves(a)
        assert (found[::2] == 7).all()
        assert not found[1::2].any()


def test_threads_never_get_the_same_memory() -> None:
    a = [np.full(COUNT, k, np.uint32) for k in range(4)]
    wrong: list[int] = []

    def work(k: int) -> None:
        wrong.extend(k for _ in range(20) if not (same(a[k]) == k).all())

    threads = [Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
