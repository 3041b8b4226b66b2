"""Tables: columns of one length, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from vyre.errors import DispatchError
from vyre.library.tables.arrow import arrow_of, column_of, columns_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.library.tables.columns import Column

MOST_ROWS = 1 << 31


class Table:
    """Columns of one length, by name. `Table(x)` takes a mapping of columns, or what speaks Arrow."""

    __slots__ = ("columns", "rows")

    def __init__(self, given: Any) -> None:
        if isinstance(given, Table):
            found = given.columns
        elif isinstance(given, Mapping):
            named = cast("Mapping[Any, Any]", given)
            if len({str(name) for name in named}) < len(named):
                raise DispatchError(
                    f"two columns of {[*named]} have one name as text.", fix="rename one of them."
                )
            found = {str(name): column_of(str(name), values) for name, values in named.items()}
        else:
            found = columns_of(given)
        self.columns: dict[str, Column] = dict(found)
        lengths = {name: column.length for name, column in found.items()}
        self.rows = next(iter(lengths.values()), 0)
        if len(set(lengths.values())) > 1:
            raise DispatchError(f"the columns have {lengths} elements.", fix="pass columns of one length.")
        if self.rows > MOST_ROWS:
            raise DispatchError(
                f"a table has {self.rows} rows; {MOST_ROWS} are the most.", fix="take it in parts."
            )

    def __getitem__(self, name: str) -> Column:
        if not isinstance(name, str) or name not in self.columns:  # pyright: ignore[reportUnnecessaryIsInstance]
            known = ", ".join(repr(one) for one in self.columns)
            raise DispatchError(
                f"the table has no column {name!r}.", fix=f"use one of {known or 'its columns; it has none'}."
            )
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name}: {column.kind}" for name, column in self.columns.items())
        return f"Table({self.rows} rows; {kinds})"

    def to_dict(self) -> dict[str, list[Any]]:
        """All values as lists."""
        return {name: column.to_list() for name, column in self.columns.items()}

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return arrow_of(self.columns).__arrow_c_stream__(requested_schema)


def keys_of(by: Any) -> list[str]:
    """The names of one key or several."""
    keys: list[Any] = [by] if isinstance(by, str) or not isinstance(by, Iterable) else list(cast("Any", by))
    for key in keys:
        if not isinstance(key, str):
            raise DispatchError(
                f"a key is named by {key!r}, a value of {type(key).__name__}.", fix="name columns by text."
            )
    return keys
