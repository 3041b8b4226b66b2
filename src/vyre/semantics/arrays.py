"""Words as NumPy arrays of u32: one definition on millions of cases at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint32]
else:
    Words = Any

_FIVE = np.full(1, 31, np.uint32)


class NumpyDomain:
    """Words as uint32 arrays that broadcast. A constant is an array of one, which wraps without a warning."""

    def const(self, bits: int) -> Words:
        return np.array([bits & 0xFFFF_FFFF], np.uint32)

    def add(self, a: Words, b: Words) -> Words:
        return a + b

    def sub(self, a: Words, b: Words) -> Words:
        return a - b

    def mul(self, a: Words, b: Words) -> Words:
        return a * b

    def udiv(self, a: Words, b: Words) -> Words:
        quotient = a // np.maximum(b, np.uint32(1))
        return quotient * (b != 0)

    def urem(self, a: Words, b: Words) -> Words:
        safe = np.maximum(b, np.uint32(1))
        return (a - a // safe * safe) * (b != 0)

    def and_(self, a: Words, b: Words) -> Words:
        return a & b

    def or_(self, a: Words, b: Words) -> Words:
        return a | b

    def xor(self, a: Words, b: Words) -> Words:
        return a ^ b

    def not_(self, a: Words) -> Words:
        return ~a

    def shl(self, a: Words, b: Words) -> Words:
        return np.left_shift(a, b & _FIVE)

    def shr(self, a: Words, b: Words) -> Words:
        return np.right_shift(a, b & _FIVE)

    def eq(self, a: Words, b: Words) -> Words:
        return (a == b).astype(np.uint32)

    def ne(self, a: Words, b: Words) -> Words:
        return (a != b).astype(np.uint32)

    def ult(self, a: Words, b: Words) -> Words:
        return (a < b).astype(np.uint32)

    def ule(self, a: Words, b: Words) -> Words:
        return (a <= b).astype(np.uint32)

    def ite(self, condition: Words, a: Words, b: Words) -> Words:
        # Several plain passes: np.where takes longer than all of them together.
        mask = np.negative((condition != 0).astype(np.uint32))
        return ((a ^ b) & mask) ^ b


NUMPY = NumpyDomain()
