"""Elements of less than a word in WGSL: where one lies in its word, and how it becomes a value."""

from __future__ import annotations

from vyre.ir.types import SIGNED_TYPES, DataType

PACKED = frozenset(t for t in DataType if t.stride < 4)
"""Elements that share a word where the host or the program supplies their bytes."""


def word_of(element: DataType) -> str:
    """The index of the word that holds element `i`."""
    return "i >> 1u" if element.stride == 2 else "i >> 2u"


def shift_of(element: DataType) -> str:
    """Where element `i` begins in its word."""
    return "(i & 1u) << 4u" if element.stride == 2 else "(i & 3u) << 3u"


def mask_of(element: DataType) -> str:
    return f"{(1 << element.bits) - 1}u"


def taken_from(word: str, element: DataType) -> str:
    """The value of element `i`, whose word this is."""
    return widened(f"({word} >> ({shift_of(element)})) & {mask_of(element)}", element)


def widened(low: str, element: DataType) -> str:
    """The value of an element from its bits, of which none is set above its width."""
    if element not in SIGNED_TYPES:
        return low
    sign = 1 << element.bits - 1
    return f"(({low}) ^ {sign}u) - {sign}u"
