"""Values as u32 words: how many a type takes, and which words are values of it.

A lane type and F64 are their u32 lanes, lane 0 first. Bool is one word, 0 or 1; F16 and BF16 are one word
below 2^16; every other word is a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vyre.semantics.domain import Domain, V

_MASKS = {DataType.Bool: 1, DataType.F16: 0xFFFF, DataType.BF16: 0xFFFF}


def word_count(of: DataType) -> int:
    """How many u32 words a value of the type takes."""
    return max(1, of.bits // 32)


def mask_of(of: DataType) -> int:
    """The bits that a word of the type may have set."""
    return _MASKS.get(of, 0xFFFF_FFFF)


def masks(types: Iterable[DataType]) -> tuple[int, ...]:
    """The mask of every word of these values, in order."""
    return tuple(mask_of(t) for t in types for _ in range(word_count(t)))


def fit(d: Domain[V], word: V, mask: int) -> V:
    """The word with only the bits of its type; all of them where nothing is cut away."""
    return word if mask == 0xFFFF_FFFF else d.and_(word, d.const(mask))


def split(types: Sequence[DataType], words: Sequence[V]) -> tuple[tuple[V, ...], ...]:
    """One tuple of words per value."""
    parts: list[tuple[V, ...]] = []
    at = 0
    for of in types:
        parts.append(tuple(words[at : at + word_count(of)]))
        at += word_count(of)
    return tuple(parts)


def to_words(of: DataType, bits: int) -> tuple[int, ...]:
    """A value's bits as words; lane 0 is the low 32 bits."""
    return tuple((bits >> 32 * k) & 0xFFFF_FFFF for k in range(word_count(of)))


def to_bits(words: Sequence[int]) -> int:
    return sum(word << 32 * k for k, word in enumerate(words))
