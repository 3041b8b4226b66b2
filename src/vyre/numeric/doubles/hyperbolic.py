"""sinh, cosh, tanh and expm1.

An exponential is a power of two times `1 + m`, and `m` is computed apart, so that `expm1` and `tanh` keep
their precision down to the smallest argument: `tanh x = n / (2 - n)` with `n = 1 - exp(-2x)`. sinh and cosh
have series of their own on half an octave to both sides of zero, and `2^k + 2^-k` and `2^k - 2^-k` as
factors. Small arguments are their own results; large ones are cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, select
from vyre.numeric.doubles import coefficients as c
from vyre.numeric.doubles.script import (
    HALF,
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
from vyre.numeric.doubles.ties import fairly_rounded

if TYPE_CHECKING:
    from vyre.ir.op import Op

SMALL, LARGE = 0x39000000, 0x41800000
"""2^-13 and 16, for tanh."""

SMALL_SINE, SMALL_GROWTH, ENDLESS = 0x39800000, 0x33000000, 0x43800000
"""2^-12, 2^-25 and 256: what is as large overflows, or is -1 behind expm1."""


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


def sinh() -> Op:
    s = DoubleScript("sinh", "a")
    (a,) = s.params
    size = s("size", a & SIZE)
    sine, cosine, plus, minus_ = _half_octave(s, size)
    value = s("value", fused(plus, sine, times(minus_, cosine)))
    bits = s("bits", fairly_rounded(s, "sinh", size, value))
    signed = s("signed", select(size < SMALL_SINE, size, bits) | a & SIGN)
    return s.gives(select(size > INFINITY, NAN, signed))


def cosh() -> Op:
    s = DoubleScript("cosh", "a")
    (a,) = s.params
    size = s("size", a & SIZE)
    sine, cosine, plus, minus_ = _half_octave(s, size)
    bits = fairly_rounded(s, "cosh", size, s("value", fused(plus, cosine, times(minus_, sine))))
    return s.gives(select(size > INFINITY, NAN, bits))


def expm1() -> Op:
    s = DoubleScript("expm1", "a")
    (a,) = s.params
    size = s("size", a & SIZE)
    rest, power = _octaves(s, s("x", widened(a & SIGN | select(size < ENDLESS, size, ENDLESS))))
    grown = s("grown", times(rest, series(s, rest, (ONE, *c.EXPM1_SERIES))))
    value = s(
        "value", fused(scaled(double(ONE), power), grown, less(scaled(double(ONE), power), double(ONE)))
    )
    bits = s("bits", select(size < SMALL_GROWTH, a, fairly_rounded(s, "expm1", a, value)))
    return s.gives(select(size > INFINITY, NAN, bits))


def _octaves(s: DoubleScript, x: Expr) -> tuple[Expr, Expr]:
    """What is left behind a whole number of octaves, and their number."""
    lifted = s("lifted", fused(x, double(c.EXP_PER_OCTAVE[0]), double(MAGIC)))
    whole = s("whole", less(lifted, double(MAGIC)))
    rest = s("rest", fused(whole, minus(c.EXP_OCTAVE[0]), x))
    return s("rest", fused(whole, minus(c.EXP_OCTAVE[1]), rest)), s("octaves", low_word(lifted))


def _half_octave(s: DoubleScript, size: Expr) -> tuple[Expr, Expr, Expr, Expr]:
    """sinh and cosh of what is left behind k octaves, and cosh and sinh of these."""
    rest, k = _octaves(s, s("x", widened(select(size < ENDLESS, size, ENDLESS))))
    square = s("square", times(rest, rest))
    sine = s("sine", fused(times(rest, square), series(s, square, c.SINH), rest))
    cosine = s("cosine", fused(square, series(s, square, c.COSH), double(ONE)))
    up, down = s("up", scaled(double(HALF), k)), s("down", scaled(double(HALF), -k))
    return sine, cosine, s("plus", added(up, down)), s("minus", less(up, down))
