"""pow and atan2: a value in doubles with a bound on its error; where that is not enough, on integers.

2^64 pairs cannot be tried, so each rounding is tested: if the value a little less and a little more round
to the same F32, that is the result. Of pairs at random one in 2^18 (pow) and one in 2^24 (atan2) fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, select
from vyre.numeric.doubles import coefficients as c
from vyre.numeric.doubles.inverse import arc_tangent
from vyre.numeric.doubles.logarithms import TWO_TO_THE_LAST_PLACE, logarithm_of
from vyre.numeric.doubles.script import (
    INFINITY,
    MAGIC,
    NAN,
    ONE,
    SIGN,
    SIZE,
    ZERO,
    DoubleScript,
    added,
    below,
    double,
    less,
    low_word,
    minus,
    number,
    over,
    rounded,
    scaled,
    series,
    times,
    widened,
)

if TYPE_CHECKING:
    from vyre.ir.op import Op

LARGEST = 0x7F7FFFFF
POWER_SLACK = 43
"""2^-43, relative: an exponent below 256, off by at most 3 * 2^-53 of itself, is 2^-44 of the power."""

ANGLE_SLACK = 49
"""2^-49, relative. Five roundings and the polynomial stay below 8 * 2^-53."""


def power() -> Op:
    s = DoubleScript("pow", "a", "b")
    a, b = s.params
    size = s("size", a & SIZE)
    logarithm = logarithm_of(s, s("base", widened(size)), TWO_TO_THE_LAST_PLACE)
    exponent = _limited(s, s("exponent", times(widened(b), logarithm)))
    lifted = s("lifted", added(exponent, double(MAGIC)))
    rest = s("rest", less(exponent, less(lifted, double(MAGIC))))
    polynomial = series(s, rest, (ONE, *c.EXP2_SLOPE, *c.EXP2_SERIES))
    value = s("value", scaled(polynomial, low_word(lifted)))
    bits, sure = _tested(s, value, POWER_SLACK)
    whole, odd = _integer(s, b & SIZE)
    negative = s("negative", a >> 31)
    signed = s("signed", select(whole, bits | (negative & odd) << 31, NAN))
    result = s("result", select(negative, signed, bits))
    unusual = (size - 1 >= LARGEST) | ((b & SIZE) >= INFINITY)
    s.rarely(unusual | sure.eq(0), result, "soft.f32.pow")
    return s.gives(result)


def atan2() -> Op:
    s = DoubleScript("atan2", "a", "b")
    a, b = s.params
    rise, run = s("rise", a & SIZE), s("run", b & SIZE)
    steep = s("steep", rise > run)
    small, large = (
        s("small", widened(select(steep, run, rise))),
        s("large", widened(select(steep, rise, run))),
    )
    wide = s("wide", below(times(large, double(number(53, 7))), small))
    above = s("above", select(wide, less(small, large), small))
    under = s("under", select(wide, added(small, large), large))
    start = tuple(s("start", select(wide, double(part), double(ZERO))) for part in c.QUARTER_PI)
    angle = arc_tangent(s, s("ratio", over(above, under)), start)
    angle = s("angle", select(steep, less(double(c.HALF_PI[0]), angle), angle))
    angle = s("angle", select(b >> 31, less(double(c.PI[0]), angle), angle))
    bits, sure = _tested(s, angle, ANGLE_SLACK)
    result = s("result", bits | a & SIGN)
    unusual = (rise - 1 >= LARGEST) | (run - 1 >= LARGEST)
    s.rarely(unusual | sure.eq(0), result, "soft.f32.atan2")
    return s.gives(result)


def _tested(s: DoubleScript, value: Expr, slack: int) -> tuple[Expr, Expr]:
    """The rounded bits, and whether everything within 2^-slack of it rounds to them."""
    low = s("low_end", rounded(times(value, double(number((1 << slack) - 1, slack)))))
    return low, s("sure", low.eq(rounded(times(value, double(number((1 << slack) + 1, slack))))))


def _limited(s: DoubleScript, exponent: Expr) -> Expr:
    """Within 256: what is beyond is 0 or infinity, and stays so."""
    high = s("high", select(below(double(number(256)), exponent), double(number(256)), exponent))
    return s("limited", select(below(high, minus(number(256))), minus(number(256)), high))


def _integer(s: DoubleScript, size: Expr) -> tuple[Expr, Expr]:
    """Whether a number of this size is an integer, and whether it is odd."""
    places = s("places", 150 - (size >> 23))
    few = s("few", places < 24)
    significand = s("significand", size & 0x7FFFFF | 0x800000)
    cut = s("cut", significand >> places)
    whole = s("whole", select(few, (cut << places).eq(significand), (places > 0x80000000) | size.eq(0)))
    return whole, s("odd", select(few, cut & 1, 0))
