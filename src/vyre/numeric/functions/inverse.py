"""asin and acos.

Up to 1/2 the arc sine is a polynomial. From 1/2 on, the angle at the other end of the half circle is used:
`acos x = 2 asin y` with `y = sqrt((1 - x) / 2)`, again at most 1/2; `1 - x` is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitU32, select
from vyre.numeric.formula import clz
from vyre.numeric.functions.angle_coefficients import ARC_SINE, EIGHTHS
from vyre.numeric.functions.ending import Unrounded, nearest, taken_apart
from vyre.numeric.functions.limbs import (
    chosen,
    flipped,
    literal,
    moved_right,
    negated_if,
    normalised,
    plus,
    product,
    shifted,
)
from vyre.numeric.functions.quotient import lifted, root
from vyre.numeric.functions.script import Script
from vyre.numeric.functions.series import signed
from vyre.numeric.soft.layout import prefix
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.op import Op
    from vyre.numeric.functions.ending import Parts
    from vyre.numeric.functions.limbs import Words

_QUARTER = EIGHTHS[2] >> 64
_HALF_TURN = EIGHTHS[4] >> 64


@dataclass(frozen=True, slots=True)
class _Arc:
    """`angle * 2^(1 - places)` of radians: the arc sine of |x|, or half the arc cosine where `steep`."""

    steep: Expr
    angle: Words
    places: Expr


def asin(fmt: FloatFormat) -> Op:
    s = Script(f"{prefix(fmt)}.asin", "a", doc="The arc sine, correctly rounded; NaN outside -1 to 1.")
    (a,) = s.params
    x = taken_apart(s, fmt, a)
    arc = _arc(s, fmt, x)
    flat = _alone(s, arc, s.let(-arc.places))
    steep = _from(s, literal(_QUARTER, 3), arc, LitU32(1))
    bits = nearest(s, fmt, _either(s, arc.steep, steep, flat))
    value = s.let(select(x.size.eq(0), a, bits | x.sign << fmt.sign_shift), "signed")
    return s.gives(select(x.size > fmt.one, fmt.nan, value))


def acos(fmt: FloatFormat) -> Op:
    s = Script(f"{prefix(fmt)}.acos", "a", doc="The arc cosine, correctly rounded; NaN outside -1 to 1.")
    (a,) = s.params
    x = taken_apart(s, fmt, a)
    arc = _arc(s, fmt, x)
    near_one = s.let(arc.steep & (x.sign ^ 1), "near_one")
    alone = _alone(s, arc, s.let(1 - arc.places))
    start = chosen(s, arc.steep, literal(_HALF_TURN, 3), literal(_QUARTER, 3))
    # Only -x adds its angle, and only on the flat part.
    added = _from(s, start, arc, s.let((arc.steep ^ 1) & x.sign ^ 1))
    bits = nearest(s, fmt, _either(s, near_one, alone, added))
    value = s.let(select(a.eq(fmt.one), 0, bits), "at_one")
    return s.gives(select(x.size > fmt.one, fmt.nan, value))


def _arc(s: Script, fmt: FloatFormat, x: Parts) -> _Arc:
    steep = s("steep", x.size >= (fmt.bias - 1 << fmt.fraction_bits))
    below_one = s("below_one", -x.significand)
    zeros = s("zeros", clz(below_one))
    aligned = s("aligned", below_one << zeros)
    radicand = s("radicand", aligned >> (zeros & 1 ^ 1))
    # At 1/2 the root is 1/2, which is a place too large; one unit less is within the error.
    half = s("half", x.significand.eq(1 << 31))
    side = chosen(s, half, literal((1 << 64) - 1, 2), root(s, radicand))
    words = chosen(s, steep, side, (x.significand, LitU32(0)))
    apart = s.let(select(half, 1, zeros + 1 >> 1))
    places = s("places", select(steep, apart, -(x.exponent + 1)))
    twice = s.let((places << 1) - 2)
    square = moved_right(s, product(s, words, words, 2), s.let(select(twice > 63, 63, twice)), most=63)
    angle = product(s, words, _series(s, square), 3)
    # At 1 the angle of the other end is zero; the exponent says so, since 1/2 has the same significand.
    at_one = s.let(x.size.eq(fmt.one), "end")
    return _Arc(steep, chosen(s, at_one, literal(0, 3), angle), places)


def _series(s: Script, square: Words) -> Words:
    """The polynomial is in `2 * square - 1`, where its coefficients fall off sooner and keep their signs."""
    upper = s.let(square[0] >> 31, "upper")
    return signed(s, flipped(s, shifted(s, square, 1), s.let(upper - 1)), upper, ARC_SINE, 2)


def _alone(s: Script, arc: _Arc, exponent: Expr) -> Unrounded:
    words, top = lifted(s, arc.angle)
    return Unrounded(words, s.let(exponent + top - 1))


def _from(s: Script, start: Words, arc: _Arc, negative: Expr) -> Unrounded:
    """`start`, in units of four radians, plus or minus the angle (twice the angle where steep)."""
    by = s.let(arc.places + (arc.steep ^ 1), "by")
    part = moved_right(s, arc.angle, s.let(select(by > 95, 95, by)), most=95)
    words, moved = normalised(s, plus(s, start, negated_if(s, part, negative)), keep=3)
    return Unrounded(words, s.let(1 - moved))


def _either(s: Script, condition: Expr, yes: Unrounded, no: Unrounded) -> Unrounded:
    words = chosen(s, condition, yes.words, no.words)
    return Unrounded(words, s.let(select(condition, yes.exponent, no.exponent)))
