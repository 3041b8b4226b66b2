"""Tables: columns of numbers, truths and text in Arrow's layout, filtered, sorted, grouped and joined.

    filter(table, flags)                       the rows whose flag is set
    sort(table, by)                            rows in the order of one key or several
    group_by(table, by, {name: (column, what)}) a row for each key, with exact sums
    join(left, right, on)                      the rows of two tables that agree in their keys
    texts(data, spans)                         a column of texts that lie somewhere in bytes

All take `backend=`, and a `Table`, a mapping of columns, or a table of pyarrow, Polars or pandas.
"""

from vyre.library.tables.columns import Column
from vyre.library.tables.grouping import group_by
from vyre.library.tables.joining import join
from vyre.library.tables.moving import texts
from vyre.library.tables.named import Table
from vyre.library.tables.ordering import filter, sort

__all__ = ["Column", "Table", "filter", "group_by", "join", "sort", "texts"]
