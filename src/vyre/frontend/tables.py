"""Constant tables: Python sequences that a kernel indexes with a number it knows only when it runs.

The elements become part of the program. Whole numbers are u32, or i32 where one is negative; other numbers
are f32; an array of NumPy keeps its type.
"""

from __future__ import annotations

from math import prod
from typing import Any

from vyre.frontend.literals import number_bits
from vyre.frontend.values import Refused
from vyre.ir.types import DataType
from vyre.slotted import dataclass

_NUMPY = {
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
    if any(_is_row(v) for v in values):
        raise Refused(
            "a table of tables has no index that is known only when the kernel runs.",
            "make it one array of NumPy and index it with both: "
            f"T = np.array(T, {_dtype(values)}), then T[i, j].",
        )
    plain = [bool(v) if isinstance(v, bool) else v for v in values]
    kind = _kind(plain)
    bits = (number_bits(v, kind) for v in plain)
    return ConstantTable(kind, (len(plain),), b"".join(b.to_bytes(kind.stride, "little") for b in bits))


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


def _dtype(rows: Any) -> str:
    """The one that holds the numbers of a table of tables, for a user to write."""
    flat: list[Any] = []
    left: list[Any] = [*rows]
    while left:
        item = left.pop()
        if _is_row(item):
            left.extend(item)
        else:
            flat.append(item)
    if all(isinstance(v, int) for v in flat):
        return "np.int32" if any(v < 0 for v in flat) else "np.uint32"
    return "np.float32"


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
    return ConstantTable(kind, shape, values.astype(values.dtype.newbyteorder("<")).tobytes())
