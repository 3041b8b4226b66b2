"""sin, cos and tan, for arguments of any size.

The argument is reduced in quarters of a turn, `t = x * 2/pi`, by a window of 128 bits of 2/pi that is cut
where the exponent says (Payne and Hanek's method): the multiples of four quarters that lie above it do not
matter. 102 bits after the point are right; no F32 comes closer than 2^-30 to a multiple of pi/2, so 72 bits
of `t` are. Arguments below 1/2 use the window of 1/4 and keep their own exponent, so they lose nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitU32, select
from vyre.numeric.functions.angle_coefficients import COSINE, SINE, TWO_OVER_PI
from vyre.numeric.functions.ending import Unrounded, nearest, taken_apart
from vyre.numeric.functions.limbs import (
    chosen,
    moved_left,
    moved_right,
    negated_if,
    normalised,
    product,
    shifted,
)
from vyre.numeric.functions.quotient import divided, lifted
from vyre.numeric.functions.script import Script
from vyre.numeric.functions.series import alternating, alternating_either
from vyre.numeric.soft.layout import prefix
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.op import Op
    from vyre.numeric.functions.ending import Parts
    from vyre.numeric.functions.limbs import Words


@dataclass(frozen=True, slots=True)
class _Reduced:
    """`quadrant` quarters of a turn, and `words * 2^-places` of one more (or less, where `sign` is 1).

    `words` is normalised, `square` is four times the square of that rest.
    """

    quadrant: Expr
    sign: Expr
    words: Words
    places: Expr
    square: Words


def sin(fmt: FloatFormat) -> Op:
    s = Script(f"{prefix(fmt)}.sin", "a", doc="The sine of an angle in radians, correctly rounded.")
    (a,) = s.params
    x = taken_apart(s, fmt, a)
    value, negative = _wave(s, _reduced(s, x), LitU32(0))
    finite = s.let(nearest(s, fmt, value) | (negative ^ x.sign) << fmt.sign_shift, "signed")
    return s.gives(select(x.size >= fmt.infinity, fmt.nan, select(x.size.eq(0), a, finite)))


def cos(fmt: FloatFormat) -> Op:
    s = Script(f"{prefix(fmt)}.cos", "a", doc="The cosine of an angle in radians, correctly rounded.")
    (a,) = s.params
    x = taken_apart(s, fmt, a)
    value, negative = _wave(s, _reduced(s, x), LitU32(1))
    finite = s.let(nearest(s, fmt, value) | negative << fmt.sign_shift, "signed")
    return s.gives(select(x.size >= fmt.infinity, fmt.nan, finite))


def tan(fmt: FloatFormat) -> Op:
    s = Script(f"{prefix(fmt)}.tan", "a", doc="The tangent of an angle in radians, correctly rounded.")
    (a,) = s.params
    x = taken_apart(s, fmt, a)
    r = _reduced(s, x)
    sine, top = lifted(s, product(s, r.words, alternating(s, r.square, SINE, 2), 2))
    cosine = _below_one(s, product(s, r.square, alternating(s, r.square, COSINE, 2), 2))
    # The sine is `sine * 2^power`; the cosine needs no factor.
    power = s.let(top - r.places, "sine_power")
    turned = s.let(r.quadrant & 1, "turned")
    ratio, whole = divided(s, chosen(s, turned, cosine, sine), chosen(s, turned, sine, cosine))
    exponent = s.let(select(turned, -power, power) + whole - 1, "ratio_exponent")
    sign = s.let(turned ^ r.sign ^ x.sign, "sign")
    finite = s.let(nearest(s, fmt, Unrounded(ratio, exponent)) | sign << fmt.sign_shift, "signed")
    return s.gives(select(x.size >= fmt.infinity, fmt.nan, select(x.size.eq(0), a, finite)))


def _wave(s: Script, r: _Reduced, ahead: Expr) -> tuple[Unrounded, Expr]:
    """The sine, `ahead` quarters of a turn further on, of the reduced angle; its sign apart."""
    quadrant = s.let(r.quadrant + ahead, "quadrant")
    level = s.let(quadrant & 1, "level")
    series = alternating_either(s, r.square, level, COSINE, SINE, 2)
    part = product(s, chosen(s, level, r.square, r.words), series, 2)
    words, top = lifted(s, chosen(s, level, _below_one(s, part), part))
    exponent = s.let(select(level, -1 & 0xFFFFFFFF, top - 1 - r.places), "wave_exponent")
    negative = s.let((quadrant >> 1 & 1) ^ select(level, 0, r.sign), "negative")
    return Unrounded(words, exponent), negative


def _below_one(s: Script, part: Words) -> Words:
    """`1 - part`, less one unit: one itself has no place among the fractions."""
    return tuple(s.let(~word) for word in part)


def _reduced(s: Script, x: Parts) -> _Reduced:
    least = s.let((x.exponent + 512) < 512 - 2, "least")
    power = s.let(select(least, -2 & 0xFFFFFFFF, x.exponent), "power")
    window = _window(s, s.let(power + 9, "position"))
    turns = product(s, (s.let(x.significand >> 8, "integer"),), window, 5)[1:]
    quadrant = s.let(turns[0] + (1 << 29) >> 30, "quarter")
    rest = shifted(s, turns, 2)
    sign = s.let(rest[0] >> 31, "rest_sign")
    words, moved = normalised(s, negated_if(s, rest, sign), keep=2)
    places = s.let(moved + power - x.exponent, "places")
    twice = s.let((places << 1) - 2)
    square = moved_right(s, product(s, words, words, 2), s.let(select(twice > 63, 63, twice)), most=63)
    return _Reduced(quadrant, sign, words, places, square)


def _window(s: Script, position: Expr) -> Words:
    """128 bits of 2/pi from `position` on, which is 7 to 136, with 32 zeros before the first."""
    words: list[Expr] = [LitU32(w) for w in (0, *TWO_OVER_PI[:8])]
    number = s.let(position >> 5, "number")
    for step, count in ((4, 5), (2, 6), (1, 5)):
        bit = s.let(number & step)
        words = [
            s.let(select(bit, words[k + step], words[k])) if k < count else words[k]
            for k in range(min(len(words), 8 if step == 4 else count))
        ]
    return moved_left(s, tuple(words), s.let(position & 31), keep=4)
