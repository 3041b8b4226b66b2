"""Every field of a document replaced in turn by values that no writer of ours gives it."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

GONE = object()
"""Stands for a field that is missing."""

ODD: tuple[tuple[str, Any], ...] = (
    ("missing", GONE),
    ("null", None),
    ("minus one", -1),
    ("zero", 0),
    ("huge", 10**30),
    ("a count too large", (1 << 63) - 1),
    ("a float", 0.5),
    ("true", True),
    ("nothing", ""),
    ("another string", "strange\u202e\x1b[31m"),
    ("half a pair", "\ud800"),
    ("a list", []),
    ("a record", {}),
    ("deep", json.loads("[" * 60 + "]" * 60)),
)
SOME = tuple(pair for pair in ODD if pair[0] in ("missing", "null", "minus one", "half a pair", "deep"))


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document; of a long list, the first and the last item."""
    if path:
        yield path
    if isinstance(value, dict):
        record = cast("dict[str, Any]", value)
        for name, item in record.items():
            yield from paths(item, (*path, name))
    elif isinstance(value, list) and value:
        items = cast("list[Any]", value)
        for k in sorted({0, len(items) - 1}):
            yield from paths(items[k], (*path, k))


def replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of the document with another value at the path; the rest is shared."""
    made = at = copy.copy(document)
    for step in path[:-1]:
        at[step] = at = copy.copy(at[step])
    if value is GONE:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return made


def odd_documents(
    document: Any, *, below: tuple[Any, ...] = (), values: tuple[tuple[str, Any], ...] = ODD
) -> Iterator[tuple[str, Any]]:
    """Every replacement, named by the path and the value."""
    at = document
    for step in below:
        at = at[step]
    for path in paths(at, below):
        for name, value in values:
            yield f"{'.'.join(map(str, path))} = {name}", replaced(document, path, value)
