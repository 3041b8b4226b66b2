"""Moves the coefficients of a short series until every input near a midpoint of F32 is on its side of it.

A series that is shorter than a double deserves can put a handful of results on the wrong side of a midpoint.
On which side an input comes out is linear in the coefficients, so a linear program moves them until all
inputs near a midpoint are on their side, by the largest margin in units of the rounding error. That all
inputs are right is for `vyre certify BACKEND --exhaustive NAME` to show. Needs scipy and python-flint.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from flint import arb  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from lab.functions.double_coefficients import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Number = Any

WINDOW = 3000
"""Distance from a midpoint, in last places of a double, of the inputs that are looked at."""
LARGEST = 1 << 20
"""How far a coefficient is moved at most, in steps of `NUDGE`."""


class Case(NamedTuple):
    """An input: its exact result, what the formula makes of it without rounding errors, and by how much a
    step of each coefficient moves that; then about the rounding error of the formula."""

    true: Number
    made: Number
    moves: list[float]
    rounding: float


def near_midpoints(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    start: int,
    stop: int,
    window: int = WINDOW,
) -> list[int]:
    """The bits of inputs from `start` to `stop` whose result is within the window of a midpoint."""
    found: list[int] = []
    for first in range(start, stop, 1 << 22):
        bits = np.arange(first, min(first + (1 << 22), stop), dtype=np.uint32)
        results = function(bits.view(np.float32).astype(np.float64))
        low = (results.view(np.uint64) & np.uint64((1 << 29) - 1)).astype(np.int64)
        found += bits[np.abs(low - (1 << 28)) <= window].tolist()
    return found


def solved(cases: Iterable[Case], largest: int = LARGEST) -> tuple[int, ...]:
    """The nudges, none above the largest; prints how far they get."""
    rows: list[list[float]] = []
    limits: list[float] = []
    for case in cases:
        words = int(np.array(nearest(case.true)).view(np.uint64))
        middle = float(np.array(words >> 29 << 29 | 1 << 28, np.uint64).view(np.float64))
        place = math.ulp(middle)
        side = math.copysign(1, float((case.true - arb(middle)).mid()))
        rows.append([*(-side * m / place for m in case.moves), case.rounding / place + 1 / 64])
        limits.append(side * float(((case.made - arb(middle)) / place).mid()))
    count = len(rows[0]) - 1
    bounds = [(-largest, largest)] * count + [(-1e5, 1e5)]
    linprog: Any = import_module("scipy.optimize").linprog
    found = linprog([0.0] * count + [-1.0], A_ub=rows, b_ub=limits, bounds=bounds, method="highs")
    if found.x is None:
        raise SystemExit(f"no nudges: {found.message}")
    steps = tuple(round(v) for v in found.x[:count])
    left = min((b - float(np.dot(r[:count], steps))) / r[count] for r, b in zip(rows, limits, strict=True))
    wrong = sum(b < 0 for b in limits)
    print(f"{len(rows)} inputs, {wrong} wrong without nudges; then {left:.2f} rounding errors to spare")
    return steps
