"""The type of a value in a graph: the type of its elements, and the size of each dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.errors import DispatchError, VyreError
from vyre.graph.sizes import Size, SizeLike, product
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ELEMENTS = (
    DataType.F32,
    DataType.F16,
    DataType.BF16,
    DataType.F64,
    DataType.U32,
    DataType.I32,
    DataType.Bool,
    DataType.I64,
    DataType.I8,
    DataType.U8,
    DataType.I16,
    DataType.U16,
)
"""What a tensor can hold."""

_set = object.__setattr__


@dataclass(frozen=True, slots=True, init=False)
class ValueType:
    """`F32[seq, 64]`: elements and shape. Where they lie in memory is not part of a type."""

    element: DataType
    shape: tuple[Size, ...]

    def __init__(self, element: DataType, shape: Iterable[SizeLike] = ()) -> None:
        if element not in ELEMENTS:
            raise VyreError(
                f"a tensor cannot hold {element.value}.",
                fix=f"use one of {', '.join(e.value for e in ELEMENTS)}.",
            )
        _set(self, "element", element)
        _set(self, "shape", tuple(s if isinstance(s, Size) else Size(s) for s in shape))

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def count(self) -> Size:
        """How many elements."""
        return product(self.shape)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for size in self.shape for name in size.names)

    def resolved(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape in numbers. Raises `DispatchError` where a size would be negative or no u32."""
        shape: list[int] = []
        for size in self.shape:
            value = size.value(sizes)
            if not 0 <= value <= 0xFFFF_FFFF:
                given = ", ".join(f"{name} = {sizes[name]}" for name in sorted(size.names))
                raise DispatchError(
                    f"the dimension {size} of {self} would be {value} for {given}.",
                    fix="pass arrays of other lengths.",
                )
            shape.append(value)
        return tuple(shape)

    def __str__(self) -> str:
        return f"{self.element.value}[{', '.join(map(str, self.shape))}]"

    __repr__ = __str__
