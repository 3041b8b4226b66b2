"""Elements that are not values: what a kernel may do with i8, u8, i16, u16 and i64, which live in buffers.

A load gives an i32, u32 or u64. A store keeps the low bits of a word of either sign; a number that is written
out must fit, because one that does not is a mistake.
"""

from __future__ import annotations

from vyre.frontend.operators import coerce, constant, number
from vyre.frontend.retyping import type_name
from vyre.frontend.values import Const, Operand, Refused, Value
from vyre.ir.types import NARROW_TYPES, STORED_TYPES, DataType


def not_a_value(t: DataType) -> tuple[str, str]:
    """The words for an element type where the type of a value is meant."""
    name = type_name(t)
    return (
        f"{name} is a type of buffer elements; a value in a kernel cannot have it.",
        f"use {type_name(t.loaded)}; a store into a buffer of {name} keeps its low {t.bits} bits.",
    )


def require_value(t: DataType) -> DataType:
    """Refuses an element type where the type of a value is meant."""
    if t in STORED_TYPES:
        raise Refused(*not_a_value(t))
    return t


def element_value(operand: Operand, element: DataType, what: str) -> Value:
    """The operand as what a store into a buffer of `element` takes."""
    if element not in STORED_TYPES:
        return coerce(operand, element.loaded, what)
    if isinstance(operand, Const) and isinstance(operand.value, int):
        return _fitting(int(operand.value), element)
    if element in NARROW_TYPES and not isinstance(operand, Const):
        value = number(operand)
        if value.type in element.stored:
            return value
    return coerce(operand, element.loaded, what)


def _fitting(given: int, element: DataType) -> Value:
    signed = element.value.startswith("I")
    low = -(1 << element.bits - 1) if signed else 0
    high = (1 << element.bits - signed) - 1
    if not low <= given <= high:
        kept = given & ((1 << element.bits) - 1)
        kept -= (1 << element.bits) if kept > high else 0
        raise Refused(
            f"{given} does not fit in {type_name(element)}, which holds {low} to {high}.",
            f"write {kept}, which is its low {element.bits} bits, or use a wider element.",
        )
    wide = element.loaded
    return constant(Const(given if wide is DataType.I32 else given & ((1 << wide.bits) - 1)), wide)
