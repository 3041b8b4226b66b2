"""Group by: a row for each combination of keys, with what its rows come to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from vyre.errors import DispatchError, boundary
from vyre.library.tables.codes import codes_of, refined, values_of
from vyre.library.tables.columns import Column, valid_bits
from vyre.library.tables.distinct import Groups, groups_of
from vyre.library.tables.moving import taken_column
from vyre.library.tables.named import Table, keys_of
from vyre.library.tables.totals import Totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

    Where = str | Backend | None

AGGREGATES = ("count", "sum", "min", "max", "mean")


@boundary
def group_by(
    table: Any,
    by: str | Sequence[str],
    aggregates: Mapping[str, tuple[str, str]],
    *,
    backend: Where = None,
) -> Table:
    """A row for each combination of the keys `by`, in the order of the keys, with `aggregates`.

    Those are by name a column and one of count, sum, min, max and mean. Missing values are left out of
    them; a missing key is a key of its own, the last. Of no value the sum is 0, and min, max and mean are
    missing.
    """
    given = Table(table)
    keys = keys_of(by)
    if not keys:
        raise DispatchError("no column is named to group by.", fix="name one or several.")
    for name, (column, what) in _asked(aggregates).items():
        _checked(given[column], name, column, what)
        if name in keys:
            raise DispatchError(
                f"{name!r} names a key and an aggregate.", fix="give the aggregate another name."
            )
    found = grouped([given[key] for key in keys], backend)
    made = {key: _canonical(taken_column(given[key], found.firsts, backend)) for key in keys}
    joined: dict[str, Joined] = {}
    for name, (column, what) in aggregates.items():
        if column not in joined:
            joined[column] = Joined(given[column], found, backend)
        made[name] = joined[column].made(what)
    return Table(made)


def grouped(columns: Sequence[Column], backend: Where) -> Groups:
    """Rows that agree in all columns, in the order of the columns; what is missing comes last."""
    found: Groups | None = None
    for column in columns:
        if column.valid is not None:
            flags = column.flags()
            codes = np.where(flags, codes_of(column, backend), np.uint64(0))
            mine = refined(groups_of((~flags).astype(np.uint64), backend), codes, backend)
        elif column.kind.startswith("int"):
            wide = column.data.astype(np.int64, copy=False)
            mine = groups_of(wide.view(np.uint64), backend, signed=True)
        else:
            mine = groups_of(codes_of(column, backend), backend)
        found = mine if found is None else refined(found, mine.ids.astype(np.uint64), backend)
    assert found is not None
    return found


def _canonical(column: Column) -> Column:
    """The one zero and the one NaN that a group of floats is shown with."""
    if not column.kind.startswith("float"):
        return column
    data = column.data + np.zeros(1, column.kind)  # -0 + 0 is 0
    data[np.isnan(data)] = np.nan
    return Column(column.kind, column.length, data, column.valid)


def _asked(aggregates: Any) -> Mapping[str, tuple[str, str]]:
    """What is asked for, where it is a column and an aggregate by name."""
    if not isinstance(aggregates, Mapping):
        raise DispatchError(
            f"aggregates are {type(aggregates).__name__}, not a mapping.", fix='pass {name: (column, "sum")}.'
        )
    for name, asked in cast("Mapping[Any, Any]", aggregates).items():
        if not isinstance(asked, (tuple, list)) or len(cast("Sequence[Any]", asked)) != 2:
            raise DispatchError(
                f"{name!r} asks for {asked!r}, not a column and an aggregate.",
                fix=f'pass {{{name!r}: (column, "sum")}}.',
            )
    return cast("Mapping[str, tuple[str, str]]", aggregates)


def _checked(column: Column, name: str, source: str, what: str) -> None:
    if what not in AGGREGATES:
        raise DispatchError(
            f"{name!r} asks for {what!r}, which is not an aggregate.",
            fix=f"use one of {', '.join(AGGREGATES)}.",
        )
    if what != "count" and column.kind == "utf8":
        raise DispatchError(
            f"{name!r} asks for the {what} of text, the column {source!r}.",
            fix="use count, or a column of numbers.",
        )


class Joined:
    """The values of one column by group. What several aggregates need is worked out once."""

    def __init__(self, column: Column, found: Groups, backend: Where) -> None:
        self._column, self._groups, self._backend = column, found.count, backend
        ids = found.ids
        if column.valid is not None:
            ids = np.where(column.flags(), ids, np.uint32(found.count))
        self._totals = Totals(ids, found.count, backend)
        self._counts: NDArray[np.int64] | None = None
        self._codes: NDArray[np.uint64] | None = None

    def counts(self) -> NDArray[np.int64]:
        if self._counts is None:
            self._counts = self._totals.counts()
        return self._counts

    def made(self, what: str) -> Column:
        match what:
            case "count":
                return Column.of(self.counts())
            case "sum":
                kind = self._column.kind if self._column.kind.startswith("float") else "float64"
                return Column.of(self._sums(kind))
            case "mean":
                counts = self.counts()
                means = self._sums("float64").astype(np.float64) / np.maximum(counts, 1)
                return Column("float64", self._groups, means, valid_bits(counts > 0))
            case _:
                return self._extreme(greatest=what == "max")

    def _sums(self, kind: str) -> NDArray[Any]:
        """Floats rounded to `kind`; whole numbers as int64 or uint64, modulo 2^64."""
        column = self._column
        if column.kind.startswith("float"):
            return self._totals.float_sums(column.data.astype(np.float64, copy=False), kind)
        signed = column.kind.startswith("int")
        wide = np.dtype(np.int64 if signed else np.uint64)
        found = self._totals.sums(column.to_numpy().astype(wide, copy=False).view(np.uint64))
        return found.view(wide)

    def _extreme(self, *, greatest: bool) -> Column:
        if self._codes is None:
            self._codes = codes_of(self._column, self._backend, zeros=False)
        turned = np.uint64(0xFFFFFFFFFFFFFFFF if greatest else 0)
        found = self._totals.least(self._codes ^ turned if greatest else self._codes) ^ turned
        valid = valid_bits(self.counts() > 0)
        made = Column.of(values_of(found, self._column.kind))
        return Column(made.kind, made.length, made.data, valid)
