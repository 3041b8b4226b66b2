"""tanh, for the approximate track: correctly rounded on every input, all of which were tried.

`tanh x = n / (2 - n)` with `n = 1 - exp(-2x)`. The exponential is a power of two times `1 + m`, and `m` is
computed apart, so that `n` keeps its precision down to the smallest x. Below 2^-13 the result is x itself,
and 16 stands for everything above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import select
from vyre.numeric.doubles import coefficients as c
from vyre.numeric.doubles.script import (
    INFINITY,
    MAGIC,
    NAN,
    ONE,
    SIGN,
    SIZE,
    TWO,
    DoubleScript,
    added,
    double,
    fused,
    less,
    low_word,
    minus,
    over,
    rounded,
    scaled,
    series,
    times,
    widened,
)

if TYPE_CHECKING:
    from vyre.ir.op import Op

SMALL, LARGE = 0x39000000, 0x41800000
"""2^-13 and 16."""


def tanh() -> Op:
    s = DoubleScript("tanh", "a")
    (a,) = s.params
    size = s("size", a & SIZE)
    x = s("x", times(widened(select(size < LARGE, size, LARGE)), minus(TWO)))
    lifted = s("lifted", fused(x, double(c.EXP_PER_OCTAVE[0]), double(MAGIC)))
    whole = s("whole", less(lifted, double(MAGIC)))
    rest = s("rest", fused(whole, minus(c.EXP_OCTAVE[0]), x))
    rest = s("rest", fused(whole, minus(c.EXP_OCTAVE[1]), rest))
    grown = s("grown", times(rest, series(s, rest, (ONE, *c.EXP_SERIES))))
    power = s("power", scaled(minus(ONE), low_word(lifted)))
    n = s("n", fused(power, grown, added(double(ONE), power)))
    bits = s("bits", rounded(over(n, less(double(TWO), n))))
    value = s("value", select(size < SMALL, size, bits) | a & SIGN)
    return s.gives(select(size > INFINITY, NAN, value))
