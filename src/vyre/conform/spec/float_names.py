"""Ids of the float operations (decision 20): `float.add`, `float.f16.add`, `float.convert.f32.i32.floor`."""

from __future__ import annotations

from vyre.ir.types import DataType

PREFIX = "float."
_SPELLED = {"FMulAdd": "fma", "FIsNaN": "is_nan", "FIsInf": "is_inf"}


def name_of(name: str, of: DataType) -> str:
    """The id of an operation in a format; F32 goes without its name."""
    return f"float.{name}" if of is DataType.F32 else f"float.{of.value.lower()}.{name}"


def short(op: str) -> str:
    """`add` for `FAdd`."""
    return _SPELLED.get(op, op[1:].lower())


def convert_id(kinds: list[str]) -> str:
    """Of a conversion between the kinds, the mode last."""
    return ".".join(["float.convert", *(k.lower() for k in kinds)])


def is_float(op_id: str) -> bool:
    """Whether the op is a strict float operation; casts are not among them."""
    return op_id.startswith(PREFIX)
