"""What the bits of an element mean: an integer, a place in an order, a value in another type."""

from __future__ import annotations

from vyre.ir.types import DataType
from vyre.reference.floats import FORMATS, change_format
from vyre.reference.floats.compare import order_key
from vyre.reference.floats.formats import is_nan

_SIGNED = frozenset({DataType.I8, DataType.I16, DataType.I32, DataType.I64})


def integer(element: DataType, bits: int) -> int:
    """The number that an integer element is."""
    if element in _SIGNED and bits >> (element.bits - 1):
        return bits - (1 << element.bits)
    return bits


def least(element: DataType) -> int:
    """The bits of -Inf, or of the least integer."""
    if element.is_float:
        return FORMATS[element].sign | FORMATS[element].infinity
    return 1 << (element.bits - 1) if element in _SIGNED else 0


def greatest(element: DataType) -> int:
    """The bits of +Inf, or of the greatest integer."""
    if element.is_float:
        return FORMATS[element].infinity
    if element is DataType.Bool:
        return 1
    return (1 << (element.bits - (element in _SIGNED))) - 1


def rank(element: DataType, bits: int) -> tuple[bool, int]:
    """A key by which elements are ordered: NaN is the greatest, all NaNs are equal, and so are both zeros."""
    if not element.is_float:
        return False, integer(element, bits)
    form = FORMATS[element]
    return (True, 0) if is_nan(form, bits) else (False, order_key(form, bits))


def converted(source: DataType, target: DataType, bits: int) -> int:
    """The value of an element as another float, rounded once, or as another integer, by its low bits.

    The same type keeps its bits, those of a NaN too.
    """
    if source is target:
        return bits
    if source.is_float:
        return change_format(FORMATS[source], FORMATS[target], bits)
    return integer(source, bits) & ((1 << target.bits) - 1)
