"""Compositions over halves: computed in F32, rounded once at the end (decision 28)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.ir.types import DataType
from vyre.tensor.applying import FLOAT_FIX

if TYPE_CHECKING:
    from vyre.tensor import Tensor

_HALVES = (DataType.F16, DataType.BF16)


def wide(x: Tensor) -> Tensor:
    """The tensor in F32, exactly. Integers and F64 are refused: these functions are those of F32."""
    if x.element in _HALVES:
        return x.astype(DataType.F32)
    if x.element is not DataType.F32:
        raise VyreError(
            f"functions of networks do not take {x.element.value}.",
            fix=FLOAT_FIX,
        )
    return x


def narrowed(x: Tensor, like: Tensor) -> Tensor:
    """Rounded to the element type of the argument."""
    return x.astype(like.element)
