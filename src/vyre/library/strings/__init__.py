"""Text as bytes: what the methods of `bytes` do, and the fields of tables and records, in bulk.

translate, upper, lower, is_any        byte by byte
find, find_all, count, replace         a word, as `bytes` finds it
split, lines                           the parts between, as spans
csv_fields, json_tokens                the parts of rows, as spans
"""

from vyre.library.strings.bytewise import is_any, lower, translate, upper
from vyre.library.strings.records import Rows, csv_fields, json_tokens
from vyre.library.strings.seeking import count, find, find_all, lines, replace, split

__all__ = [
    "Rows", "count", "csv_fields", "find", "find_all", "is_any", "json_tokens", "lines", "lower", "replace",
    "split", "translate", "upper",
]  # fmt: skip
