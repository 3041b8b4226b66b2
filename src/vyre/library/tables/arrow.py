"""Tables to and from whatever speaks Arrow's C data interface: pyarrow, Polars, pandas and others.

Numbers, bits, offsets and bytes are taken and given where they lie. Copied are columns in several chunks,
bits that do not begin with a byte, and texts that are neither `string` nor `large_string`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import DispatchError
from vyre.library.tables.columns import NUMBERS, Column, packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


def _pyarrow() -> Any:
    try:
        return import_module("pyarrow")
    except ImportError:
        raise DispatchError(
            "tables of Arrow need the package pyarrow.", fix="pip install 'vyre[tables]'"
        ) from None


def speaks(value: Any) -> bool:
    """Whether a value has Arrow's C data interface."""
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def columns_of(value: Any) -> dict[str, Column]:
    """The columns of a table, a batch or a data frame."""
    table, why = None, ""
    if speaks(value):
        pa = _pyarrow()
        try:
            table = pa.table(value)
        except (pa.ArrowException, ValueError, TypeError) as error:  # one column, or columns that Arrow lacks
            why = f": {str(error).splitlines()[0].rstrip('.')}"
    if table is None:
        raise DispatchError(
            f"{type(value).__name__} is not a table{why}.",
            fix="pass a mapping of names to columns, or a table of pyarrow, Polars or pandas.",
        )
    names: list[str] = table.column_names
    for name in names:
        if names.count(name) > 1:
            raise DispatchError(f"two columns are called {name!r}.", fix="rename one of them.")
    return {name: _column(name, table.column(place)) for place, name in enumerate(names)}


def column_of(name: str, values: Any) -> Column:
    """A column of an array or a list, or of a column of pyarrow, Polars or pandas."""
    if isinstance(values, Column) or not speaks(values):
        return Column.of(values)
    return _column(name, _pyarrow().chunked_array(values))


def _column(name: str, chunked: Any) -> Column:
    pa = _pyarrow()
    array = chunked.chunk(0) if chunked.num_chunks == 1 else _joined(chunked)
    if pa.types.is_dictionary(array.type):
        array = _decoded(array)
    if array.type == pa.string_view():
        array = array.cast(pa.large_string())
    if pa.types.is_null(array.type):
        array = array.cast(pa.int64())
    known = {pa.string(): "utf8", pa.large_string(): "utf8", pa.bool_(): "bool"}
    known |= {pa.from_numpy_dtype(np.dtype(kind)): kind for kind in NUMBERS}
    kind = known.get(array.type)
    if kind is None:
        raise DispatchError(
            f"the column {name!r} is {array.type}.",
            fix=f"cast it to one of {', '.join(NUMBERS)}, bool or string, or leave it out.",
        )
    buffers, begin, length = array.buffers(), array.offset, len(array)
    valid = _bits(buffers[0], begin, length) if array.null_count else None
    if kind == "utf8":
        wide = np.dtype(np.int64 if array.type == pa.large_string() else np.int32)
        offsets = _elements(buffers[1], wide, begin, length + 1) if length else np.zeros(1, wide)
        return Column(kind, length, _elements(buffers[2], np.dtype(np.uint8), 0, None), valid, offsets)
    if kind == "bool":
        return Column(kind, length, _bits(buffers[1], begin, length), valid)
    return Column(kind, length, _elements(buffers[1], np.dtype(kind), begin, length), valid)


def _decoded(array: Any) -> Any:
    """The values of a dictionary's indices; views are not looked up there, so those become texts first."""
    pa = _pyarrow()
    if array.type.value_type == pa.string_view():
        known = array.dictionary.cast(pa.large_string())
        array = pa.DictionaryArray.from_arrays(array.indices, known)
    return array.dictionary_decode()


def _joined(chunked: Any) -> Any:
    """One array of all chunks."""
    pa = _pyarrow()
    if chunked.type in (pa.string(), pa.string_view()):  # offsets of all together may not fit
        chunked = chunked.cast(pa.large_string())
    filled = [chunk for chunk in chunked.chunks if len(chunk)]  # some empty slices cannot be joined
    return pa.concat_arrays(filled) if filled else pa.array([], chunked.type)


def _elements(buffer: Any, dtype: np.dtype[Any], begin: int, length: int | None) -> NDArray[Any]:
    if buffer is None or not buffer.size:
        return np.zeros(0, dtype)
    return np.frombuffer(buffer, dtype)[begin : None if length is None else begin + length]


def _bits(buffer: Any, begin: int, length: int) -> NDArray[np.uint8]:
    whole = _elements(buffer, np.dtype(np.uint8), 0, None)
    part = whole[begin // 8 : (begin + length + 7) // 8]
    return packed(unpacked(part, begin % 8 + length)[begin % 8 :]) if begin % 8 else part


def arrow_of(columns: Mapping[str, Column]) -> Any:
    """The same columns as a table of pyarrow."""
    pa = _pyarrow()
    arrays: list[Any] = []
    for column in columns.values():
        valid = None if column.valid is None else pa.py_buffer(column.valid)
        data = pa.py_buffer(column.data)
        if column.kind == "utf8":
            assert column.offsets is not None
            kind = pa.large_string() if column.offsets.dtype == np.int64 else pa.string()
            buffers = [valid, pa.py_buffer(column.offsets), data]
        else:
            kind = pa.bool_() if column.kind == "bool" else pa.from_numpy_dtype(np.dtype(column.kind))
            buffers = [valid, data]
        arrays.append(pa.Array.from_buffers(kind, column.length, buffers))
    return pa.table(arrays, names=list(columns))
