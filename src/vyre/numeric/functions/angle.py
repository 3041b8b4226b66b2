"""atan and atan2: the angle of a point.

The shorter leg over the longer is a ratio of at most 1. Above tan(pi/8) it is turned by an eighth of a turn,
`(d - n) / (d + n)`, exactly, so that `|z| <= 0.4143`; then the angle is `k pi/4` plus or minus `atan z`, with
k from 0 to 4. The ratio is an exact long division, and `atan z = z * (1 - w * series(w))` with `w = 4z^2`.

Two legs are 2^64 pairs, more than can be tried, so atan2 decides each rounding: 64 bits with a bound on their
error; where a midpoint is nearer than that, 96 bits. What those cannot decide, about one pair in 2^61, is
rounded as it stands, and `atan2_undecided` counts it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitU32, mul_hi, select
from vyre.numeric.formula import clz, smaller
from vyre.numeric.functions.angle_coefficients import ARC_TANGENT_2, ARC_TANGENT_3, EIGHTHS
from vyre.numeric.functions.decide import slack_of, tested
from vyre.numeric.functions.ending import Parts, Unrounded, nearest, taken_apart
from vyre.numeric.functions.limbs import (
    chosen,
    literal,
    looked_up_wide,
    minus,
    moved_right,
    negated_if,
    normalised,
    plus,
    product,
)
from vyre.numeric.functions.quotient import lifted, long_division
from vyre.numeric.functions.script import Script
from vyre.numeric.functions.series import alternating
from vyre.numeric.soft.layout import prefix
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.op import Op

_EIGHTH = 0x6A09E667
"""tan(pi/8) in units of 2^-32."""

_SERIES = {2: ARC_TANGENT_2, 3: ARC_TANGENT_3}

_TINY = 50
"""From here on atan z and z agree to 2^-100: closer than a ratio of 24-bit numbers comes to its own bits."""

FIRST_SLACK = 1 << 8
"""Units of the second limb, 2^-63 of the result; `docs/functions.md` counts the errors."""

LAST_SLACK = 1 << 8
"""Units of the third limb, 2^-95 of the result."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """`z = (over / 2) / under * 2^power`, and the angle `eighths * pi/4` plus z's, or minus where `minus`."""

    over: Expr
    under: Expr
    power: Expr
    eighths: Expr
    minus: Expr


def atan(fmt: FloatFormat) -> Op:
    s = Script(f"{prefix(fmt)}.atan", "a", doc="The arc tangent, correctly rounded.")
    (a,) = s.params
    y = taken_apart(s, fmt, a)
    one = Parts(LitU32(0), LitU32(fmt.one), LitU32(1 << 31), LitU32(0))
    value, _ = angle_of(s, ratio_of(s, fmt, y, one), 2)
    bits = nearest(s, fmt, value)
    signed = s.let(select(y.size.eq(0), a, bits | y.sign << fmt.sign_shift), "signed")
    return s.gives(select(y.size > fmt.infinity, fmt.nan, signed))


def atan2(fmt: FloatFormat) -> Op:
    doc = "The angle of the point (x, y), correctly rounded, signed zeros and infinities as in IEEE 754-2019."
    return _atan2(Script(f"{prefix(fmt)}.atan2", "y", "x", doc=doc), fmt, count=False)


def atan2_undecided(fmt: FloatFormat) -> Op:
    """1 where even the last rounding test of `atan2` fails."""
    s = Script(f"{prefix(fmt)}.atan2_undecided", "y", "x", doc="1 where atan2 could not decide its rounding.")
    return _atan2(s, fmt, count=True)


