"""Grids: how many workgroups run along x, y and z, and what no device may be asked for.

Counts, products and products with the workgroup size are Python integers here, so nothing wraps before it
is compared. A grid that passes has invocation ids that fit a u32 along every axis, and at most
`MAX_GRID_INVOCATIONS` invocations, so that 64-bit counters of every backend hold it with room to spare. A
count of 0 along any axis runs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from vyre.errors import DispatchError
from vyre.ir.limits import MAX_GRID_INVOCATIONS, U32_MAX

Grid = tuple[int, int, int]


def grid_of(workgroups: object) -> Grid:
    """One to three counts as three; raises `DispatchError` for what is not a grid."""
    counts: list[int] = []
    several = isinstance(workgroups, Sequence) and not isinstance(workgroups, str | bytes | bytearray)
    parts = cast("Sequence[Any]", workgroups if several else (workgroups,))
    for given in parts:
        boolean = type(given).__name__ == "bool"  # also NumPy's, which some versions of it take for an index
        index = None if boolean else getattr(given, "__index__", None)
        try:
            counts.append(int(index()) if index is not None else -1)
        except TypeError:  # an array of several numbers has the method and refuses
            counts.append(-1)
    if not 1 <= len(counts) <= 3 or any(n < 0 for n in counts):
        raise DispatchError(
            f"{workgroups!r} is not a grid.",
            fix="pass workgroups= as one to three whole numbers of 0 or more, such as 64 or (8, 8).",
        )
    x, y, z = (*counts, 1, 1)[:3]
    return x, y, z


def require_grid(grid: Grid, size: Grid, backend: str, *, per_axis: int = U32_MAX) -> None:
    """Raises `DispatchError` for a grid of workgroups of `size` that cannot run; checked before anything."""
    if len(grid) != 3 or any(type(count) is not int or count < 0 for count in grid):
        raise DispatchError(
            f"{grid!r} is not a grid for the backend {backend}.",
            fix="pass three whole numbers of 0 or more.",
        )
    for axis, count, width in zip("xyz", grid, size, strict=True):
        if count > per_axis:
            raise DispatchError(
                f"{count} workgroups along {axis}; the backend {backend} accepts {per_axis}.",
                fix="spread the grid over two axes, or choose another backend.",
            )
        if count * width > U32_MAX + 1:
            raise DispatchError(
                f"{count} workgroups of {width} along {axis} need invocation ids beyond a u32.",
                fix="use fewer workgroups, or spread the grid over two axes.",
            )
    total = grid[0] * grid[1] * grid[2] * size[0] * size[1] * size[2]
    if total > MAX_GRID_INVOCATIONS:
        raise DispatchError(
            f"a grid of {grid[0]} x {grid[1]} x {grid[2]} workgroups has {total} invocations; "
            f"at most {MAX_GRID_INVOCATIONS} run in one dispatch.",
            fix="use fewer workgroups, or split the work over several dispatches.",
        )
