"""The error function: a polynomial on either side of 1, below it in the square.

3.9375 stands for everything above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, select
from vyre.numeric.doubles import coefficients as c
from vyre.numeric.doubles.script import (
    INFINITY,
    NAN,
    ONE,
    SIGN,
    SIZE,
    DoubleScript,
    double,
    fused,
    less,
    number,
    series,
    times,
    widened,
)
from vyre.numeric.doubles.ties import fairly_rounded

if TYPE_CHECKING:
    from vyre.ir.op import Op

F32_ONE, LARGE = 0x3F800000, 0x407C0000
"""1 and 3.9375, the erf of which rounds to 1."""

MIDDLE = number(79, 5)
"""Of 1 and 3.9375."""


def erf() -> Op:
    s = DoubleScript("erf", "a")
    (a,) = s.params
    size = s("size", a & SIZE)
    x = s("x", widened(select(size < LARGE, size, LARGE)))
    value = s("erf", select(size < F32_ONE, _near(s, x), _far(s, x)))
    bits = fairly_rounded(s, "erf", size, value)
    return s.gives(select(size > INFINITY, NAN, bits | a & SIGN))


def _near(s: DoubleScript, x: Expr) -> Expr:
    square = s("square", times(x, x))
    cube = s("cube", times(square, x))
    bend = s("bend", fused(cube, series(s, square, c.ERF_NEAR), times(x, double(c.ERF_SLOPE[1]))))
    return s("near", fused(x, double(c.ERF_SLOPE[0]), bend))


def _far(s: DoubleScript, x: Expr) -> Expr:
    """One less the complement: the first coefficient is small, so that its rounding does not count."""
    aside = s("aside", less(x, double(MIDDLE)))
    return s("far", less(double(ONE), series(s, aside, c.ERF_FAR)))
