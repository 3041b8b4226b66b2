"""Columns in Arrow's layout.

A number is an element of its array. Truths, and which elements are there, are bits, the lowest of a byte
first. A text lies in the bytes of all between two offsets. What comes from NumPy or Arrow is kept where it
lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from vyre.backends.foreign import plain_array
from vyre.errors import DispatchError
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

NUMBERS = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
)  # fmt: skip
MOST_TEXT = (1 << 32) - (1 << 16)
"""Bytes of a column of text, as many as the library takes in one call."""

_LINE = 64
"""Bytes at multiples of which a part of the texts begins, so that words stay words."""


@dataclass(frozen=True, slots=True)
class Column:
    """Elements of one type: a number of NumPy's, `bool` or `utf8`. Where `valid` is None none is missing."""

    kind: str
    length: int
    data: NDArray[Any]
    """Numbers; the bits of truths; the bytes of texts."""
    valid: NDArray[np.uint8] | None = None
    offsets: NDArray[Any] | None = None

    @staticmethod
    def of(values: Any) -> Column:
        """A column of an array of numbers, truths or text, or of a list in which None is missing."""
        if isinstance(values, Column):
            return values
        if isinstance(values, np.ndarray):
            return _of_array(cast("NDArray[Any]", values))
        if isinstance(values, Sequence) and not isinstance(values, (str, bytes)):
            return _of_list(list(cast("Sequence[Any]", values)))
        raise DispatchError(
            f"a column cannot be made of {type(values).__name__}.",
            fix="pass an array of NumPy, a list, or a table of pyarrow, Polars or pandas.",
        )

    def flags(self) -> NDArray[np.bool_]:
        """Which elements are there."""
        return np.ones(self.length, np.bool_) if self.valid is None else unpacked(self.valid, self.length)

    def bounds(self) -> NDArray[np.uint32]:
        """Where each text begins in `data`, then the end. Raises `DispatchError` past 32 bits."""
        return self._from(0)

    def text(self) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
        """The bytes that have the texts, and the bounds in these; of a part of a table its own alone."""
        assert self.offsets is not None
        first = int(self.offsets[0]) & -_LINE
        return self.data[first : int(self.offsets[-1])], self._from(first)

    def _from(self, first: int) -> NDArray[np.uint32]:
        assert self.offsets is not None
        size = int(self.offsets[-1]) - first
        if size > MOST_TEXT:
            raise DispatchError(
                f"a column has {size} bytes of text; {MOST_TEXT} are the most.",
                fix="take the table in parts.",
            )
        return (self.offsets - first).astype(np.uint32)

    def to_numpy(self) -> NDArray[Any]:
        """The values as an array, texts as objects; what a missing one holds means nothing."""
        match self.kind:
            case "bool":
                return unpacked(self.data, self.length)
            case "utf8":
                return np.array([x or "" for x in self.to_list()], object)
            case _:
                return self.data

    def to_list(self) -> list[Any]:
        """The values as objects of Python; None is missing."""
        if self.kind == "utf8":
            assert self.offsets is not None
            whole, at = self.data.tobytes(), self.offsets.tolist()
            try:
                values: list[Any] = [whole[at[i] : at[i + 1]].decode() for i in range(self.length)]
            except UnicodeDecodeError as error:
                raise DispatchError(
                    f"the column has {error.object!r}, which is not text in UTF-8.",
                    fix="make the column anew from bytes that are decoded.",
                ) from None
        else:
            values = self.to_numpy().tolist()
        return [x if there else None for x, there in zip(values, self.flags().tolist(), strict=True)]


def unpacked(bits: NDArray[np.uint8], length: int) -> NDArray[np.bool_]:
    """Bits as truths."""
    return np.unpackbits(bits, count=length, bitorder="little").view(np.bool_)


def packed(flags: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Truths as bits."""
    return np.packbits(flags, bitorder="little")


def valid_bits(flags: NDArray[np.bool_]) -> NDArray[np.uint8] | None:
    """The bits of what is there, or None where all is."""
    return None if bool(flags.all()) else packed(flags)


def _of_array(array: NDArray[Any]) -> Column:
    array = plain_array("a column", array)
    if array.ndim != 1:
        raise DispatchError(f"a column has {array.ndim} dimensions.", fix="pass an array of one dimension.")
    if array.dtype == np.bool_:
        return Column("bool", len(array), packed(array))
    if array.dtype.kind in "UOT":
        return _of_list(array.tolist())
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    if native.dtype.name not in NUMBERS:
        raise DispatchError(
            f"a column cannot hold {array.dtype}.",
            fix=f"convert it to one of {', '.join(NUMBERS)}, bool or str.",
        )
    return Column(native.dtype.name, len(native), np.ascontiguousarray(native))


def _plain(value: Any) -> Any:
    """A number or truth of NumPy as one of Python; anything else as it is, times of NumPy too."""
    return value.item() if issubclass(type(value), np.generic) and value.dtype.kind in "biuf" else value


def _of_list(values: list[Any]) -> Column:
    values = [_plain(x) for x in values]
    flags = np.array([x is not None for x in values], np.bool_)
    there = [x for x in values if x is not None]
    valid = valid_bits(flags)
    if all(isinstance(x, str) for x in there) and there:
        try:
            texts = [b"" if x is None else x.encode() for x in values]
        except UnicodeEncodeError as error:
            raise DispatchError(
                f"{error.object!r} of a column is not text that UTF-8 can hold.",
                fix="leave out surrogates.",
            ) from None
        offsets = np.zeros(len(values) + 1, np.int64)
        np.cumsum([len(x) for x in texts], out=offsets[1:])
        return Column("utf8", len(values), np.frombuffer(b"".join(texts), np.uint8), valid, offsets)
    types: set[type[Any]] = {type(x) for x in there}
    kind: Any = np.float64 if float in types else np.bool_ if types == {bool} else np.int64
    if not types <= {int, float} and types != {bool}:
        raise DispatchError(
            f"a column has elements of {', '.join(sorted(t.__name__ for t in types))}.",
            fix="pass numbers, truths or text, and None for what is missing.",
        )
    try:
        filled = np.array([0 if x is None else x for x in values], kind)
    except OverflowError:
        raise DispatchError(
            "a number of a column is past 64 bits with a sign.",
            fix="pass an array of a type that holds it; np.uint64 takes numbers below 2^64.",
        ) from None
    if kind is np.float64 and int in types:
        changed = next((x for x in there if type(x) is int and int(float(x)) != x), None)
        if changed is not None:
            raise DispatchError(
                f"a column has floats and {changed}, which a float64 cannot hold.",
                fix="pass whole numbers alone, or make them floats yourself, which rounds them.",
            )
    made = _of_array(filled)
    return Column(made.kind, made.length, made.data, valid)
