"""Golden rows: the specification's tables as data, and their replay."""

from vyre.conform.golden.outcome import Outcome, Status
from vyre.conform.golden.rows import Later, Row, load_later, load_rows, load_tables

__all__ = ["Later", "Outcome", "Row", "Status", "load_later", "load_rows", "load_tables"]
