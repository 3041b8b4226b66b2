"""Golden rows: the specification's tables as data, and their replay."""

from vyre.conform.golden.outcome import Outcome, Status
from vyre.conform.golden.rows import Later, Row, Shown, load_later, load_rows, load_shown, load_tables

__all__ = [
    "Later",
    "Outcome",
    "Row",
    "Shown",
    "Status",
    "load_later",
    "load_rows",
    "load_shown",
    "load_tables",
]
