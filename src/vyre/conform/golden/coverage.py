"""Counting the golden rows against the tables of the documents."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vyre.conform.golden.rows import Later, Row


def places(tables: Mapping[str, int]) -> list[str]:
    """Every row of every table, `000/Div/2` and so on."""
    return [f"{table}/{n}" for table, rows in tables.items() for n in range(1, rows + 1)]


def uncovered(rows: Iterable[Row], later: Iterable[Later], tables: Mapping[str, int]) -> list[str]:
    """Rows of the documents that neither a golden row nor the list of later work answers for."""
    answered = {source for row in rows for source in row.sources} | {entry.source for entry in later}
    return [place for place in places(tables) if place not in answered]


def unknown(rows: Iterable[Row], later: Iterable[Later], tables: Mapping[str, int]) -> list[str]:
    """Sources that name no row of the documents."""
    known = set(places(tables))
    named = [source for row in rows for source in row.sources] + [entry.source for entry in later]
    return [source for source in named if source not in known]


def answered_twice(rows: Iterable[Row], later: Iterable[Later]) -> list[str]:
    """Rows that are golden and still stand in the list of later work."""
    waiting = {entry.source for entry in later}
    return sorted({source for row in rows for source in row.sources if source in waiting})


def repeated_ids(rows: Iterable[Row]) -> list[str]:
    return [name for name, count in Counter(row.id for row in rows).items() if count > 1]
