"""Grids: what is one, and what no backend is ever asked to run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vyre.errors import DispatchError
from vyre.ir.grid import grid_of, require_grid
from vyre.ir.limits import MAX_GRID_INVOCATIONS, U32_MAX


@pytest.mark.parametrize(
    ("given", "grid"),
    [
        (3, (3, 1, 1)),
        (0, (0, 1, 1)),
        ((2, 5), (2, 5, 1)),
        ([1, 2, 3], (1, 2, 3)),
        (range(1, 4), (1, 2, 3)),
        (np.int64(4), (4, 1, 1)),
        ((np.uint8(4), np.array(5)), (4, 5, 1)),
        (1 << 70, (1 << 70, 1, 1)),
    ],
)
def test_one_to_three_counts_are_a_grid(given: Any, grid: tuple[int, int, int]) -> None:
    found = grid_of(given)
    assert found == grid
    assert all(type(count) is int for count in found)


@pytest.mark.parametrize(
    "given",
    [
        *(-1, (1, -1), (), (1, 2, 3, 4), "3", b"3", 2.0, (1, "2"), (1, None), None, {}),
        *(True, (True, 1), np.bool_(True), np.float32(2), np.array([1, 2]), np.array(2.0), np.array(True)),
    ],
)
def test_what_is_no_grid_is_refused(given: Any) -> None:
    with pytest.raises(DispatchError, match=r"is not a grid\. Fix: pass workgroups= as one to three"):
        grid_of(given)


def test_the_limits_themselves_are_allowed() -> None:
    require_grid((U32_MAX, 1, 1), (1, 1, 1), "cpu")
    require_grid((1 << 26, 1 << 16, 1), (64, 1, 1), "cpu")
    require_grid((1 << 16, 1 << 16, 1 << 16), (1, 1, 1), "cpu")
    require_grid((1 << 16, 1 << 16, 0), (1024, 1, 1), "cpu")
    assert MAX_GRID_INVOCATIONS == 1 << 48


@pytest.mark.parametrize(
    ("grid", "size", "message"),
    [
        ((1 << 32, 1, 1), (1, 1, 1), "4294967296 workgroups along x; the backend cpu accepts 4294967295"),
        ((1, (1 << 26) + 1, 1), (1, 64, 1), "along y need invocation ids beyond a u32"),
        ((1 << 31, 1 << 31, 4), (1, 1, 1), "18446744073709551616 invocations; at most 281474976710656"),
        ((1 << 31, 1 << 31, 4), (2, 1, 1), "36893488147419103232 invocations"),
        ((1 << 16, 1 << 16, 1 << 16), (1, 1, 2), "562949953421312 invocations"),
        ((1 << 24, 1 << 24, 1 << 16), (1, 1, 1), "18446744073709551616 invocations"),
        ((True, 1, 1), (1, 1, 1), "is not a grid for the backend cpu"),
        ((1.0, 1, 1), (1, 1, 1), "is not a grid for the backend cpu"),
        ((1, -1, 1), (1, 1, 1), "is not a grid for the backend cpu"),
        ((1, 1), (1, 1, 1), "is not a grid for the backend cpu"),
    ],
)
def test_what_would_wrap_is_refused(grid: Any, size: tuple[int, int, int], message: str) -> None:
    with pytest.raises(DispatchError, match=message):
        require_grid(grid, size, "cpu")
