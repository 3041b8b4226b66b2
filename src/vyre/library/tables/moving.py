"""Rows of a table, taken by their numbers: numbers, bits and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import engines
from vyre.backends.foreign import host_array
from vyre.errors import DispatchError, boundary
from vyre.library.decoding.utf8 import validate_utf8
from vyre.library.messages import words_of
from vyre.library.side_by_side import joined
from vyre.library.tables.columns import Column, packed, unpacked, valid_bits
from vyre.library.tables.named import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

    Where = str | Backend | None
    Numbers = NDArray[np.uint32]

ABSENT = 0xFFFFFFFF
"""The number of a row that is not there: all its values are missing."""


def taken(table: Table, places: Numbers, backend: Where) -> Table:
    """The rows of these numbers, in this order; each is there."""
    return Table({name: taken_column(column, places, backend) for name, column in table.columns.items()})


def taken_column(column: Column, places: Numbers, backend: Where, *, beyond: bool = False) -> Column:
    """The elements of these numbers; `beyond` says that some may be past the end, which are missing."""
    count = len(places)
    valid = None
    if beyond or column.valid is not None:
        there = engines.gather(column.flags().astype(np.uint32), places, backend=backend)
        valid = valid_bits(there.astype(np.bool_))
    if column.kind == "utf8":
        data, offsets = _texts(column, places, backend)
        return Column("utf8", count, data, valid, offsets)
    if column.kind == "bool":
        words = unpacked(column.data, column.length).astype(np.uint32)
        chosen = engines.gather(words, places, backend=backend)
        return Column("bool", count, packed(chosen.astype(np.bool_)), valid)
    wide = column.data if column.data.itemsize >= 4 else column.data.astype(np.int32)
    chosen = engines.gather(wide, places, backend=backend)
    return Column(column.kind, count, chosen.astype(column.data.dtype, copy=False), valid)


def _texts(column: Column, places: Numbers, backend: Where) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    data, bounds = column.text()
    lengths = engines.gather(np.diff(bounds), places, backend=backend)
    starts = engines.gather(bounds[:-1], places, backend=backend)
    return _brought(data, starts, lengths, backend)


def _brought(
    data: NDArray[np.uint8], starts: Numbers, lengths: Numbers, backend: Where
) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """The bytes of texts, one after the other, and their offsets."""
    offsets = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    size = int(offsets[-1])
    if not size:
        return np.zeros(0, np.uint8), offsets
    bounds = Column("utf8", len(starts), data, None, offsets).bounds()
    return joined(data, starts, bounds, backend).view(np.uint8)[:size], offsets


@boundary
def texts(data: Any, spans: Any, *, backend: Where = None) -> Column:
    """A column of the texts that lie in `data` from `spans[i, 0]` to `spans[i, 1]`."""
    whole, _ = words_of(data, "data", backend)
    found = host_array("the list of spans", spans)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise DispatchError(
            f"spans are {found.dtype} of shape {found.shape}.",
            fix="pass a row of begin and end for each text.",
        )
    wide = found.astype(np.int64)
    if bool((wide[:, 0] < 0).any() or (wide[:, 1] > len(whole)).any() or (wide[:, 0] > wide[:, 1]).any()):
        raise DispatchError(
            f"a span is not within the {len(whole)} bytes.",
            fix="pass a begin, and an end that is not before it.",
        )
    starts, lengths = wide[:, 0].astype(np.uint32), (wide[:, 1] - wide[:, 0]).astype(np.uint32)
    made, offsets = _brought(np.asarray(whole), starts, lengths, backend)
    _refuse_bytes(made, offsets, backend)
    return Column("utf8", len(found), made, None, offsets)


def _refuse_bytes(made: NDArray[np.uint8], offsets: NDArray[Any], backend: Where) -> None:
    """Each text is UTF-8 by itself: all together are, and none begins within a character."""
    if not len(made) or int(made.max()) < 0x80:
        return
    inside = offsets[:-1][np.diff(offsets) > 0]
    split = inside[made[inside] & 0xC0 == 0x80]
    wrong = [int(place) for place in split[:1]]
    error = validate_utf8(made, backend=backend)
    wrong += [] if error is None else [error]
    if wrong:
        number = int(np.searchsorted(offsets, min(wrong), side="right")) - 1
        raise DispatchError(
            f"text {number} is not UTF-8.", fix="pass spans of text, or decode the bytes to UTF-8 first."
        )


def stacked(first: Column, second: Column) -> Column:
    """The elements of one column, then those of another of the same type."""
    length = first.length + second.length
    valid = None
    if first.valid is not None or second.valid is not None:
        valid = valid_bits(np.concatenate([first.flags(), second.flags()]))
    if first.kind == "utf8":
        parts = [
            one.data[int(one.offsets[0]) : int(one.offsets[-1])]
            for one in (first, second)
            if one.offsets is not None
        ]
        ends = [
            one.offsets.astype(np.int64) - int(one.offsets[0])
            for one in (first, second)
            if one.offsets is not None
        ]
        offsets = np.concatenate([ends[0], ends[1][1:] + ends[0][-1]])
        return Column("utf8", length, np.concatenate(parts), valid, offsets)
    both = np.concatenate([first.to_numpy(), second.to_numpy()])
    return Column(first.kind, length, Column.of(both).data, valid)
