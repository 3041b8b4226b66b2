"""A failing row is brought down to what its failure depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.shapes.constraints import FURTHER, further
from vyre.conform.shapes.lowering import lowered
from vyre.conform.shapes.rows import ROWS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.shapes.features import Level


def test_of_several_element_types_the_one_that_fails_is_named() -> None:
    row = max(ROWS, key=lambda row: len(further(row)))
    guilty = further(row)[-1]
    asked: list[str] = []

    def fails(candidate: Mapping[str, Level]) -> bool:
        asked.append(str(candidate[FURTHER]))
        return guilty in (candidate["element type"], *further(candidate))

    found = lowered(row, fails)
    assert (found.row["element type"], found.row[FURTHER]) == (guilty, "")
    assert f"with element type {guilty}" in found.sentence
    assert set(asked) == {""}


def test_a_failure_that_needs_two_element_types_keeps_them() -> None:
    row = max(ROWS, key=lambda row: len(further(row)))
    found = lowered(row, lambda candidate: len(further(candidate)) > 1)
    assert further(found.row) == further(row)
