"""The value types of the language, and the tensor view that is built over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.ir.closed import ClosedEnum
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence


class DataType(ClosedEnum):
    """A type of values in buffers, expressions and casts (`docs/language.md`, "Types").

    `Bytes` and `STORED_TYPES` are types of buffers alone: what is loaded from them is of another type.
    """

    U32 = "U32"
    I32 = "I32"
    U64 = "U64"
    Vec2U32 = "Vec2U32"
    Vec4U32 = "Vec4U32"
    Bool = "Bool"
    Bytes = "Bytes"
    U128 = "U128"
    F32 = "F32"
    F16 = "F16"
    BF16 = "BF16"
    F64 = "F64"
    I8 = "I8"
    U8 = "U8"
    I16 = "I16"
    U16 = "U16"
    I64 = "I64"

    def min_bytes(self) -> int:
        """Bytes of one value in a buffer; 0 for `Bytes`, which has no fixed size."""
        return _MIN_BYTES[self]

    @property
    def lanes(self) -> int:
        """How many u32 lanes `Lane` and `MakeVec` see; 1 for types that have no lanes."""
        return _LANES.get(self, 1)

    @property
    def is_float(self) -> bool:
        return self in FLOAT_TYPES

    @property
    def bits(self) -> int:
        """Width of one value in bits; 0 for `Bytes`."""
        return 8 * _MIN_BYTES[self]

    @property
    def loaded(self) -> DataType:
        """The type of a value loaded from a buffer of this element type (decisions 16 and 32)."""
        return _LOADED.get(self, self)

    @property
    def stored(self) -> tuple[DataType, ...]:
        """The types of values that a buffer of this element type takes, the loaded one first.

        A narrow element keeps the low bits of a word, so its sign does not matter.
        """
        return _WORDS[self.loaded] if self in NARROW_TYPES else (self.loaded,)

    @property
    def is_value(self) -> bool:
        """Whether a variable, an argument or a result can be of this type."""
        return self is not DataType.Bytes and self not in STORED_TYPES

    @property
    def stride(self) -> int:
        """Bytes from one buffer element to the next: `Bytes` is addressed in u32 words."""
        return _MIN_BYTES[self] or 4


_MIN_BYTES = {
    DataType.U32: 4,
    DataType.I32: 4,
    DataType.U64: 8,
    DataType.Vec2U32: 8,
    DataType.Vec4U32: 16,
    DataType.Bool: 4,
    DataType.Bytes: 0,
    DataType.U128: 16,
    DataType.F32: 4,
    DataType.F16: 2,
    DataType.BF16: 2,
    DataType.F64: 8,
    DataType.I8: 1,
    DataType.U8: 1,
    DataType.I16: 2,
    DataType.U16: 2,
    DataType.I64: 8,
}

_LOADED = {
    DataType.Bytes: DataType.U32,
    DataType.I8: DataType.I32,
    DataType.U8: DataType.U32,
    DataType.I16: DataType.I32,
    DataType.U16: DataType.U32,
    DataType.I64: DataType.U64,
}
_WORDS = {
    DataType.I32: (DataType.I32, DataType.U32),
    DataType.U32: (DataType.U32, DataType.I32),
}

NARROW_TYPES = frozenset({DataType.I8, DataType.U8, DataType.I16, DataType.U16})
"""Integers of less than a word: I8 and I16 are loaded as I32, sign-extended, U8 and U16 as U32."""
STORED_TYPES = NARROW_TYPES | {DataType.I64}
"""Integers that are elements of buffers and never values (decision 32); I64 is loaded as U64."""
SIGNED_TYPES = frozenset({DataType.I8, DataType.I16})
"""Elements whose sign bit is repeated when they are loaded."""
_LANES = {DataType.U64: 2, DataType.Vec2U32: 2, DataType.Vec4U32: 4, DataType.U128: 4}

FLOAT_TYPES = frozenset({DataType.F32, DataType.F16, DataType.BF16, DataType.F64})
LANE_TYPES = frozenset(_LANES)
VALUE_TYPES = tuple(t for t in DataType if t.is_value)
WIDE_LITERAL_TYPES = frozenset({DataType.U64, DataType.U128}) | FLOAT_TYPES
"""Types whose literals are written by bits, with `Literal`."""


@dataclass(frozen=True, slots=True)
class Dim:
    """One tensor dimension: a number known now, or a name resolved at dispatch from a uniform."""

    size: int | str

    def __post_init__(self) -> None:
        if isinstance(self.size, int):
            if isinstance(self.size, bool) or not 0 <= self.size <= 0xFFFF_FFFF:
                raise VyreError(
                    f"tensor dimension {self.size!r} is not a u32.",
                    fix="use a size from 0 to 4294967295, or a name for a dynamic dimension.",
                )
        elif not self.size.isidentifier():
            raise VyreError(
                f"dynamic dimension name {self.size!r} is not an identifier.",
                fix='name it like a variable, for example Dim("seq_len").',
            )

    @property
    def is_dynamic(self) -> bool:
        return isinstance(self.size, str)


@dataclass(frozen=True, slots=True)
class TensorType:
    """A strided view of a flat buffer; strides are in elements, row-major unless given.

    With a dynamic dimension, strides left of it depend on the dispatch: `strides` is then empty
    until `resolve` replaces every name by a number.
    """

    element: DataType
    shape: tuple[Dim, ...]
    strides: tuple[int, ...]

    def __init__(
        self, element: DataType, shape: Sequence[Dim | int | str], strides: Sequence[int] | None = None
    ) -> None:
        if element is DataType.Bytes:
            raise VyreError(
                "a tensor of Bytes has no element size.", fix="use a tensor of U32 words instead."
            )
        dims = tuple(d if isinstance(d, Dim) else Dim(d) for d in shape)
        if strides is not None and len(strides) != len(dims):
            raise VyreError(
                f"got {len(strides)} strides for {len(dims)} dimensions.",
                fix=f"give {len(dims)} strides, or none for row-major order.",
            )
        if strides is not None and any(s < 0 for s in strides):
            raise VyreError(f"negative stride in {tuple(strides)}.", fix="use strides of 0 or more.")
        object.__setattr__(self, "element", element)
        object.__setattr__(self, "shape", dims)
        chosen = tuple(strides) if strides is not None else row_major_strides(dims)
        object.__setattr__(self, "strides", chosen)

    @property
    def is_dynamic(self) -> bool:
        return any(d.is_dynamic for d in self.shape)

    def resolve(self, sizes: dict[str, int]) -> TensorType:
        """The same view with every dynamic dimension replaced by its size."""
        missing = sorted({d.size for d in self.shape if isinstance(d.size, str)} - sizes.keys())
        if missing:
            raise VyreError(
                f"no size for the dynamic dimension {missing[0]!r}.",
                fix=f"pass sizes={{{missing[0]!r}: ...}}.",
            )
        shape = [sizes[d.size] if isinstance(d.size, str) else d.size for d in self.shape]
        return TensorType(self.element, shape, self.strides or None)

    def linear_index(self, index: Sequence[int]) -> int | None:
        """The element of the backing buffer at `index`, or None where it is out of bounds."""
        if self.is_dynamic:
            raise VyreError(
                "a tensor with dynamic dimensions has no addresses yet.", fix="call resolve(sizes) first."
            )
        if len(index) != len(self.shape):
            raise VyreError(
                f"got {len(index)} indices for {len(self.shape)} dimensions.",
                fix=f"give {len(self.shape)} indices.",
            )
        sizes = [d.size for d in self.shape if isinstance(d.size, int)]
        if any(not 0 <= i < n for i, n in zip(index, sizes, strict=True)):
            return None
        return sum(i * s for i, s in zip(index, self.strides, strict=True))


def row_major_strides(shape: tuple[Dim, ...]) -> tuple[int, ...]:
    """Row-major strides of a static shape; empty when a dimension is dynamic."""
    strides: list[int] = []
    step = 1
    for dim in reversed(shape):
        if isinstance(dim.size, str):
            return ()
        strides.append(step)
        step *= dim.size
    return tuple(reversed(strides))
