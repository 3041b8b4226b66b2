"""One bound buffer of a call on arrays: the bytes that a backend sees, and what the caller gets back.

A ReadWrite array that was passed is written where it lies and is itself the result. With `copy` it is left
alone, and the result is a new array. What cannot be written where it lies is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.foreign import note_written
from vyre.backends.storage import BOOL, STORAGE, refuse
from vyre.ir.buffers import BufferAccess
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.ir.buffers import BufferDecl

    Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Slot:
    """The memory that a backend sees, and how it goes back to the caller."""

    decl: BufferDecl
    memory: Array
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    given: Any = None
    """The caller's own object, which is the result; None where the result is a new array."""
    truths: Array | None = None
    """The caller's array of bool, filled after the run: a program sees a word for each truth value."""

    def clear(self) -> None:
        self.memory.fill(0)

    def result(self) -> Any:
        if self.given is not None:
            if self.truths is not None:
                self.truths[...] = self._truth_values()
            note_written(self.given)
            return self.given
        if self.dtype == BOOL:
            return self._truth_values()
        return self.memory.view(self.dtype).reshape(self.shape)

    def _truth_values(self) -> Array:
        return (self.memory.view(STORAGE[DataType.Bool]) != 0).reshape(self.shape)


def slot_of(decl: BufferDecl, given: Any, array: Array, *, copy: bool, zeroed: bool) -> Slot:
    """The buffer for what the caller passed as `given`, whose elements `array` sees.

    `zeroed` says that the contents do not matter: then a copy is made of zeros. Memory that is written where
    it lies is not cleared here, where the call may still be refused.
    """
    if decl.access is not BufferAccess.ReadWrite:
        return _read(decl, array)
    if copy:
        return _copied(decl, np.zeros(array.shape, array.dtype) if zeroed else array)
    return _in_place(decl, given, array)


def _read(decl: BufferDecl, array: Array) -> Slot:
    if decl.element is DataType.Bool and array.dtype == BOOL:
        return _words(decl, array)
    if decl.element is DataType.Bytes and array.nbytes % 4:
        return _padded(decl, array)
    return Slot(decl, _bytes_of(np.ascontiguousarray(array)), array.shape, array.dtype)


def _copied(decl: BufferDecl, array: Array) -> Slot:
    if decl.element is DataType.Bool and array.dtype == BOOL:
        return _words(decl, array)
    if decl.element is DataType.Bytes and array.nbytes % 4:
        return _padded(decl, array)
    return Slot(decl, _bytes_of(np.array(array, order="C")), array.shape, array.dtype)


def _in_place(decl: BufferDecl, given: Any, array: Array) -> Slot:
    fresh = "pass copy=True, which leaves it alone and gives a new array"
    if not array.flags.writeable:
        refuse(decl, "is read-only memory, and the program writes it", f"{fresh}, or pass one that is not.")
    if not array.flags.c_contiguous:
        refuse(decl, "is not contiguous, and the program writes it", f"{fresh}, or pass a contiguous one.")
    if decl.element is DataType.Bytes and array.nbytes % 4:
        whole = -(-array.nbytes // 4) * 4
        refuse(
            decl,
            f"has {array.nbytes} bytes, and the program writes whole words of 4",
            f"pass an array of {whole} bytes, or copy=True, which gives a new one of {whole} bytes.",
        )
    if array.dtype == BOOL:
        words = _words(decl, array)
        return Slot(decl, words.memory, array.shape, array.dtype, given, array)
    return Slot(decl, _bytes_of(array), array.shape, array.dtype, given)


def _words(decl: BufferDecl, array: Array) -> Slot:
    memory = np.ascontiguousarray(array).astype(STORAGE[DataType.Bool])
    return Slot(decl, _bytes_of(memory), array.shape, array.dtype)


def _padded(decl: BufferDecl, array: Array) -> Slot:
    memory = np.concatenate([array.reshape(-1), np.zeros(-array.nbytes % 4, np.uint8)])
    return Slot(decl, memory, memory.shape, array.dtype)


def _bytes_of(array: Array) -> Array:
    return array.reshape(-1).view(np.uint8)
