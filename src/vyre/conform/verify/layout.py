"""u32 words to the elements of buffers and back, for whole arrays of cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.semantics.words import mask_of, word_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from vyre.ir.types import DataType

    Words = NDArray[np.uint32]


def storage_dtype(of: DataType) -> np.dtype[Any]:
    """What one element is for NumPy; lane types have a second axis."""
    return np.dtype(np.uint16 if of.stride == 2 else np.uint32)


def elements(memory: memoryview, of: DataType, count: int) -> NDArray[Any]:
    """`count` elements at the start of a memory, as an array that can be written."""
    array = np.frombuffer(memory, storage_dtype(of), count * word_count(of))
    return array.reshape(count, word_count(of)) if word_count(of) > 1 else array


def pack(target: NDArray[Any], of: DataType, words: Sequence[Words]) -> None:
    """Writes the words of values of a type; bits that the type does not have are cut away."""
    if len(words) > 1:
        for lane, word in enumerate(words):
            target[:, lane] = word
    elif mask_of(of) == 0xFFFF_FFFF:
        target[:] = words[0]
    else:
        np.bitwise_and(words[0], np.uint32(mask_of(of)), out=target, casting="unsafe")


def unpack(source: NDArray[Any], of: DataType) -> tuple[Words, ...]:
    """The words of the elements; views where that is possible."""
    if word_count(of) > 1:
        return tuple(source[:, lane] for lane in range(word_count(of)))
    return (source if source.dtype == np.uint32 else source.astype(np.uint32),)


class Memory:
    """Arrays that are used again for every block: the n-th taken is the same memory each time."""

    def __init__(self, allocate: Any) -> None:
        self._allocate = allocate
        self._slots: list[memoryview] = []
        self._next = 0
        self._second: Memory | None = None

    def another(self) -> Memory:
        """A second set of arrays from the same place; the same one each time."""
        if self._second is None:
            self._second = Memory(self._allocate)
        return self._second

    def reset(self) -> None:
        """Every array taken before may be given out again."""
        self._next = 0

    def take(self, of: DataType, count: int) -> NDArray[Any]:
        nbytes = max(1, count * of.stride)
        if self._next == len(self._slots):
            self._slots.append(self._allocate(nbytes))
        if self._slots[self._next].nbytes < nbytes:
            self._slots[self._next] = self._allocate(nbytes)
        slot = self._slots[self._next]
        self._next += 1
        return elements(slot, of, count)
