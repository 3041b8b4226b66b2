"""pow and atan2: a value in doubles with a bound on its error; where that is not enough, on integers.

2^64 pairs cannot be tried, so each rounding is tested: a double that is farther than its error from where two
F32 meet rounds as the exact value does. Of pairs at random one in 2^17 (pow) and one in 2^23 (atan2) fails.
Subnormal results are left to the integers too. Like the inverse functions these have no branches
but the rare one at the end, and make choices on words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Call, Expr, LitU32, select
from vyre.numeric.doubles import coefficients as c
from vyre.numeric.doubles.inverse import LARGEST, ONE_HIGH
from vyre.numeric.doubles.logarithms import exponent_of
from vyre.numeric.doubles.script import (
    MAGIC,
    NAN,
    ONE,
    SIGN,
    SIZE,
    DoubleScript,
    added,
    double,
    fused,
    high_word,
    joined,
    less,
    low_word,
    number,
    rounded,
    scaled,
    series,
    short_quotient,
    times,
    widened,
)

if TYPE_CHECKING:
    from vyre.ir.op import Op

POWER_SLACK = 42
"""2^-42, relative: an exponent below 256, off by 2^-51 of itself, is 2^-43.5 of the power."""

ANGLE_SLACK = 48
"""2^-48, relative. Five roundings and the polynomial stay below 12 * 2^-53."""

FAR_APART = 0x143D71
"""Added to the high word of the smaller number, it decides whether their ratio is above about 0.414: it is
at least 0.395 if the sum is larger than the other high word, else at most 0.434."""

SUBNORMAL = 0x36600000, 0x38100000
"""The high words of the doubles 2^-153 and 2^-126."""

LIMIT, ENDLESS = number(256) >> 32, 0x7FF00000
"""The high words of 256 and of infinity."""

EIGHTHS = tuple(number(k) >> 32 for k in range(5))
"""The high words of numbers of eighths of a turn."""


def power() -> Op:
    s = DoubleScript("pow", "a", "b")
    a, b = s.params
    logarithm = exponent_of(s, s("base", widened(a & SIZE)))
    product = s("product", times(widened(b), logarithm))
    high = s("high", high_word(product))
    size = s("size", high & SIZE)
    # Within about 256: what is beyond is 0 or infinity, and stays so.
    exponent = s("exponent", joined(select(size < LIMIT, size, LIMIT) | high & SIGN, low_word(product)))
    lifted = s("lifted", added(exponent, double(MAGIC)))
    rest = s("rest", less(exponent, less(lifted, double(MAGIC))))
    polynomial = series(s, rest, (ONE, *c.EXP2_SLOPE, *c.EXP2_SERIES))
    value = s("value", scaled(polynomial, low_word(lifted)))
    bits = s("bits", rounded(value))
    subnormal = high_word(value) - SUBNORMAL[0] < SUBNORMAL[1] - SUBNORMAL[0]
    hard = s("hard", _is_near(value, POWER_SLACK) | subnormal | (size >= ENDLESS))
    result = s("result", bits)
    with s.when((a - 1 >= LARGEST) | hard):
        whole, odd = _integer(s, s("size", b & SIZE))
        s.assign(result, select(whole, bits | odd << 31, NAN))
        with s.when(((a & SIZE) - 1 >= LARGEST) | hard):
            s.assign(result, Call("soft.f32.pow", s.params))
    return s.gives(result)


def atan2() -> Op:
    """The angle from the nearer axis, or from the diagonal, then the axis or diagonal itself."""
    s = DoubleScript("atan2", "a", "b")
    a, b = s.params
    rise, run = s("rise", a & SIZE), s("run", b & SIZE)
    steep, left = s("steep", rise > run), s("left", b >> 31)
    least, most = s("least", select(steep, run, rise)), s("most", select(steep, rise, run))
    small, large = s("small", widened(least)), s("large", widened(most))
    wide = s("wide", high_word(small) + FAR_APART > high_word(large))
    sine = s("sine", select(wide, ONE_HIGH, 0))
    above = s("above", fused(large, joined(sine ^ SIGN, LitU32(0)), small))
    under = s("under", fused(small, joined(sine, LitU32(0)), large))
    ratio = s("ratio", short_quotient(above, under))
    bend = series(s, s("square", times(ratio, ratio)), (ONE, *c.ARC_TANGENT))
    axis = s("axis", select(steep, EIGHTHS[2], select(left, EIGHTHS[4], EIGHTHS[0])))
    eighths = s("eighths", select(wide, select(left, EIGHTHS[3], EIGHTHS[1]), axis))
    start = s("start", times(joined(eighths, LitU32(0)), double(c.QUARTER_PI[0])))
    back = s("back", select(steep, SIGN, 0) ^ b & SIGN)
    turned = s("turned", joined(high_word(ratio) ^ back, low_word(ratio)))
    angle = s("angle", fused(turned, bend, start))
    result = s("result", rounded(angle) | a & SIGN)
    unusual = least.eq(0) | (most > LARGEST)
    hard = _is_near(angle, ANGLE_SLACK) | (high_word(angle) < SUBNORMAL[1])
    s.rarely(unusual | hard, result, "soft.f32.atan2")
    return s.gives(result)


def _is_near(value: Expr, slack: int) -> Expr:
    """Whether a number within 2^-slack of the value may round to another F32 than it, if it is not subnormal:
    the last 29 bits of a double say how far it is from where two F32 meet."""
    units = 1 << (53 - slack)
    return low_word(value) * 8 - ((1 << 31) - 8 * units) <= 16 * units


def _integer(s: DoubleScript, size: Expr) -> tuple[Expr, Expr]:
    """Whether a number of this size is an integer, and whether it is odd."""
    places = s("places", 150 - (size >> 23))
    few = s("few", places < 24)
    significand = s("significand", size & 0x7FFFFF | 0x800000)
    cut = s("cut", significand >> places)
    whole = s("whole", select(few, (cut << places).eq(significand), (places > 0x80000000) | size.eq(0)))
    return whole, s("odd", select(few, cut & 1, 0))
