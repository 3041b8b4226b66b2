"""A case has the shape of its row and no races, and its expected bytes are those of the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre.conform.shapes import closed
from vyre.conform.shapes.build import build
from vyre.conform.shapes.constraints import invocations, why_not
from vyre.conform.shapes.features import FEATURES, measure, reached
from vyre.conform.shapes.rows import ROWS
from vyre.reference import run
from vyre.validate import validate

if TYPE_CHECKING:
    from vyre.conform.shapes.features import Level


def _light(row: dict[str, Level]) -> bool:
    return invocations(row) <= 20_000 and int(row["buffer length"]) <= 100_000


@pytest.mark.parametrize("number", [n for n, row in enumerate(ROWS) if _light(row)][::5])
def test_a_case_has_the_levels_of_its_row(number: int) -> None:
    row = ROWS[number]
    case = build(row, 7)
    assert validate(case.program) == []
    found = measure(case.program, case.inputs, case.workgroups, case.entrance, case.dispatch)
    for name, level in row.items():
        assert level in found[name] or reached(FEATURES[name], found[name]) == level, name


def _small(row: dict[str, Level]) -> dict[str, Level]:
    most: dict[str, int] = {
        "workgroups x": 2, "workgroups y": 2, "workgroups z": 2, "workgroup x": 3, "workgroup y": 3,
        "workgroup z": 3, "turns": 3, "contention": 1, "buffer length": 31, "reduction length": 33,
    }  # fmt: skip
    return {**row, **{name: min(int(row[name]), level) for name, level in most.items()}}


SMALL = [n for n, row in enumerate(ROWS) if why_not(_small(row)) is None]


def test_most_rows_have_a_small_twin() -> None:
    assert len(SMALL) > 0.9 * len(ROWS)


@pytest.mark.parametrize("number", SMALL[::9])
def test_the_expected_bytes_are_those_of_the_reference(number: int) -> None:
    case = build(_small(ROWS[number]), 11)
    found = run(case.program, case.inputs, case.workgroups, detect=True)
    assert not found.report.races
    assert not found.report.divergent_barriers
    assert found.buffers == case.expected


def _turn_by_turn(words: Any, start: int, turns: int) -> Any:
    for k in range(start, start + turns):
        words = words * np.uint32(closed.FACTOR) + np.uint32((k * closed.STEP + closed.OFFSET) & 0xFFFF_FFFF)
    return words


def test_the_closed_form_of_a_loop_is_the_loop() -> None:
    words = np.arange(5, dtype=np.uint32)
    assert closed.turned(words, 7, 200, 0).tolist() == _turn_by_turn(words, 7, 200).tolist()
    assert closed.turned(words, 7, 201, 0).tolist() != _turn_by_turn(words, 7, 200).tolist()


def test_floats_accumulate_one_after_the_other() -> None:
    found = closed.accumulated(np.ones(1, np.float32), "FAdd", 0, 70_000)
    total = np.float32(1)
    for k in range(70_000):
        total = total + np.uint32(((k & 0xFFFF) << 7) + 0x3F80_0000).view(np.float32)
    assert found[0] == total
