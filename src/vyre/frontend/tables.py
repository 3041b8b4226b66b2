"""Constant tables: Python sequences that a kernel indexes with a number it knows only when it runs.

The elements become part of the program. Whole numbers are u32, or i32 where one is negative; other numbers
are f32; an array of NumPy keeps its type, or has the one that loads of its elements give. Rows of one length
are the dimensions of one table.
"""

from __future__ import annotations

import numbers
from math import prod
from typing import Any

from vyre.frontend.literals import number_bits, python_float
from vyre.frontend.values import Refused
from vyre.ir.types import DataType
from vyre.slotted import dataclass

_NUMPY = {
    "uint8": DataType.U32,
    "uint16": DataType.U32,
    "int8": DataType.I32,
    "int16": DataType.I32,
    "uint32": DataType.U32,
    "int32": DataType.I32,
    "uint64": DataType.U64,
    "float16": DataType.F16,
    "float32": DataType.F32,
    "float64": DataType.F64,
}


@dataclass(frozen=True, slots=True)
class ConstantTable:
    """The elements of a sequence, as a buffer would hold them."""

    element: DataType
    shape: tuple[int, ...]
    data: bytes


def table_of(values: Any) -> ConstantTable:
    """A list, tuple or array as a table. Raises `Refused` for what has no single type."""
    if not len(values):
        raise Refused("an empty table has no elements.", "leave out what reads it.")
    if hasattr(values, "dtype"):
        return _of_array(values)
    shape, items = _flat(values)
    plain = [_plain(v) for v in items]
    kind = _kind(plain)
    bits = (number_bits(v, kind) for v in plain)
    return ConstantTable(kind, shape, b"".join(b.to_bytes(kind.stride, "little") for b in bits))


def _flat(values: Any) -> tuple[tuple[int, ...], list[Any]]:
    """The dimensions of rows in rows, and the numbers in them."""
    shape: list[int] = []
    level: list[Any] = [values]
    while level and all(map(_is_row, level)):
        lengths = sorted({len(row) for row in level})
        if len(lengths) > 1:
            raise Refused(
                f"the rows of a table have {lengths[0]} and {lengths[-1]} elements.",
                f"make all its rows {lengths[-1]} long.",
            )
        shape.append(lengths[0])
        level = [item for row in level for item in row]
    if any(map(_is_row, level)) or not level:
        raise Refused("a table has numbers beside rows, or no numbers.", "make all its rows alike.")
    return tuple(shape), level


def _plain(item: Any) -> Any:
    """A number of NumPy's as Python's own."""
    if isinstance(item, (bool, int, float)):
        return item
    if isinstance(item, numbers.Integral):
        return int(item)
    return python_float(item) if isinstance(item, numbers.Real) else item


def _kind(values: list[Any]) -> DataType:
    if all(isinstance(v, bool) for v in values):
        return DataType.Bool
    if all(isinstance(v, int) for v in values):
        return DataType.I32 if any(v < 0 for v in values) else DataType.U32
    if all(isinstance(v, (int, float)) for v in values):
        return DataType.F32
    odd = next(v for v in values if not isinstance(v, (int, float)))
    raise Refused(f"the table holds {odd!r}, which is not a number.", "use numbers of one kind.")


def _is_row(item: Any) -> bool:
    return isinstance(item, (list, tuple, bytes)) or (hasattr(item, "__len__") and hasattr(item, "dtype"))


def _of_array(values: Any) -> ConstantTable:
    shape = tuple(int(n) for n in values.shape)
    name = str(values.dtype.name)
    if name == "bool":
        words = (int(bool(v)).to_bytes(4, "little") for v in values.reshape(-1))
        return ConstantTable(DataType.Bool, shape, b"".join(words))
    kind = _NUMPY.get(name)
    if kind is None or not prod(shape):
        raise Refused(
            f"an array of {name} cannot be a table in a kernel.",
            "make it one of a kernel's types outside of it: T = vyre.array(T, u32), which raises where a "
            "number would change.",
        )
    stored = (
        f"<u{kind.stride}" if kind is DataType.U32 else f"<i{kind.stride}" if kind is DataType.I32 else None
    )
    return ConstantTable(kind, shape, values.astype(stored or values.dtype.newbyteorder("<")).tobytes())
