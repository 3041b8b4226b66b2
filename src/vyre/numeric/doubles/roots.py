"""cbrt: an inverse cube root from the exponent, made better twice, and the root from it.

For `z` near `x^(-1/3)` and `h = 1 - x z^3`, the fourth power of `h` is what a step leaves. At the end the
root is cut to 26 bits, so that its square is exact, and its residual puts the rest back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitU32, mul_hi, select
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
    high_word,
    joined,
    low_word,
    minus,
    series,
    times,
    widened,
)
from vyre.numeric.doubles.ties import fairly_rounded

if TYPE_CHECKING:
    from vyre.ir.op import Op

F32_ONE = 0x3F800000
THIRD = 0x55555556
START = 0x553EE800
"""Less a third of the high word of x, it is the high word of about `x^(-1/3)`, within 3.6 %."""


def cbrt() -> Op:
    s = DoubleScript("cbrt", "a")
    (a,) = s.params
    size = s("size", a & SIZE)
    usual = s("usual", size - 1 < INFINITY - 1)
    x = s("x", widened(select(usual, size, F32_ONE)))
    z: Expr = s("z", joined(START - mul_hi(high_word(x), THIRD), LitU32(0)))
    z = _better(s, x, _better(s, x, z))
    square = s("square", times(z, z))
    root = s("root", times(x, square))
    short = s("short", joined(high_word(root), low_word(root) & 0xF8000000))
    residual = s("residual", fused(times(short, short), short, times(x, minus(ONE))))
    value = s("value", fused(residual, times(square, minus(c.CBRT_STEP[0])), short))
    bits = s("bits", fairly_rounded(s, "cbrt", size, value) | a & SIGN)
    return s.gives(select(usual, bits, select(size > INFINITY, NAN, a)))


def _better(s: DoubleScript, x: Expr, z: Expr) -> Expr:
    cube = s("cube", times(times(z, z), z))
    h = s("h", fused(times(x, minus(ONE)), cube, double(ONE)))
    return s("z", fused(times(z, h), series(s, h, c.CBRT_STEP), z))
