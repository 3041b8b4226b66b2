"""asin, acos and atan.

asin and acos have a polynomial for sizes up to 1/2; beyond, `asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2))`.
atan takes away pi/4 or pi/2 first, by a division.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, Var, select
from vyre.numeric.doubles import coefficients as c
from vyre.numeric.doubles.script import (
    HALF,
    INFINITY,
    NAN,
    ONE,
    SIGN,
    SIZE,
    TWO,
    ZERO,
    DoubleScript,
    added,
    double,
    fused,
    less,
    minus,
    over,
    root,
    rounded,
    series,
    times,
    widened,
)
from vyre.numeric.doubles.ties import fairly_rounded

if TYPE_CHECKING:
    from vyre.ir.op import Op

F32_ONE, F32_HALF = 0x3F800000, 0x3F000000
TINY = 0x39000000
"""2^-13: below it asin and atan of a number round to the number itself."""

EIGHTH_TURN, THREE_EIGHTHS = 0x3ED413CD, 0x401A827A
"""The tangents of pi/8 and 3 pi/8, about."""


def asin() -> Op:
    s = DoubleScript("asin", "a")
    (a,) = s.params
    size, far, arc = _arc(s, a)
    outer = s("outer", fused(minus(TWO), arc, double(c.HALF_PI[0])))
    value = s("value", rounded(select(far, added(outer, double(c.HALF_PI[1])), arc)))
    signed = s("signed", value | a & SIGN)
    return s.gives(select(size > F32_ONE, NAN, select(size < TINY, a, signed)))


def acos() -> Op:
    s = DoubleScript("acos", "a")
    (a,) = s.params
    size, far, arc = _arc(s, a)
    negative = s("negative", a >> 31)
    doubled = s("doubled", added(arc, arc))
    turned = s("turned", added(less(double(c.PI[0]), doubled), double(c.PI[1])))
    signed = s("signed", select(negative, arc, less(double(ZERO), arc)))
    inner = s("inner", added(double(c.HALF_PI[0]), added(signed, double(c.HALF_PI[1]))))
    angle = s("angle", select(far, select(negative, turned, doubled), inner))
    return s.gives(select(size > F32_ONE, NAN, fairly_rounded(s, "acos", a, angle)))


def atan() -> Op:
    s = DoubleScript("atan", "a")
    (a,) = s.params
    size = s("size", a & SIZE)
    x = s("x", widened(size))
    far, middle = s("far", size > THREE_EIGHTHS), s("middle", size > EIGHTH_TURN)
    one = double(ONE)
    above = s("above", select(far, minus(ONE), select(middle, less(x, one), x)))
    below = s("below", select(far, x, select(middle, added(x, one), one)))
    start = tuple(
        s("start", select(far, double(c.HALF_PI[i]), select(middle, double(c.QUARTER_PI[i]), double(ZERO))))
        for i in range(2)
    )
    angle = arc_tangent(s, s("ratio", over(above, below)), start)
    value = fairly_rounded(s, "atan", size, angle)
    signed = s("signed", select(size < TINY, a, value | a & SIGN))
    return s.gives(select(size > INFINITY, NAN, signed))


def arc_tangent(s: DoubleScript, ratio: Expr, start: tuple[Expr, ...]) -> Expr:
    """`start`, in two parts, and the angle of a ratio of at most tan(pi/8)."""
    square = s("square", times(ratio, ratio))
    cube = s("cube", times(square, ratio))
    bend = s("bend", fused(cube, series(s, square, c.ARC_TANGENT), start[1]))
    return s("angle", added(start[0], added(ratio, bend)))


def _arc(s: DoubleScript, a: Var) -> tuple[Expr, Expr, Expr]:
    """The size of the argument, whether it is above 1/2, and asin of it or of sqrt((1 - size) / 2)."""
    size = s("size", a & SIZE)
    far = s("far", size > F32_HALF)
    x = s("x", widened(size))
    rest = s("rest", fused(x, minus(HALF), double(HALF)))
    square = s("square", select(far, rest, times(x, x)))
    y = s("y", select(far, root(rest), x))
    cube = s("cube", times(square, y))
    return size, far, s("arc", fused(cube, series(s, square, c.ARC_SINE), y))
