"""pow and atan2: a value in doubles with a bound on its error; where that is not enough, on integers.

2^64 pairs cannot be tried, so each rounding is tested: a double farther than its error from where two F32 meet
rounds as the exact value does. Of pairs at random one in 2^17 (pow) and one in 2^23 (atan2) fails.
Subnormal results are left to the integers too. Like the inverse functions these have no branches
but the rare one at the end, and make choices on words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Call, Expr, LitU32, select
from vyre.numeric.doubles import coefficients as c
from vyre.numeric.doubles.inverse import HALF_HIGH, LARGEST, ONE_HIGH, PI_HIGH, PI_LOW
from vyre.numeric.doubles.logarithms import exponent_of
from vyre.numeric.doubles.script import (
    INFINITY,
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
    negated,
    number,
    quotient,
    rounded,
    scaled,
    series,
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

LIMIT = number(256) >> 32


def power() -> Op:
    s = DoubleScript("pow", "a", "b")
    a, b = s.params
    logarithm = exponent_of(s, s("base", widened(a & SIZE)))
    exponent = _limited(s, s("exponent", times(widened(b), logarithm)))
    lifted = s("lifted", added(exponent, double(MAGIC)))
    rest = s("rest", less(exponent, less(lifted, double(MAGIC))))
    polynomial = series(s, rest, (ONE, *c.EXP2_SLOPE, *c.EXP2_SERIES))
    bits, unsure = _tested(s, s("value", scaled(polynomial, low_word(lifted))), POWER_SLACK)
    result = s("result", bits)
    with s.when((a - 1 >= LARGEST) | ((b & SIZE) >= INFINITY) | unsure):
        whole, odd = _integer(s, s("size", b & SIZE))
        s.assign(result, select(whole, bits | odd << 31, NAN))
        usual = s("usual", (a & SIZE) - 1 < LARGEST)
        with s.when(usual.eq(0) | ((b & SIZE) >= INFINITY) | unsure):
            s.assign(result, Call("soft.f32.pow", s.params))
    return s.gives(result)


def atan2() -> Op:
    """The angle from the nearer axis, or from the diagonal, then the axis or diagonal itself."""
    s = DoubleScript("atan2", "a", "b")
    a, b = s.params
    rise, run = s("rise", a & SIZE), s("run", b & SIZE)
    steep = s("steep", rise > run)
    small = s("small", widened(select(steep, run, rise)))
    large = s("large", widened(select(steep, rise, run)))
    wide = s("wide", high_word(small) + FAR_APART > high_word(large))
    sine_high = s("sine_high", select(wide, ONE_HIGH, 0))
    sine = s("sine", joined(sine_high, LitU32(0)))
    ratio = s("ratio", quotient(fused(large, negated(sine), small), fused(small, sine, large)))
    back = s("back", steep << 31 ^ b & SIGN)
    axis_high = s("axis_high", select(steep, HALF_HIGH, select(b >> 31, PI_HIGH, 0)))
    axis = s("axis", joined(axis_high, select(axis_high, PI_LOW, 0)))
    start = s("start", fused(joined(sine_high ^ back, LitU32(0)), double(c.QUARTER_PI[0]), axis))
    bend = series(s, s("square", times(ratio, ratio)), (ONE, *c.ARC_TANGENT))
    turned = s("turned", joined(high_word(ratio) ^ back, low_word(ratio)))
    bits, unsure = _tested(s, s("angle", fused(turned, bend, start)), ANGLE_SLACK)
    result = s("result", bits | a & SIGN)
    s.rarely((rise - 1 >= LARGEST) | (run - 1 >= LARGEST) | unsure, result, "soft.f32.atan2")
    return s.gives(result)


def _tested(s: DoubleScript, value: Expr, slack: int) -> tuple[Expr, Expr]:
    """The rounded bits, and whether anything within 2^-slack of the value may round to others.

    The last 29 bits of a double say how far it is from where two F32 meet, except among the subnormal ones.
    """
    units = 1 << (53 - slack)
    place = s("place", low_word(value) * 8 - ((1 << 31) - 8 * units))
    below = s("below", high_word(value) - SUBNORMAL[0])
    unsure = (place <= 16 * units) | (below < SUBNORMAL[1] - SUBNORMAL[0])
    return s("rounded", rounded(value)), s("unsure", unsure)


def _limited(s: DoubleScript, exponent: Expr) -> Expr:
    """Within about 256: what is beyond is 0 or infinity, and stays so."""
    high = s("high", high_word(exponent))
    size = s("size", high & SIZE)
    return s("limited", joined(select(size < LIMIT, size, LIMIT) | high & SIGN, low_word(exponent)))


def _integer(s: DoubleScript, size: Expr) -> tuple[Expr, Expr]:
    """Whether a number of this size is an integer, and whether it is odd."""
    places = s("places", 150 - (size >> 23))
    few = s("few", places < 24)
    significand = s("significand", size & 0x7FFFFF | 0x800000)
    cut = s("cut", significand >> places)
    whole = s("whole", select(few, (cut << places).eq(significand), (places > 0x80000000) | size.eq(0)))
    return whole, s("odd", select(few, cut & 1, 0))
