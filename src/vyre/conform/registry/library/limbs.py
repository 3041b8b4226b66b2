"""Integers of several words, lowest first, over any domain.

Carries are the majority of the highest bits, a difference is a sum with the complement, and a shift goes by
powers of two: none of it as the bodies of the library do it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.semantics.operators import clz as word_clz
from vyre.semantics.operators import ctz as word_ctz
from vyre.semantics.operators import popcount as word_popcount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.semantics.domain import Domain

    D = Domain[Any]
    Limbs = tuple[Any, ...]


def halves(words: Sequence[Any]) -> tuple[Limbs, Limbs]:
    """Two operands of as many words."""
    middle = len(words) // 2
    return tuple(words[:middle]), tuple(words[middle:])


def complement(d: D, a: Limbs) -> Limbs:
    return tuple(d.not_(w) for w in a)


def sum_and_carry(d: D, a: Limbs, b: Limbs, carry: Any) -> tuple[Limbs, Any]:
    """The sum with a carry that comes in, and the one that goes out."""
    found: list[Any] = []
    for x, y in zip(a, b, strict=True):
        total = d.add(d.add(x, y), carry)
        majority = d.or_(d.and_(x, y), d.and_(d.or_(x, y), d.not_(total)))
        carry = d.shr(majority, d.const(31))
        found.append(total)
    return tuple(found), carry


def add(d: D, a: Limbs, b: Limbs) -> Limbs:
    return sum_and_carry(d, a, b, d.const(0))[0]


def sub(d: D, a: Limbs, b: Limbs) -> Limbs:
    return sum_and_carry(d, a, complement(d, b), d.const(1))[0]


def below(d: D, a: Limbs, b: Limbs) -> Any:
    """1 where a < b: of the highest words that differ, one is below the other."""
    less, same = d.const(0), d.const(1)
    for x, y in zip(reversed(a), reversed(b), strict=True):
        less = d.ite(same, d.ult(x, y), less)
        same = d.and_(same, d.eq(x, y))
    return less


def equal(d: D, a: Limbs, b: Limbs) -> Any:
    same = d.const(1)
    for x, y in zip(a, b, strict=True):
        same = d.and_(same, d.eq(x, y))
    return same


def choose(d: D, condition: Any, a: Limbs, b: Limbs) -> Limbs:
    return tuple(d.ite(condition, x, y) for x, y in zip(a, b, strict=True))


def _moved_left(d: D, a: Limbs, bits: int) -> Limbs:
    if bits >= 32:
        lanes = bits // 32
        return (*(d.const(0) for _ in range(lanes)), *a[: len(a) - lanes])
    carried = (d.const(0), *(d.shr(w, d.const(32 - bits)) for w in a[:-1]))
    return tuple(d.or_(d.shl(w, d.const(bits)), c) for w, c in zip(a, carried, strict=True))


def shl(d: D, a: Limbs, amount: Any) -> Limbs:
    """By the amount modulo the number of bits, a power of two at a time."""
    for k in range((32 * len(a)).bit_length() - 1):
        here = d.and_(d.shr(amount, d.const(k)), d.const(1))
        a = choose(d, here, _moved_left(d, a, 1 << k), a)
    return a


def shr(d: D, a: Limbs, amount: Any, filling: Any) -> Limbs:
    """The same to the right; `filling`, 0 or all ones, is what moves in."""
    for k in range((32 * len(a)).bit_length() - 1):
        here = d.and_(d.shr(amount, d.const(k)), d.const(1))
        bits = 1 << k
        if bits >= 32:
            moved = (*a[bits // 32 :], *(filling for _ in range(bits // 32)))
        else:
            above = (*a[1:], filling)
            moved = tuple(
                d.or_(d.shr(w, d.const(bits)), d.shl(h, d.const(32 - bits)))
                for w, h in zip(a, above, strict=True)
            )
        a = choose(d, here, moved, a)
    return a


def sign(d: D, a: Limbs) -> Any:
    """All ones below zero, else 0."""
    return d.sub(d.const(0), d.shr(a[-1], d.const(31)))


def popcount(d: D, a: Limbs) -> Any:
    total = d.const(0)
    for word in a:
        total = d.add(total, word_popcount(d, word))
    return total


def clz(d: D, a: Limbs) -> Any:
    """Word by word from the highest; the next one counts as long as all so far were 0."""
    return _zeros(d, a[::-1], word_clz)


def ctz(d: D, a: Limbs) -> Any:
    return _zeros(d, a, word_ctz)


def _zeros(d: D, a: Limbs, count: Any) -> Any:
    total, empty = d.const(0), d.const(1)
    for word in a:
        total = d.add(total, d.ite(empty, count(d, word), d.const(0)))
        empty = d.and_(empty, d.eq(word, d.const(0)))
    return total


def swapped(d: D, word: Any) -> Any:
    """The bytes of a word in reverse: neighbours change places, then pairs of them."""
    mask, eight = d.const(0x00FF_00FF), d.const(8)
    pairs = d.or_(d.and_(d.shr(word, eight), mask), d.shl(d.and_(word, mask), eight))
    return d.or_(d.shr(pairs, d.const(16)), d.shl(pairs, d.const(16)))
