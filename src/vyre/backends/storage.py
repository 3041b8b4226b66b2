"""How each element type lies in arrays: the dtype that holds it, its bits, and the axis of its lanes."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from vyre.errors import DispatchError
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from vyre.ir.buffers import BufferDecl

_T = DataType
STORAGE: dict[DataType, np.dtype[Any]] = {
    _T.U32: np.dtype("<u4"),
    _T.I32: np.dtype("<i4"),
    _T.U64: np.dtype("<u8"),
    _T.Vec2U32: np.dtype("<u4"),
    _T.Vec4U32: np.dtype("<u4"),
    _T.Bool: np.dtype("<u4"),
    _T.Bytes: np.dtype("u1"),
    _T.U128: np.dtype("<u4"),
    _T.F32: np.dtype("<f4"),
    _T.F16: np.dtype("<f2"),
    _T.BF16: np.dtype("<u2"),
    _T.F64: np.dtype("<f8"),
    _T.I8: np.dtype("i1"),
    _T.U8: np.dtype("u1"),
    _T.I16: np.dtype("<i2"),
    _T.U16: np.dtype("<u2"),
    _T.I64: np.dtype("<i8"),
}
LANES = {_T.Vec2U32: 2, _T.Vec4U32: 4, _T.U128: 4}
BOOL = np.dtype("?")

_NAMES = {_T.Vec2U32: "vec2", _T.Vec4U32: "vec4", _T.Bool: "boolean", _T.Bytes: "packed_bytes"}


def holds(element: DataType, dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this dtype hold elements of this type as they are."""
    if dtype == STORAGE[element]:
        return True
    return dtype == BOOL if element is _T.Bool else element is _T.BF16 and dtype.name == "bfloat16"


def bits_of(array: NDArray[Any]) -> list[int]:
    """The bits of every element, in row-major order; a bool of NumPy is 0 or 1."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype == BOOL:
        flat = flat.astype(np.uint8)
    flat = flat.astype(flat.dtype.newbyteorder("<"), copy=False)
    return flat.view(f"<u{flat.itemsize}").tolist()


def array_of_bits(element: DataType, bits: Sequence[int], shape: tuple[int, ...]) -> NDArray[Any]:
    """The elements of these bits, in the dtype that holds them."""
    dtype = STORAGE[element]
    return np.array(bits, f"<u{dtype.itemsize}").view(dtype).reshape(shape)


def sizes_of(shape: Any) -> tuple[int, ...]:
    """A length or a shape that a user gave, as whole numbers."""
    try:
        sizes: tuple[Any, ...] = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
        return tuple(map(operator.index, sizes))
    except TypeError:
        raise DispatchError(
            f"{shape!r} is not a shape that a buffer can have.", fix="pass whole numbers of 0 or more."
        ) from None


def dtype_of(kind: Any) -> np.dtype[Any]:
    """The dtype that a user named."""
    try:
        return np.dtype(kind)
    except TypeError:
        raise DispatchError(
            f"{kind!r} is not a dtype.", fix="pass one of NumPy's, such as np.uint32, or vyre.u32."
        ) from None


def public_name(element: DataType) -> str:
    """The type as a user writes it: `vyre.u32`."""
    return f"vyre.{_NAMES.get(element, element.value.lower())}"


def refuse(decl: BufferDecl, problem: str, fix: str) -> NoReturn:
    """A `DispatchError` about one buffer."""
    raise DispatchError(f"buffer {decl.name!r} {problem}.", fix=fix)
