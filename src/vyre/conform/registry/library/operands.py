"""How the operands of the library's ops are covered: classes that hold every input, and boundaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.registry.library.limbs import below, choose, equal, halves
from vyre.conform.spec.edges import MAX, TOP
from vyre.conform.spec.op import EquivalenceClass

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain

    D = Domain[Any]

FEW = (0, 1, TOP - 1, TOP, MAX)
"""What is crossed where an op has many operand words."""

AMOUNTS = (0, 1, 5, 31, 32, 33, 63, 64, 65, 95, TOP, MAX)
"""Shift amounts within a word, on its edge, within two words, and beyond."""

ONE_WORD = tuple(sorted({v & MAX for k in range(33) for v in ((1 << k) - 1, 1 << k, (1 << k) + 1)}))
"""Every power of two and its neighbours."""


def whole() -> EquivalenceClass:
    """Every input."""

    def contains(d: D, *words: Any) -> Any:
        return d.const(1)

    def same(d: D, *words: Any) -> Any:
        return words

    return EquivalenceClass("any", contains, same)


def zero(count: int) -> EquivalenceClass:
    """The first operand, of so many words, is 0."""

    def contains(d: D, *words: Any) -> Any:
        every = words[0]
        for word in words[1:count]:
            every = d.or_(every, word)
        return d.eq(every, d.const(0))

    def sample(d: D, *words: Any) -> Any:
        return (*(d.const(0) for _ in range(count)), *words[count:])

    return EquivalenceClass("the first is 0", contains, sample)


def negative(at: int) -> EquivalenceClass:
    """The highest bit of one word is set."""

    def contains(d: D, *words: Any) -> Any:
        return d.shr(words[at], d.const(31))

    def sample(d: D, *words: Any) -> Any:
        return (*words[:at], d.or_(words[at], d.const(TOP)), *words[at + 1 :])

    return EquivalenceClass(f"bit 31 of word {at} is set", contains, sample)


def beyond(at: int, width: int) -> EquivalenceClass:
    """An amount of `width` or more."""

    def contains(d: D, *words: Any) -> Any:
        return d.ule(d.const(width), words[at])

    def sample(d: D, *words: Any) -> Any:
        large = d.ite(d.ult(words[at], d.const(width)), d.add(words[at], d.const(width)), words[at])
        return (*words[:at], large, *words[at + 1 :])

    return EquivalenceClass(f"word {at} is {width} or more", contains, sample)


def pair() -> tuple[EquivalenceClass, ...]:
    """Two operands of one type: any, equal, below, and equal but for their lowest words."""

    def is_equal(d: D, *words: Any) -> Any:
        return equal(d, *halves(words))

    def made_equal(d: D, *words: Any) -> Any:
        a, _ = halves(words)
        return (*a, *a)

    def is_below(d: D, *words: Any) -> Any:
        return below(d, *halves(words))

    def made_below(d: D, *words: Any) -> Any:
        a, b = halves(words)
        # Lowest bits that differ leave no two equal.
        a = (d.and_(a[0], d.const(MAX - 1)), *a[1:])
        b = (d.or_(b[0], d.const(1)), *b[1:])
        less = below(d, a, b)
        return (*choose(d, less, a, b), *choose(d, less, b, a))

    def differ_low(d: D, *words: Any) -> Any:
        a, b = halves(words)
        return d.and_(equal(d, a[1:], b[1:]), d.ne(a[0], b[0]))

    def made_near(d: D, *words: Any) -> Any:
        a, b = halves(words)
        return (*a, d.ite(d.eq(a[0], b[0]), d.xor(a[0], d.const(1)), b[0]), *a[1:])

    return (
        whole(),
        EquivalenceClass("a = b", is_equal, made_equal),
        EquivalenceClass("a < b", is_below, made_below),
        EquivalenceClass("a and b differ in their lowest words", differ_low, made_near),
    )
