"""Which atomics a case has, and what they leave and give, in whatever order invocations come.

    places = AtomicPlaces(AtomicOp.Add, count=54, ways=272)
    places.atomic("counters", ID)               the atomic of an invocation
    places.told("counters", ID)                 what it gave, added up at the last location
    places.apply(table, group, ids, words)      the locations afterwards

What a contended atomic gives depends on the order. Where all invocations bring the same to a location, the
values that they get are the same as a whole, and so is their sum; this holds for every second location, the
others get different values and only show what is left. Compare-exchanges succeed at the first kind and fail
at the second. An invocation that has its location for itself looks at what it got.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.shapes.parts.state import S
from vyre.conform.shapes.payload import ODD
from vyre.ir.expr import Atomic, BinOp, LitU32, Select, Var
from vyre.ir.operators import AtomicOp, BinaryOp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.ir.expr import Expr

    Words = NDArray[np.uint32]

_SAME = 0x27D4_EB2F
_ONES = 0xFFFF_FFFF
_FIRST = 0x0001_8003
_UFUNC: dict[AtomicOp, Any] = {
    AtomicOp.Add: np.add,
    AtomicOp.Or: np.bitwise_or,
    AtomicOp.And: np.bitwise_and,
    AtomicOp.Xor: np.bitwise_xor,
    AtomicOp.Min: np.minimum,
    AtomicOp.Max: np.maximum,
}
_FEW = 3
"""Locations from which on the last is kept for the sum of what was given."""


@dataclass(frozen=True, slots=True)
class AtomicPlaces:
    """`count` locations for `ways` invocations, of a workgroup or of all."""

    op: AtomicOp
    count: int
    ways: int

    @property
    def own(self) -> bool:
        """Whether each invocation has a location for itself."""
        return self.count >= self.ways

    @property
    def tally(self) -> bool:
        return not self.own and self.count >= _FEW

    @property
    def used(self) -> int:
        return self.count - self.tally

    @property
    def first(self) -> int:
        """What is at every location before."""
        return _ONES if self.op in (AtomicOp.And, AtomicOp.Min) else _FIRST

    @property
    def _bits(self) -> bool:
        return self.op in (AtomicOp.Or, AtomicOp.And)

    @property
    def _every(self) -> int:
        """Of so many invocations one brings a bit, so that not all bits are set in the end."""
        return max(1, self.ways // self.count // 8)

    def atomic(self, buffer: str, place: Expr) -> Atomic:
        location = place % self.used
        same, other = location * _SAME + 1, self._other(place)
        if self.op is AtomicOp.Exchange:
            return Atomic(self.op, buffer, location, other if self.own else same)
        if self.op is AtomicOp.CompareExchange:
            succeeds = self._succeeds(place)
            never = LitU32(self.first) ^ (LitU32(1) << (place & 31))
            expected = Select(succeeds, LitU32(self.first), never)
            return Atomic(self.op, buffer, location, Select(succeeds, same, S), expected)
        value = Select(location & 1, other, same) if self.tally else other
        return Atomic(self.op, buffer, location, value)

    def _succeeds(self, place: Expr) -> Expr:
        """Which compare-exchanges expect what is there: every second, or the first of all."""
        if self.own or self.tally:
            return (place % self.used & 1).eq(0)
        return place < self.used

    def _other(self, place: Expr) -> Expr:
        """What differs from one invocation to another."""
        if not self._bits:
            return S
        one = Select((place // self.used % self._every).eq(0), LitU32(1) << (S & 31), LitU32(0))
        return one if self.op is AtomicOp.Or else BinOp(BinaryOp.BitXor, one, LitU32(_ONES))

    def told(self, buffer: str, place: Expr) -> Atomic:
        """The sum of what invocations get as a whole, which is `old` of each of them."""
        last: Expr = LitU32(self.count - 1)
        if self.op not in (AtomicOp.Exchange, AtomicOp.CompareExchange):
            last = Select(place % self.used & 1, LitU32(_ONES), last)
        old = Var("old")
        return Atomic(AtomicOp.Add, buffer, last, (old ^ (old >> 15)) * ODD)

    def apply(self, table: Words, group: Any, places: Any, words: Words) -> None:
        """Does the same to `table`, which holds the locations of every group."""
        location, turn = places % self.used, places // self.used
        index = group * self.count + location
        same = (location * _SAME + 1 & _ONES).astype(np.uint32)
        even = location % 2 == 0
        if self.op is AtomicOp.Exchange:
            table[index] = words if self.own else same
        elif self.op is AtomicOp.CompareExchange:
            done = even if self.own or self.tally else places < self.used
            table[index[done]] = same[done]
        else:
            values = self._others(words, turn)
            _UFUNC[self.op].at(table, index, np.where(even, same, values) if self.tally else values)
        if self.tally:
            old = self._given(same, turn, even)
            told = (old ^ old >> np.uint32(15)) * np.uint32(ODD)
            kept = even | (self.op in (AtomicOp.Exchange, AtomicOp.CompareExchange))
            np.add.at(table, (group * self.count + self.count - 1)[kept], told[kept])

    def _others(self, words: Words, turn: Any) -> Words:
        if not self._bits:
            return words
        bits = np.where(turn % self._every == 0, np.uint32(1) << (words & np.uint32(31)), np.uint32(0))
        return bits if self.op is AtomicOp.Or else ~bits

    def _given(self, same: Words, turn: Any, even: Any) -> Words:
        """What the invocation gets that is the `turn`-th at its location, where all bring the same."""
        first = np.uint32(self.first)
        match self.op:
            case AtomicOp.Add:
                return first + turn.astype(np.uint32) * same
            case AtomicOp.Xor:
                return np.where(turn % 2 == 0, first, first ^ same)
            case AtomicOp.Exchange:
                return np.where(turn == 0, first, same)
            case AtomicOp.CompareExchange:
                return np.where((turn == 0) | ~even, first, same)
            case _:
                return np.where(turn == 0, first, _UFUNC[self.op](first, same))
