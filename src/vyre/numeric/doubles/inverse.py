"""asin, acos and atan: the angle at the start of a range, and a polynomial times what leads there from it.

asin and acos have one for sizes up to 1/2; beyond, `asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2))`.
atan takes away pi/4 or pi/2 first, by a division. There are no branches, and choices are made on words: where
all numbers take one path, a GPU computes several side by side and loads each coefficient once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitU32, Var, select
from vyre.numeric.doubles import coefficients as c
from vyre.numeric.doubles.script import (
    HALF,
    INFINITY,
    NAN,
    ONE,
    SIGN,
    SIZE,
    DoubleScript,
    double,
    fused,
    high_word,
    joined,
    low_word,
    minus,
    root,
    series,
    short_quotient,
    times,
    widened,
)
from vyre.numeric.doubles.ties import fairly_rounded

if TYPE_CHECKING:
    from vyre.ir.op import Op

F32_ONE, F32_HALF, LARGEST = 0x3F800000, 0x3F000000, 0x7F7FFFFF

EIGHTH_TURN, THREE_EIGHTHS = 0x3ED413CD, 0x401A827A
"""The tangents of pi/8 and 3 pi/8, about."""

ONE_HIGH = ONE >> 32
QUARTER_HIGH, HALF_HIGH, PI_HIGH, PI_LOW = (
    c.QUARTER_PI[0] >> 32,
    c.HALF_PI[0] >> 32,
    c.PI[0] >> 32,
    c.PI[0] & 0xFFFFFFFF,
)
"""The high words of pi/4, pi/2 and pi; the low word is the same."""

DOUBLED = 1 << 20
"""Added to the high word of a double, it makes twice the number."""

LEAST_HIGH = 0x10000000
"""The high word of a number that takes the place of zero under a root: 2^-767."""


def asin() -> Op:
    """Above 1/2 the angle is computed less than zero, and its sign dropped."""
    s = DoubleScript("asin", "a")
    (a,) = s.params
    size, far, x, y, bend = _arc(s, a)
    start = joined(select(far, SIGN | HALF_HIGH, 0), s("start_low", select(far, PI_LOW, 0)))
    # Not a sum in one arm of a choice: compilers make a branch of that.
    high = s("high", select(far, high_word(y), high_word(x)) + select(far, DOUBLED, 0))
    angle = s("angle", fused(joined(high, s("low", select(far, low_word(y), low_word(x)))), bend, start))
    return s.gives(select(size > F32_ONE, NAN, fairly_rounded(s, "asin", size, angle) & SIZE | a & SIGN))


def acos() -> Op:
    s = DoubleScript("acos", "a")
    (a,) = s.params
    size, far, x, y, bend = _arc(s, a)
    negative = s("negative", a >> 31)
    start_high = s("start_high", select(far, select(negative, PI_HIGH, 0), HALF_HIGH))
    start = joined(start_high, s("start_low", select(start_high, PI_LOW, 0)))
    leg = s("leg", high_word(y) + DOUBLED)
    high = s("high", select(far, leg, high_word(x) ^ SIGN) ^ a & SIGN)
    angle = s("angle", fused(joined(high, s("low", select(far, low_word(y), low_word(x)))), bend, start))
    return s.gives(select(size > F32_ONE, NAN, fairly_rounded(s, "acos", a, angle)))


def atan() -> Op:
    """Of `x`, `(x - 1) / (x + 1)` or `-1 / x`: the tangent of the angle less 0, pi/4 or pi/2."""
    s = DoubleScript("atan", "a")
    (a,) = s.params
    size = s("size", a & SIZE)
    x = s("x", widened(select(size < LARGEST, size, LARGEST)))
    far, middle = s("far", size > THREE_EIGHTHS), s("middle", size > EIGHTH_TURN)
    sine = s("sine", select(middle, ONE_HIGH, 0))
    cosine = s("cosine", joined(select(far, 0, ONE_HIGH), LitU32(0)))
    above = s("above", fused(x, cosine, joined(sine ^ SIGN, LitU32(0))))
    ratio = s("ratio", short_quotient(above, fused(x, joined(sine, LitU32(0)), cosine)))
    high = s("start_high", select(far, HALF_HIGH, select(middle, QUARTER_HIGH, 0)))
    square = s("square", times(ratio, ratio))
    bend = series(s, square, (ONE, *c.ARC_TANGENT_SHORT))
    angle = s("angle", fused(ratio, bend, joined(high, select(middle, PI_LOW, 0))))
    value = s("value", fairly_rounded(s, "atan", size, angle) | a & SIGN)
    return s.gives(select(size > INFINITY, NAN, value))


def _arc(s: DoubleScript, a: Var) -> tuple[Expr, Expr, Expr, Expr, Expr]:
    """The size of the argument, whether it is above 1/2, the two numbers of which one has the angle that is
    computed, the size and sqrt((1 - size) / 2), and by how much that angle is longer."""
    size = s("size", a & SIZE)
    far = s("far", size > F32_HALF)
    x = s("x", widened(size))
    rest = s("rest", fused(x, minus(HALF), double(HALF)))
    rest_high = s("rest_high", high_word(rest))
    kept = s("kept", joined(select(rest_high < LEAST_HIGH, LEAST_HIGH, rest_high), low_word(rest)))
    y, near = s("y", root(kept)), s("near", times(x, x))
    square = s("square", select(far, rest, near))
    return size, far, x, y, s("bend", series(s, square, (ONE, *c.ARC_SINE)))
