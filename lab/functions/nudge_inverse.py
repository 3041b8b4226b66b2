"""Chooses the nudges of the short series of asin, acos and atan in `lab/functions/double_coefficients.py`.

    python -m lab.functions.nudge_inverse        needs scipy and python-flint; a minute

`lab/functions/nudging.py` says how. asin and acos share a series.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, ctx  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from lab.functions.double_coefficients import (
    ARC_SINE,
    ARC_TANGENT,
    NUDGE,
    arc_sine_series,
    arc_tangent_series,
    interpolated,
    nearest,
)
from lab.functions.nudging import Case, near_midpoints, solved
from vyre.numeric.doubles.inverse import EIGHTH_TURN, F32_HALF, F32_ONE, THREE_EIGHTHS
from vyre.numeric.doubles.ties import TIES

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGN = 1 << 31
WINDOW, LARGEST = 20_000, 1 << 28
TINY = 0x39000000
"""2^-13: below it asin and atan of a number round to the number itself."""
FLAT = 0x32000000, 0x4D000000
"""Below the first acos rounds to pi/2; so does atan above the second."""


def turned(bits: int) -> tuple[float, float, float]:
    """What the series of atan is multiplied by, its argument, and the angle that it is added to."""
    x = _value(bits)
    if bits > THREE_EIGHTHS:
        ratio, start = -1 / x, math.pi / 2
    elif bits > EIGHTH_TURN:
        ratio, start = (x - 1) / (x + 1), math.pi / 4
    else:
        ratio, start = x, 0.0
    return ratio, ratio * ratio, start


def arc_sine(bits: int) -> tuple[float, float, float]:
    x = _value(bits)
    if bits <= F32_HALF:
        return x, x * x, 0.0
    return -2 * math.sqrt((1 - x) / 2), (1 - x) / 2, math.pi / 2


def arc_cosine(bits: int) -> tuple[float, float, float]:
    x, size = _value(bits), abs(_value(bits))
    if bits & ~SIGN <= F32_HALF:
        return -x, x * x, math.pi / 2
    leg = 2 * math.sqrt((1 - size) / 2)
    return (leg, (1 - size) / 2, 0.0) if x > 0 else (-leg, (1 - size) / 2, math.pi)


def _value(bits: int) -> float:
    return float(np.array(bits, np.uint32).view(np.float32))


def cases(name: str, series: list[float], high: float, spans: list[tuple[int, int]]) -> Iterator[Case]:
    """For inputs within the spans of bits but ties; `high` is the largest argument of the series."""
    reduced = {"atan": turned, "asin": arc_sine, "acos": arc_cosine}[name]
    function = {"atan": np.arctan, "asin": np.arcsin, "acos": np.arccos}[name]
    known = TIES[name].larger if name in TIES else ()
    near = [b for span in spans for b in near_midpoints(function, *span, WINDOW)]
    for bits in [b for b in near if b not in known]:
        leg, square, start = reduced(bits)
        total = arb(0)
        for c in reversed((1.0, *series)):
            total = total * arb(square) + arb(c)
        true = getattr(arb(_value(bits)), name)()
        moves = [leg * square * (square / high) ** j * NUDGE for j in range(len(series))]
        rounding = 2.0**-53 * (abs(leg) + float(true.mid()) + start / 4)
        yield Case(true, arb(start) + arb(leg) * total, moves, rounding)


def short(series: Any, degree: int, high: Any) -> tuple[list[float], float]:
    """The series without nudges, and its largest argument."""
    found = interpolated(series, degree, arb(0), high * (1 + arb(1) / 1024))
    return [nearest(c) for c in found], float(high.mid())


def main() -> None:
    ctx.prec = 200
    found = partial(cases, "atan", *short(arc_tangent_series, ARC_TANGENT, (arb.pi() / 8).tan() ** 2))
    print("atan", solved(found([(TINY, FLAT[1])])))
    sine = short(arc_sine_series, ARC_SINE, arb(1) / 4)
    both = [*cases("asin", *sine, [(TINY, F32_ONE)])]
    both += cases("acos", *sine, [(FLAT[0], F32_ONE), (SIGN | FLAT[0], SIGN | F32_ONE)])
    print("asin and acos", solved(both, LARGEST))


if __name__ == "__main__":
    main()
