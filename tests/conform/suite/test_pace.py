"""What a run says of the time that is left is what its own blocks have cost, and nothing before that."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from vyre.conform.suite.pace import Pace, StageProgress, spread

BLOCKS = [("shapes", 8, False)] * 4 + [("golden", 48, False)] * 10


def test_no_time_before_every_thread_has_had_a_block() -> None:
    pace = Pace(BLOCKS, threads=2)
    assert pace.at("shapes") == StageProgress("shapes", 1, 2, 0, 32)
    pace.finished("shapes", 8, 12.0)
    assert pace.at("shapes").left is None
    pace.finished("shapes", 8, 14.0)
    assert pace.at("shapes") == StageProgress("shapes", 1, 2, 16, 32, 13.0, None)
    assert pace.at("golden") == StageProgress("golden", 2, 2, 0, 480)


def test_blocks_that_differ_in_size_cost_by_block_and_by_case() -> None:
    sizes = [10, 1000, 4000, 10, 1000, 4000]
    pace = Pace([("ops", size, False) for size in sizes], threads=1)
    for size in sizes[:3]:
        pace.finished("ops", size, 2 + size / 1000)
    assert pace.at("ops").left == pytest.approx(3 * 2 + 5.010)


@pytest.mark.parametrize("seconds", [(1.0, 5.0), (5.0, 1.0)])
def test_no_part_of_a_cost_is_below_zero(seconds: tuple[float, float]) -> None:
    """A line through few points may fall, or start below 0: then blocks, or cases, cost the same."""
    pace = Pace([("ops", 10, False), ("ops", 20, False), ("ops", 1, False), ("ops", 99, False)], threads=1)
    for size, took in zip((10, 20), seconds, strict=True):
        pace.finished("ops", size, took)
    left = pace.at("ops").left
    assert left == pytest.approx(20.0 if seconds[0] < seconds[1] else 6.0)


def test_what_an_earlier_process_has_finished_is_done_and_tells_no_time() -> None:
    pace = Pace([("golden", 48, True), ("golden", 48, False)], threads=1)
    assert pace.at("golden") == StageProgress("golden", 1, 1, 48, 96)


def test_the_whole_is_told_by_an_earlier_run_and_the_speed_of_this_one() -> None:
    pace = Pace(BLOCKS, threads=2, earlier={"shapes": 20.0, "golden": 30.0})
    assert pace.at("shapes").whole_left == pytest.approx(25.0)
    for _ in range(4):
        pace.finished("shapes", 8, 10.0)  # twice as slow as it was
    assert pace.at("golden").whole_left == pytest.approx(30.0)
    for _ in range(5):
        pace.finished("golden", 48, 2.0)
    assert pace.at("golden").whole_left == pace.at("golden").left == pytest.approx(5.0)


@pytest.mark.parametrize("earlier", [None, {"shapes": 20.0}])
def test_a_stage_of_unknown_cost_leaves_the_whole_untold(earlier: Any) -> None:
    assert Pace(BLOCKS, threads=2, earlier=earlier).at("shapes").whole_left is None


def test_what_comes_first_is_from_everywhere() -> None:
    for count in (0, 1, 2, 3, 7, 64, 100):
        places = spread(count)
        assert sorted(places) == list(range(count))
        first = sorted(k for k, place in enumerate(places) if place < (count + 3) // 4)
        gaps = [b - a for a, b in itertools.pairwise([-1, *first, count])]
        assert max(gaps) <= 9, "a quarter of them leaves a gap"
