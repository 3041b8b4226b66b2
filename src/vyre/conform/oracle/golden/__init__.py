"""Golden rows: the specification's tables as data."""

from vyre.conform.oracle.golden.rows import Later, Row, Shown, load_later, load_rows, load_shown, load_tables

__all__ = [
    "Later",
    "Row",
    "Shown",
    "load_later",
    "load_rows",
    "load_shown",
    "load_tables",
]
