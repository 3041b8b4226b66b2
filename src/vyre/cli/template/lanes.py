"""What the generated code calls: memory, casts and the operators that NumPy has no sign for.

A value of one word is an array of u32 with one element for each invocation, or with one element for all of
them. A value of several words is such an array for each word, lowest first.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vyre import AtomicOp, BufferAccess, BufferDecl, DataType
from vyre.ir.types import SIGNED_TYPES

Words = NDArray[np.uint32]
Mask = NDArray[np.bool_]
U32 = np.uint32


@cache
def word(value: int) -> Words:
    """A value that all invocations share; made once, since loops ask for the same ones again and again."""
    shared = np.array([value & 0xFFFFFFFF], U32)
    shared.flags.writeable = False
    return shared


def u32(values: Any) -> Words:
    return values.astype(U32)


def vector(*words: Words) -> Words:
    return np.stack(np.broadcast_arrays(*words))


def div(a: Words, b: Words) -> Words:
    return np.where(b == 0, U32(0), a // np.maximum(b, U32(1)))


def mod(a: Words, b: Words) -> Words:
    return np.where(b == 0, U32(0), a % np.maximum(b, U32(1)))


def mul_hi(a: Words, b: Words) -> Words:
    return u32((a.astype(np.uint64) * b.astype(np.uint64)) >> np.uint64(32))


def popcount(a: Words) -> Words:
    return u32(np.bitwise_count(a))


def ctz(a: Words) -> Words:
    return popcount(~a & (a - U32(1)))


def clz(a: Words) -> Words:
    for shift in (1, 2, 4, 8, 16):
        a = a | (a >> U32(shift))
    return popcount(~a)


def reverse(a: Words) -> Words:
    for shift, low in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0xFFFF)):
        a = ((a >> U32(shift)) & U32(low)) | ((a & U32(low)) << U32(shift))
    return a


def zero_extend(a: Words, words: int) -> Words:
    low = a.reshape(-1, a.shape[-1])
    return np.concatenate([low, np.zeros((words - len(low), a.shape[-1]), U32)])


def sign_extend(a: Words, words: int) -> Words:
    return np.stack([a, *[U32(0) - (a >> U32(31))] * (words - 1)])


class LaneMemory:
    """A buffer. Workgroups and invocations have copies of their own, which lie behind each other."""

    def __init__(self, decl: BufferDecl, cells: NDArray[Any], base: Any, count: int) -> None:
        self.cells = cells
        self.base = base
        self.count = count
        self._is_bool = decl.element is DataType.Bool

    def load(self, index: Words) -> Words:
        """Out of bounds gives 0."""
        inside = index < self.count
        if not inside.any():
            return word(0) if self.cells.ndim == 1 else zero_extend(word(0), self.cells.shape[1])
        found = self.cells[self.base + np.where(inside, index, U32(0))].T
        found = (found != 0) if self._is_bool else found
        return np.where(inside, u32(found), U32(0))

    def store(self, index: Words, value: Words, mask: Mask) -> None:
        """Out of bounds does nothing."""
        inside = mask & (index < self.count)
        place = np.broadcast_to(self.base + index, inside.shape)[inside]
        value = np.broadcast_to(value, (*value.shape[:-1], *inside.shape))
        self.cells[place] = value[..., inside].T.astype(self.cells.dtype)

    def atomic(self, op: AtomicOp, mask: Mask, index: Words, value: Words, expected: Words) -> Words:
        """One invocation after the other; each gets the value before its own turn, and 0 out of bounds."""
        before = np.zeros(mask.shape, U32)
        places, values, wanted = (
            np.broadcast_to(x, mask.shape) for x in (self.base + index, value, expected)
        )
        for lane in np.flatnonzero(mask & (index < self.count)):
            place, new = places[lane], int(values[lane])
            old = int(self.cells[place])
            before[lane] = old
            self.cells[place] = _after(op, old, new, int(wanted[lane]))
        return before


def _after(op: AtomicOp, old: int, new: int, expected: int) -> int:
    match op:
        case AtomicOp.Add:
            return (old + new) & 0xFFFFFFFF
        case AtomicOp.Or:
            return old | new
        case AtomicOp.And:
            return old & new
        case AtomicOp.Xor:
            return old ^ new
        case AtomicOp.Min:
            return min(old, new)
        case AtomicOp.Max:
            return max(old, new)
        case AtomicOp.Exchange:
            return new
        case AtomicOp.CompareExchange:
            return new if old == expected else old


def bound(decl: BufferDecl, data: memoryview | bytes) -> LaneMemory:
    """Memory of the host: one copy for everybody."""
    cells = _cells(decl, np.frombuffer(data, _dtype(decl)))
    return LaneMemory(decl, cells, 0, len(cells))


def own(decl: BufferDecl, groups: int, in_group: int) -> LaneMemory:
    """Zeros for each workgroup or for each invocation."""
    lane = np.arange(groups * in_group)
    owner = lane if decl.access is BufferAccess.Private else lane // in_group
    copies = int(owner[-1]) + 1
    words = decl.count * copies * decl.element.stride // _dtype(decl).itemsize
    cells = _cells(decl, np.zeros(words, _dtype(decl)))
    return LaneMemory(decl, cells, owner * decl.count, decl.count)


def _dtype(decl: BufferDecl) -> np.dtype[Any]:
    size = min(decl.element.stride, 4)
    return np.dtype(f"<{'i' if decl.element in SIGNED_TYPES else 'u'}{size}")


def _cells(decl: BufferDecl, flat: NDArray[Any]) -> NDArray[Any]:
    words = decl.element.stride // 4
    return flat.reshape(-1, words) if words > 1 else flat
