"""Chooses the nudges of the short series of log2 in `lab/functions/double_coefficients.py`.

    python -m lab.functions.nudge_log2        needs scipy and python-flint; a minute

A series that is two terms shorter than a double deserves can put a handful of the 2^31 results on the wrong
side of a midpoint of F32. On which side an input comes out is linear in the coefficients, so a linear
program moves them until all inputs near a midpoint are on their side, by the largest margin in units of the
rounding error. That all inputs are right is for `vyre certify BACKEND --exhaustive log2` to show.
"""

from __future__ import annotations

import math
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
from flint import arb, ctx  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from lab.functions.double_coefficients import (
    NUDGE,
    RADIUS,
    SHORT,
    interpolated,
    logarithm_series,
    nearest,
    split_octave,
)
from vyre.numeric.doubles.logarithms import LOWEST, MIDDLE

WINDOW = 3000
"""Distance from a midpoint, in last places of a double, of the inputs that are looked at."""
ROUNDING = 2.0**-55
"""About the error of the series in doubles."""
LARGEST = 1 << 20
"""How far a coefficient is moved at most, in steps of `NUDGE`."""


def near_midpoints() -> list[int]:
    """The inputs whose logarithm is within the window of a midpoint."""
    found: list[int] = []
    for start in range(1, 0x7F800000, 1 << 22):
        bits = np.arange(start, min(start + (1 << 22), 0x7F800000), dtype=np.uint32)
        results = np.log2(bits.view(np.float32).astype(np.float64))
        low = (results.view(np.uint64) & np.uint64((1 << 29) - 1)).astype(np.int64)
        found += bits[np.abs(low - (1 << 28)) <= WINDOW].tolist()
    return found


def reduced(value: float, half: tuple[float, float]) -> tuple[float, float]:
    """What the series gets for an input, and the double that it is added to, as the formula computes them."""
    words = int(np.array(value).view(np.uint64))
    octaves = ((words >> 32) - LOWEST) >> 20
    near = float(np.array(words - (octaves << 52), np.uint64).view(np.float64))
    upper = (words >> 32) - (octaves << 20) >= MIDDLE
    factor, shift = half if upper else (1.0, 0.0)
    return float(Fraction(near) * Fraction(factor) - 1), octaves + shift


def main() -> None:
    ctx.prec = 200
    ln2: Any = arb(2).log()
    half, slope = split_octave(ln2), nearest(1 / ln2)
    exact = interpolated(logarithm_series(ln2), SHORT, -RADIUS, RADIUS * (1 + arb(1) / 1024))
    series = [nearest(c) for c in exact]
    count = len(series)
    rows: list[list[float]] = []
    limits: list[float] = []
    for value in np.array(near_midpoints(), np.uint32).view(np.float32).tolist():
        x, first = reduced(value, half)
        true = arb(value).log() / ln2
        words = int(np.array(nearest(true)).view(np.uint64))
        middle = float(np.array(words >> 29 << 29 | 1 << 28, np.uint64).view(np.float64))
        place = math.ulp(middle)
        total = arb(first) + arb(x) * slope
        for power, c in enumerate(series, 2):
            total += arb(c) * arb(x) ** power
        side = math.copysign(1, float((true - arb(middle)).mid()))
        moves = [x ** (j + 2) * NUDGE / float(RADIUS.mid()) ** j / place for j in range(count)]
        rows.append([*(-side * m for m in moves), ROUNDING / place + 1 / 64])
        limits.append(side * float(((total - arb(middle)) / place).mid()))
    bounds = [(-LARGEST, LARGEST)] * count + [(-WINDOW, WINDOW)]
    linprog: Any = import_module("scipy.optimize").linprog
    found = linprog([0.0] * count + [-1.0], A_ub=rows, b_ub=limits, bounds=bounds, method="highs")
    if found.x is None:
        raise SystemExit(f"no nudges: {found.message}")
    steps = [round(v) for v in found.x[:count]]
    left = min((b - float(np.dot(r[:count], steps))) / r[count] for r, b in zip(rows, limits, strict=True))
    wrong = sum(b < 0 for b in limits)
    print(f"{len(rows)} inputs, {wrong} wrong without nudges; then {left:.2f} rounding errors to spare")
    print(tuple(steps))


if __name__ == "__main__":
    main()
