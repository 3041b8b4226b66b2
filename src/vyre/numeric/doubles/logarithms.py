"""log, log2, log10 and log1p: `x = 2^k m`, a factor brings m within 0.172 of 1, a polynomial does the rest.

Near 1 the factor is 1 and k is 0, so nothing cancels; elsewhere the result is at least 0.07 in size. The
factor was chosen so that its logarithm is a short number. The series of log and log2 are one and two terms
shorter than a double deserves. Every F32 comes out right with them, by log2's because they were nudged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre.ir.expr import Expr, LitU32, select
from vyre.numeric.doubles import coefficients as c
from vyre.numeric.doubles.script import (
    INFINITY,
    NAN,
    ONE,
    SIGN,
    SIZE,
    ZERO,
    DoubleScript,
    added,
    double,
    from_i32,
    fused,
    high_word,
    joined,
    less,
    low_word,
    minus,
    number,
    series,
    times,
    widened,
)
from vyre.numeric.doubles.ties import fairly_rounded

if TYPE_CHECKING:
    from vyre.ir.op import Op

LOWEST, MIDDLE = 0x3FEA827A, 0x3FF2BEC3
"""About 0.8284 and 1.1716, as high words of doubles: m lies between the first and twice it."""

OCTAVE = 20
"""Twice as much is 2^20 more in the high word of a double."""


SMALL, MINUS_ONE = 0x33000000, 0xBF800000
"""2^-25, below which log1p of a number rounds to the number itself; and -1."""


class Base(NamedTuple):
    """Constants of a base, as bits of doubles.

    The logarithm of 2, the factor of the upper half and minus its logarithm, the slope at 1, and the rest of
    the series.
    """

    of_2: int
    half: tuple[int, ...]
    slope: int
    series: tuple[int, ...]


E = Base(c.LOG_OF_2[0], c.LOG_HALF, ONE, c.LOG_SERIES)
TWO = Base(ONE, c.LOG2_HALF, c.LOG2_SLOPE[0], c.LOG2_SHORT)
TEN = Base(c.LOG10_OF_2[0], c.LOG10_HALF, c.LOG10_SLOPE[0], c.LOG10_SERIES)


COUNT_HIGH, COUNT = 0x40880000, number(3, -8)
"""768 as a double: its high word plus 2^11 is that of 769."""


def log() -> Op:
    return _logarithm("log", E)


def log2() -> Op:
    return _logarithm("log2", TWO)


def log10() -> Op:
    return _logarithm("log10", TEN)


def log1p() -> Op:
    """1 + x is exact where it matters; a small x is its own result."""
    s = DoubleScript("log1p", "a")
    (a,) = s.params
    size = s("size", a & SIZE)
    x, first = _reduced(s, s("whole", added(widened(a), double(ONE))), E)
    near = s("near", fused(times(x, x), series(s, x, c.LOG1P_SERIES), x))
    logarithm = s("logarithm", added(first, near))
    value = s("value", select(size < SMALL, a, fairly_rounded(s, "log1p", a, logarithm)))
    special = s("special", select(a.eq(MINUS_ONE), 0xFF800000, select(a.eq(INFINITY), a, NAN)))
    return s.gives(select((a < INFINITY) | (a - SIGN < MINUS_ONE - SIGN), value, special))


def _logarithm(name: str, base: Base) -> Op:
    s = DoubleScript(name, "a")
    (a,) = s.params
    x, first = _reduced(s, s("whole", widened(a)), base)
    logarithm = s("logarithm", fused(x, series(s, x, (base.slope, *base.series)), first))
    value = fairly_rounded(s, name, a, logarithm)
    special = s("special", select(a & SIZE, select(a.eq(INFINITY), INFINITY, NAN), 0xFF800000))
    return s.gives(select((a - 1) < 0x7F7FFFFF, value, special))


def exponent_of(s: DoubleScript, whole: Expr) -> Expr:
    """The logarithm to base 2 of a positive normal double, right to 2^-51 of itself, for pow.

    The factor of the upper half is sqrt(1/2), so that the first part is a multiple of 1/2, which is put
    together from bits.
    """
    octaves, upper, near = _parted(s, whole)
    x = s("x", fused(near, select(upper, double(c.ROOT_HALF[0]), double(ONE)), minus(ONE)))
    halves = s("halves", (octaves ^ SIGN) + select(upper, 1 << (OCTAVE - 1), 0))
    count = s("count", joined((halves >> 9) + (COUNT_HIGH - (SIGN >> 9)), LitU32(0)))
    polynomial = series(s, x, (*c.LOG2_SLOPE, *c.LOG2_SERIES))
    return s("logarithm", fused(x, polynomial, less(count, double(COUNT))))


def _parted(s: DoubleScript, whole: Expr) -> tuple[Expr, Expr, Expr]:
    """The octaves, at the place of the exponent in a high word; whether the rest is in the upper half; the
    rest."""
    high = s("high", high_word(whole))
    octaves = s("octaves", (high - LOWEST) & 0xFFF00000)
    part = s("part", high - octaves)
    return octaves, s("upper", part >= MIDDLE), s("near", joined(part, low_word(whole)))


def _reduced(s: DoubleScript, whole: Expr, base: Base) -> tuple[Expr, Expr]:
    """How far the argument is from 1 behind its power of two and the factor, and their logarithm."""
    octaves, upper, near = _parted(s, whole)
    x = s("x", fused(near, select(upper, double(base.half[0]), double(ONE)), minus(ONE)))
    of_2 = double(base.of_2 - (OCTAVE << 52))  # divided by 2^20
    return x, s("first", fused(from_i32(octaves), of_2, select(upper, double(base.half[1]), double(ZERO))))
