"""The values a definition is written over, and the plainest of them: Python integers.

A `cpu_fn` takes a `Domain` and u32 words of it, and builds its result from the steps below, with vyre's
meaning: arithmetic modulo 2^32, division by zero 0, shift amounts modulo 32, comparisons 0 or 1. The same
function run over integers computes, over arrays computes at scale, over solver terms gives the term that
is proved, and over IR expressions gives a composition a device can run. There is no second copy.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

V = TypeVar("V")

MASK = 0xFFFF_FFFF


class Domain(Protocol[V]):
    """u32 words and the steps on them. `ite` chooses `a` where the condition word is not zero."""

    def const(self, bits: int) -> V: ...
    def add(self, a: V, b: V) -> V: ...
    def sub(self, a: V, b: V) -> V: ...
    def mul(self, a: V, b: V) -> V: ...
    def udiv(self, a: V, b: V) -> V: ...
    def urem(self, a: V, b: V) -> V: ...
    def and_(self, a: V, b: V) -> V: ...
    def or_(self, a: V, b: V) -> V: ...
    def xor(self, a: V, b: V) -> V: ...
    def not_(self, a: V) -> V: ...
    def shl(self, a: V, b: V) -> V: ...
    def shr(self, a: V, b: V) -> V: ...
    def eq(self, a: V, b: V) -> V: ...
    def ne(self, a: V, b: V) -> V: ...
    def ult(self, a: V, b: V) -> V: ...
    def ule(self, a: V, b: V) -> V: ...
    def ite(self, condition: V, a: V, b: V) -> V: ...


class ConcreteDomain:
    """Words as Python integers from 0 to 2^32 - 1."""

    def const(self, bits: int) -> int:
        return bits & MASK

    def add(self, a: int, b: int) -> int:
        return (a + b) & MASK

    def sub(self, a: int, b: int) -> int:
        return (a - b) & MASK

    def mul(self, a: int, b: int) -> int:
        return (a * b) & MASK

    def udiv(self, a: int, b: int) -> int:
        return a // b if b else 0

    def urem(self, a: int, b: int) -> int:
        return a % b if b else 0

    def and_(self, a: int, b: int) -> int:
        return a & b

    def or_(self, a: int, b: int) -> int:
        return a | b

    def xor(self, a: int, b: int) -> int:
        return a ^ b

    def not_(self, a: int) -> int:
        return a ^ MASK

    def shl(self, a: int, b: int) -> int:
        return (a << (b & 31)) & MASK

    def shr(self, a: int, b: int) -> int:
        return a >> (b & 31)

    def eq(self, a: int, b: int) -> int:
        return int(a == b)

    def ne(self, a: int, b: int) -> int:
        return int(a != b)

    def ult(self, a: int, b: int) -> int:
        return int(a < b)

    def ule(self, a: int, b: int) -> int:
        return int(a <= b)

    def ite(self, condition: int, a: int, b: int) -> int:
        return a if condition else b


CONCRETE = ConcreteDomain()
