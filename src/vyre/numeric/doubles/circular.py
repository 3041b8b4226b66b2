"""sin, cos and tan: the argument less a multiple of pi, then a polynomial of its square; for tan a quotient.

The multiple is exact in two parts up to `LIMIT`: no F32 below it comes so near to a multiple of pi / 2 that
the third part would count. From there on the function on integers takes over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, select
from vyre.numeric.doubles import coefficients as c
from vyre.numeric.doubles.script import (
    HALF,
    MAGIC,
    ONE,
    SIZE,
    DoubleScript,
    added,
    double,
    fused,
    less,
    low_word,
    minus,
    quotient,
    rounded,
    series,
    times,
    widened,
)
from vyre.numeric.doubles.ties import fairly_rounded

if TYPE_CHECKING:
    from vyre.ir.op import Op

LIMIT = 0x4D800000
"""2^28."""


def sin() -> Op:
    s = DoubleScript("sin", "a")
    x = _argument(s)
    lifted = s("lifted", fused(x, double(c.PER_PI[0]), double(MAGIC)))
    half_turns = s("half_turns", less(lifted, double(MAGIC)))
    sine = _sine(s, _rest(s, x, half_turns, c.PI))
    value = fairly_rounded(s, "sin", s("size", s.params[0] & SIZE), sine)
    return _result(s, "sin", value ^ low_word(lifted) << 31)


def cos() -> Op:
    """The sine of what is left behind an odd number of quarter turns."""
    s = DoubleScript("cos", "a")
    x = _argument(s)
    lifted = s("lifted", added(fused(x, double(c.PER_PI[0]), minus(HALF)), double(MAGIC)))
    half_turns = s("half_turns", added(less(lifted, double(MAGIC)), double(HALF)))
    value = s("value", rounded(_sine(s, _rest(s, x, half_turns, c.PI))))
    return _result(s, "cos", value ^ (low_word(lifted) + 1) << 31)


def tan() -> Op:
    """One division gives the tangent of what is left, or minus its cotangent behind an odd quarter turn."""
    s = DoubleScript("tan", "a")
    x = _argument(s)
    lifted = s("lifted", fused(x, double(c.PER_HALF_PI[0]), double(MAGIC)))
    rest = _rest(s, x, s("quarter_turns", less(lifted, double(MAGIC))), c.HALF_PI)
    square = s("square", times(rest, rest))
    above = s("above", times(rest, series(s, square, (ONE, *c.TANGENT_ABOVE))))
    under = s("under", series(s, square, (ONE, *c.TANGENT_BELOW)))
    odd = s("odd", low_word(lifted) & 1)
    ratio = s("ratio", quotient(select(odd, under, above), select(odd, above, under)))
    return _result(s, "tan", rounded(ratio) ^ odd << 31)


def _argument(s: DoubleScript) -> Expr:
    (a,) = s.params
    return s("x", widened(a))


def _rest(s: DoubleScript, x: Expr, count: Expr, unit: tuple[int, ...]) -> Expr:
    rest = s("rest", fused(count, minus(unit[0]), x))
    return s("rest", fused(count, minus(unit[1]), rest))


def _sine(s: DoubleScript, rest: Expr) -> Expr:
    square = s("square", times(rest, rest))
    return s("sine", times(rest, series(s, square, (ONE, *c.SINE))))


def _result(s: DoubleScript, name: str, value: Expr) -> Op:
    (a,) = s.params
    result = s("result", value)
    s.rarely((a & SIZE) >= LIMIT, result, f"soft.f32.{name}")
    return s.gives(result)
