"""Memory of large outputs, used again: what a result leaves behind when it is dropped, the next takes over.

A system clears fresh memory page by page, which takes about as long as a kernel needs to write it. So arrays
that a kernel writes from end to end come from here, and their memory comes back when the last view of them is
gone. Little is held back. What came back last stays as it is, so that a loop of calls finds it in the caches;
the system may take the rest at any moment without asking.
"""

from __future__ import annotations

import ctypes
import sys
from collections import deque
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

LEAST = 1 << 20
"""Bytes of an array below which fresh memory is as quick."""

MOST = 1 << 28
"""Bytes that are held back at most."""

WARM = 1 << 25
"""Bytes of those that stay as they are: to hand 4 MiB over and write them again takes 50 to 130 us longer."""

_PAGE = 4096
_FREE = 8
"""MADV_FREE of Linux: the pages may go, and those that are written to stay."""


class _Block:
    """Memory that is lent to one array at a time."""

    __slots__ = ("address", "memory", "nbytes", "warm")

    def __init__(self, nbytes: int) -> None:
        self.warm = True
        """Whether the system cannot take it."""
        self.memory = np.empty(nbytes, np.uint8)
        self.nbytes = nbytes
        self.address: int = self.memory.__array_interface__["data"][0]


class _Lent:
    """What an array holds on to instead of memory of its own; when it dies, so have all views."""

    __slots__ = ("__array_interface__", "_block")

    def __init__(self, block: _Block, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._block = block
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": dtype.str,
            "data": (block.address, False),
        }

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():
            _give_back(self._block)


_held: deque[_Block] = deque()
"""The one that came back last is at the end. Each step on it is atomic: `__del__` may run anywhere."""


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Like `np.empty`."""
    nbytes = dtype.itemsize
    for length in shape:
        nbytes *= length
    if not LEAST <= nbytes <= MOST:
        return np.empty(shape, dtype)
    return np.asarray(_Lent(_taken(nbytes), shape, dtype))


def _taken(nbytes: int) -> _Block:
    for block in reversed(tuple(_held)):
        if nbytes <= block.nbytes <= nbytes + nbytes // 4:
            try:
                _held.remove(block)
            except (ValueError, IndexError):  # another thread was quicker
                continue
            return block
    try:
        return _Block(nbytes)
    except MemoryError:
        _held.clear()
        return _Block(nbytes)


def _give_back(block: _Block) -> None:
    release = _release()
    if release is None:
        return
    block.warm = True
    _held.append(block)
    warm = 0
    for other in reversed(tuple(_held)):
        if other.warm and warm + other.nbytes > WARM:
            _cool(other, release)
        elif other.warm:
            warm += other.nbytes
    while sum(b.nbytes for b in tuple(_held)) > MOST:
        try:
            _held.popleft()
        except IndexError:
            return


def _cool(block: _Block, release: Callable[[int, int, int], int]) -> None:
    """Hands a block that is held over to the system, unless another thread has taken it."""
    try:
        _held.remove(block)
    except (ValueError, IndexError):
        return
    start = -(-block.address // _PAGE) * _PAGE
    end = (block.address + block.nbytes) // _PAGE * _PAGE
    block.warm = False
    if not release(start, end - start, _FREE):
        _held.appendleft(block)


@cache
def _release() -> Callable[[int, int, int], int] | None:
    """Tells the system that what lies there is of no use; where it has no such call nothing is held back."""
    if sys.platform != "linux":
        return None
    call = ctypes.CDLL(None).madvise
    call.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return call
