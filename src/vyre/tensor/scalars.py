"""Numbers beside tensors: a Python number becomes a literal of the tensor's own type, or is refused."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from vyre.errors import VyreError
from vyre.ir.expr import LitBool, Literal, LitI32, LitU32, u64
from vyre.ir.float_bits import converted, double_bits, nearest_bits
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.ir.expr import Expr

_T = DataType
_RANGES = {
    _T.U32: (0, (1 << 32) - 1),
    _T.I32: (-(1 << 31), (1 << 31) - 1),
    _T.U64: (-(1 << 63), (1 << 63) - 1),
}
"""What fits: U64 holds the bits of an I64."""


def literal(value: float | bool, kind: DataType) -> Expr:
    """A number as a value of type `kind`; floats round to nearest, integers must fit."""
    if isinstance(value, np.generic):
        value = cast("float", value.item())
    if not isinstance(value, (int, float)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise VyreError(
            f"{type(value).__name__} beside a tensor.",
            fix="use a number; an array is an argument of the function, or vyre.tensor.constant(array).",
        )
    if kind.is_float:
        return Literal(kind, float_bits(value, kind))
    if kind is _T.Bool:
        if value not in (0, 1):
            raise VyreError(f"{value!r} beside a tensor of Bool.", fix="use True or False.")
        return LitBool(bool(value))
    shown = "I64" if kind is _T.U64 else kind.value
    if isinstance(value, float) and not value.is_integer():
        raise VyreError(
            f"{value!r} beside a tensor of {shown}.",
            fix="use a whole number, or make the tensor one of floats with astype(vyre.f32).",
        )
    number = int(value)
    low, high = _RANGES.get(kind, (0, -1))
    if not low <= number <= high:
        raise VyreError(
            f"{value!r} is not a value of {shown}.",
            fix="use a number that fits, or cast the tensor first.",
        )
    if kind is _T.U64:
        return u64(number & ((1 << 64) - 1))
    return LitI32(number) if kind is _T.I32 else LitU32(number)


def float_bits(value: float, kind: DataType) -> int:
    """The bits of the nearest float of this type; a whole number of any length is rounded once too."""
    if isinstance(value, int):
        return nearest_bits(kind, abs(value), 1, negative=value < 0)
    return converted(_T.F64, double_bits(float(value)), kind)


def known_array(values: Any) -> NDArray[Any]:
    """Numbers in lists, or an array, as NumPy's."""
    try:
        return np.asarray(values)
    except ValueError:
        raise VyreError(
            "a list has rows of different lengths, or holds what is no number.",
            fix="make all rows equally long, of numbers alone.",
        ) from None


def element_bits(value: float | bool, element: DataType) -> int:
    """The bits of one element in a buffer."""
    if isinstance(value, np.generic):
        value = cast("float", value.item())
    if not isinstance(value, (int, float)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise VyreError(f"{value!r} is not a number.", fix="use a number, or broadcast a tensor instead.")
    if element.is_float:
        return float_bits(value, element)
    number = int(value) if isinstance(value, int) or isfinite(value) else 0
    if number != value or not -(1 << (element.bits - 1)) <= number < 1 << element.bits:
        raise VyreError(f"{value!r} is not a value of {element.value}.", fix="use a number that fits.")
    return number & ((1 << element.bits) - 1)
