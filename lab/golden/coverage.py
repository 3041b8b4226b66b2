"""Holding the golden rows against the tables of the documents."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vyre.conform.oracle.golden.rows import Later, Row, Shown

    Tables = Mapping[str, Sequence[str]]
    Elsewhere = Iterable[Later | Shown]


def places(tables: Tables) -> list[str]:
    """Every row of every table, `000/Div/2` and so on."""
    return [f"{table}/{n}" for table, rows in tables.items() for n in range(1, len(rows) + 1)]


def uncovered(rows: Iterable[Row], elsewhere: Elsewhere, tables: Tables) -> list[str]:
    """Rows of the documents that neither a golden row, nor a test, nor the list of later work answers for."""
    answered = {source for row in rows for source in row.sources} | {entry.source for entry in elsewhere}
    return [place for place in places(tables) if place not in answered]


def unknown(rows: Iterable[Row], elsewhere: Elsewhere, tables: Tables) -> list[str]:
    """Sources that name no row of the documents."""
    known = set(places(tables))
    named = [source for row in rows for source in row.sources] + [entry.source for entry in elsewhere]
    return [source for source in named if source not in known]


def answered_twice(rows: Iterable[Row], elsewhere: Elsewhere) -> list[str]:
    """Rows that stand in a list of what is not golden and are golden, or stand there twice."""
    listed = Counter(entry.source for entry in elsewhere)
    golden = {source for row in rows for source in row.sources}
    return sorted(source for source, count in listed.items() if count > 1 or source in golden)


def drift(then: Tables, now: Tables) -> list[str]:
    """Rows that the manifest does not have as the documents have them, and those that only it has."""
    found: list[str] = []
    for table in [*now, *(t for t in then if t not in now)]:
        old, new = then.get(table, ()), now.get(table, ())
        for n in range(max(len(old), len(new))):
            if n >= len(old):
                found.append(f"{table}/{n + 1} is not in the manifest")
            elif n >= len(new):
                found.append(f"{table}/{n + 1} is not in the documents")
            elif old[n] != new[n]:
                found.append(f"{table}/{n + 1} says something else in the documents")
    return found


def repeated_ids(rows: Iterable[Row]) -> list[str]:
    return [name for name, count in Counter(row.id for row in rows).items() if count > 1]
