"""A golden row that answers for a row of the documents shows what that row says, and nothing weaker.

For every place of the documents, the rows that answer for it must together contradict every plausible wrong
meaning of each of their operations. A tag on `0 → 0` alone shows no cast to be a bitcast. The rows of
document 000 are examples and answer for themselves: `test_documents.py` compares them cell by cell.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import pytest

from tests.wrong.meanings.rows import KINDS, cases_of, right_meaning, samples_of, wrong_meanings
from vyre.conform.oracle.golden import Row, load_rows

ROWS = [row for row in load_rows() if row.kind in KINDS and "tolerance" not in row.fields]


def operation(row: Row) -> tuple[object, ...]:
    """What rows must share to speak of one operation."""
    return row.stem, row.kind, row.fields.get("op"), row.fields.get("type")


ANSWERS: dict[str, dict[tuple[object, ...], list[Row]]] = defaultdict(lambda: defaultdict(list))
for _row in ROWS:
    for _source in _row.sources:
        if not _source.startswith("000/"):
            ANSWERS[_source][operation(_row)].append(_row)


@cache
def wrong_at_all(row_id: str) -> frozenset[str]:
    """The names of the meanings that are not the right one under another name."""
    row = next(row for row in ROWS if row.id == row_id)
    right, samples = right_meaning(row), list(samples_of(row))
    expected = [right(*sample) for sample in samples]
    return frozenset(
        name
        for name, meaning in wrong_meanings(row).items()
        if any(meaning(*sample) != result for sample, result in zip(samples, expected, strict=True))
    )


FIRST: dict[tuple[object, ...], str] = {}
for _row in ROWS:
    FIRST.setdefault(operation(_row), _row.id)


@cache
def contradicted(row_id: str) -> frozenset[str]:
    """The names of the meanings that a row contradicts."""
    row = next(row for row in ROWS if row.id == row_id)
    cases = list(cases_of(row))
    return frozenset(
        name
        for name, meaning in wrong_meanings(row).items()
        if any(meaning(*inputs) != expected for inputs, expected in cases)
    )


def not_shown(rows: list[Row]) -> set[str]:
    """Wrong meanings of one operation that none of its rows contradicts."""
    left = set(wrong_at_all(FIRST[operation(rows[0])]))
    for row in rows:
        left -= contradicted(row.id)
    return left


@pytest.mark.parametrize("place", ANSWERS)
def test_a_tag_shows_what_its_row_says(place: str) -> None:
    found = {rows[0].stem: sorted(left) for rows in ANSWERS[place].values() if (left := not_shown(rows))}
    assert found == {}


def test_the_right_meaning_is_what_the_rows_say() -> None:
    """Else a meaning could be called wrong that is right."""
    for row in ROWS:
        if any(not source.startswith("000/") for source in row.sources):
            right = right_meaning(row)
            assert all(right(*inputs) == expected for inputs, expected in cases_of(row)), row.id


def test_a_row_that_shows_too_little_is_noticed() -> None:
    zero = [row for row in ROWS if row.id == "cast.f32.u32/golden/1"]
    assert {"by value", "always zero", "one half only"} <= not_shown(zero)
    empty = [row for row in ROWS if row.id == "float.reduce.strict.add/golden/1"]
    assert {"TreeBinary instead", "from the right", "without the last"} <= not_shown(empty)
