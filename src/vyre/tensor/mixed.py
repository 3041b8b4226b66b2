"""Two element types where one is wanted: the error names a cast that keeps every value, if there is one."""

from __future__ import annotations

from vyre.errors import VyreError
from vyre.ir.float_formats import FORMATS
from vyre.ir.types import DataType


def mixed(left: DataType, right: DataType, where: str = "") -> VyreError:
    """The error for tensors of two element types; `where` is more about them."""
    return VyreError(f"{left.value} beside {right.value}{where}.", fix=_cast(left, right))


def _cast(left: DataType, right: DataType) -> str:
    for wide, narrow in ((left, right), (right, left)):
        if _holds(wide, narrow):
            return f"cast the {narrow.value} tensor: x.astype({_name(wide)}) keeps every value."
    return (
        f"cast one of them: x.astype({_name(left)}) or x.astype({_name(right)}); "
        "each changes the values that its type does not hold."
    )


def _name(element: DataType) -> str:
    return f"vyre.{element.value.lower()}"


def _holds(wide: DataType, narrow: DataType) -> bool:
    """Whether every value of one element type is one of the other."""
    if narrow.is_float:
        fits = wide.is_float and FORMATS[wide].bias >= FORMATS[narrow].bias
    else:
        fits = wide.is_float or _signed(wide) >= _signed(narrow)
    return fits and _digits(wide) >= _digits(narrow)


def _signed(element: DataType) -> bool:
    return element.value[0] == "I"


def _digits(element: DataType) -> int:
    """The bits of the greatest number up to which the type has all."""
    if element.is_float:
        return FORMATS[element].fraction_bits + 1
    return 1 if element is DataType.Bool else element.bits - _signed(element)
