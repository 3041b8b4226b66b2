"""exp, exp2 and exp10: a power of two times a polynomial on half an octave around zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, select
from vyre.numeric.doubles import coefficients as c
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
    less,
    low_word,
    minus,
    scaled,
    series,
    widened,
)
from vyre.numeric.doubles.ties import fairly_rounded

if TYPE_CHECKING:
    from vyre.ir.op import Op

LIMIT = 0x43800000
"""256: sizes from there on give 0 or infinity to every base, and their powers are still doubles."""


def exp() -> Op:
    s = DoubleScript("exp", "a")
    x = _argument(s)
    lifted = s("lifted", fused(x, double(c.EXP_PER_OCTAVE[0]), double(MAGIC)))
    return _result(s, _rest(s, x, lifted, c.EXP_OCTAVE), (ONE, ONE, *c.EXP_SERIES), lifted)


def exp2() -> Op:
    s = DoubleScript("exp2", "a")
    x = _argument(s)
    lifted = s("lifted", added(x, double(MAGIC)))
    rest = s("rest", less(x, less(lifted, double(MAGIC))))
    return _result(s, rest, (ONE, *c.EXP2_SLOPE, *c.EXP2_SERIES), lifted)


def exp10() -> Op:
    s = DoubleScript("exp10", "a")
    x = _argument(s)
    lifted = s("lifted", fused(x, double(c.EXP10_PER_OCTAVE[0]), double(MAGIC)))
    return _result(s, _rest(s, x, lifted, c.EXP10_OCTAVE), (ONE, *c.EXP10_SLOPE, *c.EXP10_SERIES), lifted)


def _argument(s: DoubleScript) -> Expr:
    (a,) = s.params
    size = s("size", a & SIZE)
    return s("x", widened(a & SIGN | select(size < LIMIT, size, LIMIT)))


def _rest(s: DoubleScript, x: Expr, lifted: Expr, octave: tuple[int, ...]) -> Expr:
    """What is left of x behind a whole number of octaves, which are known in two parts."""
    whole = s("whole", less(lifted, double(MAGIC)))
    rest = s("rest", fused(whole, minus(octave[0]), x))
    return s("rest", fused(whole, minus(octave[1]), rest))


def _result(s: DoubleScript, rest: Expr, polynomial: tuple[int, ...], lifted: Expr) -> Op:
    (a,) = s.params
    power = s("power", scaled(series(s, rest, polynomial), low_word(lifted)))
    value = fairly_rounded(s, s.name, a, power)
    return s.gives(select((a & SIZE) > INFINITY, NAN, value))
