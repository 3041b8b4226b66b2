"""pow: 2 to the power of `y log2 |x|`, with the rounding decided for each pair.

First with a logarithm of 96 bits and a power of 64; where a midpoint is nearer than the error bound, with 128
and 96. What that cannot decide is an exact midpoint, or about one in 2^61 of all other pairs: `_midpoint`
tells the two apart. Exact midpoints go to the even neighbour, and so would the others, which `pow_undecided`
counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitU32, UnOp, select
from vyre.ir.operators import UnaryOp
from vyre.numeric.formula import clz
from vyre.numeric.functions.coefficients import LOG2_SERIES_3, LOG2_SERIES_4, LOG2_TABLE_5
from vyre.numeric.functions.decide import slack_of, tested
from vyre.numeric.functions.ending import taken_apart
from vyre.numeric.functions.exponentials import power_of_two
from vyre.numeric.functions.limbs import (
    looked_up_wide,
    moved_right,
    negated_if,
    normalised,
    plus,
    product,
    shifted,
)
from vyre.numeric.functions.logarithms import near_one
from vyre.numeric.functions.script import Script
from vyre.numeric.functions.series import signed
from vyre.numeric.soft.layout import prefix
from vyre.numeric.soft.parts import TOP
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.op import Op
    from vyre.numeric.functions.ending import Parts, Unrounded
    from vyre.numeric.functions.limbs import Words

_SERIES = {3: LOG2_SERIES_3, 4: LOG2_SERIES_4}

FIRST_SLACK = 1 << 8
"""Units of the second limb, 2^-63 of the result; `docs/functions.md` counts the errors."""

LAST_SLACK = 1 << 8
"""Units of the third limb, 2^-95 of the result."""

_LONGEST = 25
"""Bits of a midpoint: one more than a significand of F32."""

_FOURTH_POWERS = tuple(r**4 for r in range(3, 64, 2))
_EIGHTH_POWERS = tuple(r**8 for r in range(3, 8, 2))


@dataclass(frozen=True, slots=True)
class _Exponent:
    """`y` as `odd * 2^weight`."""

    odd: Expr
    weight: Expr
    integral: Expr
    is_odd: Expr


def power(fmt: FloatFormat) -> Op:
    doc = "x to the power of y, correctly rounded, with the special cases of IEEE 754-2019."
    return _power(Script(f"{prefix(fmt)}.pow", "x", "y", doc=doc), fmt, count=False)


def power_undecided(fmt: FloatFormat) -> Op:
    """1 where even the last rounding test of `pow` fails and the result is not a midpoint."""
    s = Script(f"{prefix(fmt)}.pow_undecided", "x", "y", doc="1 where pow could not decide its rounding.")
    return _power(s, fmt, count=True)


def _power(s: Script, fmt: FloatFormat, *, count: bool) -> Op:
    first, second = s.params
    x, y = taken_apart(s, fmt, first, "x"), taken_apart(s, fmt, second, "y")
    exponent = _exponent(s, y)
    value, beyond, falling = estimate(s, x, y, 3, 2)
    bits, undecided = tested(s, fmt, value, slack_of(LitU32(FIRST_SLACK), 1, 2))
    result, failed = s("result", bits), s("failed", 0)
    # Infinities, zeros and NaN take part with their bits; what they give is replaced below.
    with s.when(undecided & (beyond ^ 1)):
        value, _, _ = estimate(s, x, y, 4, 3)
        low, open_ = tested(s, fmt, value, slack_of(LitU32(LAST_SLACK), 2, 3))
        s.assign(result, s.let(low + (open_ & low)))
        s.assign(failed, s.let(open_ & (_midpoint(s, x, y, exponent) ^ 1)))
    finite = s("finite", select(beyond, select(falling, 0, fmt.infinity), result))
    sign = s("sign", (exponent.is_odd & x.sign) << fmt.sign_shift)
    grows = s("grows", (x.size > fmt.one).eq(y.sign ^ 1))
    limit = s("limit", select(grows, fmt.infinity, 0))
    end = s("end", x.size.eq(0) | x.size.eq(fmt.infinity))
    forever = s("forever", y.size.eq(fmt.infinity))
    nan = s("nan", (x.size > fmt.infinity) | (y.size > fmt.infinity))
    imaginary = s("imaginary", x.sign & (exponent.integral ^ 1) & (end | forever).eq(0))
    usual = s("usual", select(end, sign | limit, sign | finite))
    last = s("last", select(forever, select(x.size.eq(fmt.one), fmt.one, limit), usual))
    number = s("number", select(nan | imaginary, fmt.nan, last))
    one = s("one", y.size.eq(0) | first.eq(fmt.one))
    if count:
        return s.gives(select(one | nan | imaginary | end | forever, 0, failed))
    return s.gives(select(one, fmt.one, number))


def _exponent(s: Script, y: Parts) -> _Exponent:
    zeros = s("odd_place", UnOp(UnaryOp.Ctz, y.significand))
    odd = s("odd", y.significand >> zeros)
    weight = s("weight", y.exponent + zeros - TOP)
    return _Exponent(odd, weight, s("integral", (weight >> TOP) ^ 1), s("is_odd", weight.eq(0)))


def estimate(s: Script, x: Parts, y: Parts, log_limbs: int, limbs: int) -> tuple[Unrounded, Expr, Expr]:
    """The power, whether it is far outside every range, and whether it is below 1."""
    negative, words, moved = _log2(s, x, log_limbs)
    scaled = product(s, (y.significand,), words, log_limbs + 1)
    # `scaled * 2^power` is the size of y log2 x, and `scaled` is 1/4 or more.
    power = s.let(y.exponent + 10 - moved, "power")
    places = s.let(32 - power, "places")
    beyond = s("beyond", places + 1024 < 1024 + 32 - 9)
    last = 32 * (log_limbs + 1) - 1
    fixed = moved_right(s, scaled, s.let(select(places > last, last, places)), most=last)[: limbs + 1]
    falling = s("falling", negative ^ y.sign)
    whole, *fraction = negated_if(s, fixed, falling)
    return power_of_two(s, whole, tuple(fraction)), beyond, falling


def _log2(s: Script, x: Parts, count: int) -> tuple[Expr, Words, Expr]:
    """The sign of log2 |x|, and its size as `words * 2^(9 - moved)`, normalised; as in `logarithms`."""
    factor, row, power = near_one(s, x.significand, x.exponent)
    offset = s.let((x.significand >> 8) * factor - (1 << TOP), "offset")
    below = s.let(offset >> TOP, "below_one")
    distance = s.let(select(below, -offset, offset) << 6, "distance")
    series = signed(s, (distance,), below, _SERIES[count], count)
    part = shifted(s, product(s, (distance,), series, count + 1), -13)
    rows = [value >> 32 * (4 - count) for value in LOG2_TABLE_5]
    total = plus(s, looked_up_wide(s, row, rows, count + 1), negated_if(s, part, below))
    total = (s.let(total[0] + (power << 23)), *total[1:])
    sign = s.let(total[0] >> TOP, "log_sign")
    words, moved = normalised(s, negated_if(s, total, sign), keep=count)
    return sign, words, moved


def _midpoint(s: Script, x: Parts, y: Parts, exponent: _Exponent) -> Expr:
    """1 where a power that is as close to a midpoint as the last test allows is that midpoint.

    With `x = m 2^e` and `y = n / 2^j` (m and n odd), a dyadic power is `r^n` for the root `r` of m of order
    2^j, or a power of two when m is 1. `docs/functions.md` shows that the conditions below are enough.
    """
    tail = s("tail", UnOp(UnaryOp.Ctz, x.significand))
    m = s("m", x.significand >> tail)
    e = s("e", x.exponent + tail - TOP)
    j = s("j", select(exponent.integral, 0, -exponent.weight))
    few = s("few", (exponent.integral ^ 1) | (exponent.weight < 4))
    n = s("n", select(exponent.integral, exponent.odd << (exponent.weight & 3), exponent.odd))
    length = s("length", TOP - clz(m))
    short = s("short", few & (n < 16) & (j < 4) & (n * length <= _LONGEST << (j & 3)))
    fourth = s("fourth", _among(m, _FOURTH_POWERS) & (e & 3).eq(0))
    eighth = s("eighth", _among(m, _EIGHTH_POWERS) & (e & 7).eq(0))
    rooted = s("rooted", select(j < 2, 1, select(j.eq(2), fourth, eighth)))
    return s("midpoint", m.eq(1) | (short & rooted & (y.sign ^ 1)))


def _among(value: Expr, numbers: tuple[int, ...]) -> Expr:
    found: Expr = LitU32(0)
    for number in numbers:
        found = found | value.eq(number)
    return found
