"""The order of keys: how any supported type becomes unsigned words that compare as its values do.

Floats are in IEEE's total order, by their bits: -NaN, -Inf, … -0, +0, … +Inf, +NaN. Keys stay as they are in
memory; only what is compared, or cut into digits, is mapped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vyre.errors import DispatchError
from vyre.ir.expr import Expr, Lane, LitU32, Select
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from typing import Any

U32, U64 = DataType.U32, DataType.U64
_ONES, _TOP = 0xFFFF_FFFF, 0x8000_0000
_SIGN = LitU32(_TOP)
_KINDS = {
    "uint32": U32,
    "int32": DataType.I32,
    "float32": DataType.F32,
    "uint64": U64,
    "int64": DataType.I64,
    "float64": DataType.F64,
}


@dataclass(frozen=True, slots=True)
class Order:
    """Keys of one type, ascending or descending."""

    element: DataType
    descending: bool = False
    numeric: bool = False
    """Floats by value: NaN of any bits is greatest, and -0 is 0."""

    def __post_init__(self) -> None:
        if not isinstance(self.descending, (bool, np.bool_)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DispatchError(f"descending is {self.descending!r}, not a bool.", fix="pass True or False.")

    @property
    def carrier(self) -> DataType:
        """The unsigned type as which programs see the keys."""
        return carrier_of(self.element)

    def words(self, key: Expr) -> tuple[Expr, ...]:
        """The words of a key, lowest first, such that keys compare as the words do."""
        low = () if self.carrier is U32 else (Lane(key, 0),)
        high: Expr = key if self.carrier is U32 else Lane(key, 1)
        if self.element in (DataType.I32, DataType.I64):
            high = high ^ _SIGN
        elif self.element.is_float:
            if self.numeric:
                low, high = self._by_value(low, high)
            negative = LitU32(0) - (high >> LitU32(31))
            low = tuple(word ^ negative for word in low)
            high = high ^ (negative | _SIGN)
        found = (*low, high)
        return tuple(~word for word in found) if self.descending else found

    def _by_value(self, low: tuple[Expr, ...], high: Expr) -> tuple[tuple[Expr, ...], Expr]:
        """The words of the one NaN and the one zero in place of all others."""
        infinity = LitU32(0x7F80_0000 if self.carrier is U32 else 0x7FF0_0000)
        size, rest = high & LitU32(_TOP - 1), low[0].ne(0) if low else LitU32(0)
        nan = (size > infinity) | (size.eq(infinity) & rest)
        zero = size.eq(0) & rest.eq(0)
        plain = Select(nan, LitU32(_TOP - 1), Select(zero, LitU32(0), high))
        return tuple(Select(nan, LitU32(_ONES), word) for word in low), plain

    def less(self, left: Expr, right: Expr) -> Expr:
        """1 where `left` comes before `right`."""
        below: Expr | None = None
        for a, b in zip(self.words(left), self.words(right), strict=True):
            below = a < b if below is None else (a < b) | (a.eq(b) & below)
        assert below is not None
        return below

    def differ(self, left: Expr, right: Expr) -> Expr:
        """Not 0 where the keys differ, which is by any bit."""
        if self.carrier is U32:
            return left.ne(right)
        return (Lane(left, 0).ne(Lane(right, 0))) | (Lane(left, 1).ne(Lane(right, 1)))


def carrier_of(element: DataType) -> DataType:
    """The unsigned type of the same width."""
    return U64 if element.stride == 8 else U32


def element_of(array: Any, what: str = "keys") -> DataType:
    """The type of an array's elements. Raises `DispatchError` for one that no engine takes."""
    dtype: np.dtype[Any] | None = getattr(array, "dtype", None)
    name = str(dtype if dtype is not None else type(array).__name__).rpartition(".")[2]
    found = _KINDS.get(name)
    if found is None:
        raise DispatchError(
            f"the {what} are {name}; engines take {', '.join(_KINDS)}.",
            fix="convert them to one of these types; vyre.array refuses values that do not fit.",
        )
    return found