def _atan2(s: Script, fmt: FloatFormat, *, count: bool) -> Op:
    first, second = s.params
    y, x = taken_apart(s, fmt, first, "y"), taken_apart(s, fmt, second, "x")
    ratio = ratio_of(s, fmt, y, x)
    value, exact = angle_of(s, ratio, 2)
    slack = s.let(select(exact, 0, FIRST_SLACK))
    bits, undecided = tested(s, fmt, value, slack_of(slack, 1, 3))
    result = s("result", bits)
    failed = s("failed", 0)
    none = s("none", ratio.over.eq(0) & ratio.eighths.eq(0))
    with s.when(undecided & (none ^ 1)):
        value, _ = angle_of(s, ratio, 3)
        _, failing = tested(s, fmt, value, slack_of(LitU32(LAST_SLACK), 2, 4))
        s.assign(result, nearest(s, fmt, value))
        s.assign(failed, failing)
    invalid = s("invalid", (y.size > fmt.infinity) | (x.size > fmt.infinity))
    if count:
        return s.gives(select(invalid, 0, failed))
    signed = s("signed", select(none, 0, result) | y.sign << fmt.sign_shift)
    return s.gives(select(invalid, fmt.nan, signed))


def ratio_of(s: Script, fmt: FloatFormat, y: Parts, x: Parts) -> Ratio:
    steep = s("steep", y.size > x.size)
    n = s("shorter", select(steep, x.significand, y.significand))
    d = s("longer", select(steep, y.significand, x.significand))
    fall = s("fall", select(steep, y.exponent - x.exponent, x.exponent - y.exponent))
    least = s("least", select(steep, x.size, y.size))
    most = s("most", select(steep, y.size, x.size))
    # An axis: the ratio is zero, whatever the significands say.
    axis = s("axis", least.eq(0) | (most.eq(fmt.infinity) & least.ne(fmt.infinity)))
    below = s("below", n >> smaller(fall, 31))
    near = s("near", (below > mul_hi(d, _EIGHTH)) & axis.eq(0) & (fall < 3))
    over = s("over", select(near, d - below, select(axis, 0, n)))
    under = s("under", select(near, (d >> 1) + (below >> 1), d))
    over_zeros, under_zeros = s("over_zeros", clz(over)), s("under_zeros", clz(under))
    power = s("power", select(near, under_zeros - over_zeros, 1 - fall))
    straight = s("straight", select(near, 1, steep << 1))
    eighths = s("eighths", select(x.sign, 4 - straight, straight))
    back = s("back", near ^ steep ^ x.sign)
    return Ratio(
        s("over_top", over << over_zeros), s("under_top", under << under_zeros), power, eighths, back
    )


def angle_of(s: Script, r: Ratio, count: int) -> tuple[Unrounded, Expr]:
    """The angle in `count + 1` limbs, within the slacks above, and 1 where it needs none of them."""
    digits, rest = long_division(s, s.let(r.over >> 1), r.under, count)
    places = s.let(1 - r.power, "places")
    tiny = s.let((places + 512 > 512 + _TINY) & r.eighths.eq(0), "tiny")
    # A tiny angle is less than the ratio by less than any digit shows.
    digits = minus(s, digits, (*literal(0, count - 1), s.let(tiny & rest.eq(0))))
    z, top = lifted(s, digits)
    places = s.let(places - top, "places")
    square = product(s, z, z, count)
    square = moved_right(
        s, square, s.let(smaller(s.let((places << 1) - 2), 32 * count - 1)), most=32 * count - 1
    )
    shortfall = product(s, square, alternating(s, square, _SERIES[count], count), count)
    size = product(s, z, tuple(s.let(~word) for word in shortfall), count + 1)
    size = chosen(s, tiny, (*z, LitU32(1)), size)
    alone, height = lifted(s, size)
    last = 32 * (count + 1) - 1
    part = moved_right(s, size, s.let(smaller(s.let(places + 2), last)), most=last)
    rows = [row >> 32 * (4 - count) for row in EIGHTHS]
    total = plus(s, looked_up_wide(s, r.eighths, rows, count + 1), negated_if(s, part, r.minus))
    words, moved = normalised(s, total, keep=count + 1)
    flat = s.let(r.eighths.eq(0), "flat")
    exponent = s.let(select(flat, height - 2 - places, 1 - moved), "angle_exponent")
    return Unrounded(chosen(s, flat, alone, words), exponent), tiny
