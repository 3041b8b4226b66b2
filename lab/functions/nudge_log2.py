"""Chooses the nudges of the short series of log2 in `lab/functions/double_coefficients.py`.

python -m lab.functions.nudge_log2        needs scipy and python-flint; a minute

`lab/functions/nudging.py` says how.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

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
from lab.functions.nudging import Case, near_midpoints, solved
from vyre.numeric.doubles.logarithms import LOWEST, MIDDLE

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDING = 2.0**-55
"""About the error of the series in doubles."""


def reduced(value: float, half: tuple[float, float]) -> tuple[float, float]:
    """What the series gets for an input, and the double that it is added to, as the formula computes them."""
    words = int(np.array(value).view(np.uint64))
    octaves = ((words >> 32) - LOWEST) >> 20
    near = float(np.array(words - (octaves << 52), np.uint64).view(np.float64))
    upper = (words >> 32) - (octaves << 20) >= MIDDLE
    factor, shift = half if upper else (1.0, 0.0)
    return float(Fraction(near) * Fraction(factor) - 1), octaves + shift


def cases() -> Iterator[Case]:
    ln2: Any = arb(2).log()
    half, slope = split_octave(ln2), nearest(1 / ln2)
    exact = interpolated(logarithm_series(ln2), SHORT, -RADIUS, RADIUS * (1 + arb(1) / 1024))
    series = [nearest(c) for c in exact]
    for value in np.array(near_midpoints(np.log2, 1, 0x7F800000), np.uint32).view(np.float32).tolist():
        x, first = reduced(value, half)
        total = arb(first) + arb(x) * slope
        for power, c in enumerate(series, 2):
            total += arb(c) * arb(x) ** power
        moves = [x ** (j + 2) * NUDGE / float(RADIUS.mid()) ** j for j in range(len(series))]
        yield Case(arb(value).log() / ln2, total, moves, ROUNDING)


if __name__ == "__main__":
    ctx.prec = 200
    print(solved(cases()))
