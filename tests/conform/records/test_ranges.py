"""Every failing case is inside a range, and ranges say no more than what failed."""

from __future__ import annotations

import numpy as np
import pytest

from vyre.conform.records import ranges
from vyre.conform.records.ranges import MOST, joined, of_mask


def test_runs_of_failing_cases_are_ranges() -> None:
    mask = np.array([1, 1, 0, 0, 1, 0, 1, 1, 1], np.bool_)
    assert of_mask(mask, 100) == [[100, 101, 2], [104, 104, 1], [106, 108, 3]]
    assert of_mask(np.zeros(5, np.bool_), 7) == []
    assert of_mask(np.ones(5, np.bool_), 7) == [[7, 11, 5]]


def test_ranges_side_by_side_are_one() -> None:
    assert joined([[10, 12, 3], [0, 9, 10], [14, 14, 1]]) == [[0, 12, 13], [14, 14, 1]]
    assert joined([]) == []


@pytest.mark.parametrize("density", [0.001, 0.1, 0.5, 0.9])
def test_many_stay_inside_as_few_as_may_be(density: float) -> None:
    mask = np.random.default_rng(1).random(1 << 14) < density
    found = of_mask(mask, 5)
    assert 0 < len(found) <= MOST
    inside = np.zeros_like(mask)
    for first, last, count in found:
        inside[first - 5 : last - 4] = True
        assert count == int(mask[first - 5 : last - 4].sum())
        assert mask[first - 5]
        assert mask[last - 5]
    assert not (mask & ~inside).any()


def test_the_widest_gaps_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "MOST", 2)
    assert joined([[0, 0, 1], [2, 2, 1], [90, 90, 1], [93, 93, 1]]) == [[0, 2, 2], [90, 93, 2]]


def test_parts_join_as_the_whole_does() -> None:
    mask = np.zeros(1000, np.bool_)
    mask[[3, 4, 499, 500, 777]] = True
    parts = [*of_mask(mask[:500], 0), *of_mask(mask[500:], 500)]
    assert joined(parts) == of_mask(mask, 0) == [[3, 4, 2], [499, 500, 2], [777, 777, 1]]
