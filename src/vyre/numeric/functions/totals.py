"""Sums and products of any number of floats, for the approximate track: steps for a loop, and the end.

A sum is an integer in units of the smallest subnormal, wide enough for 2^32 of the largest numbers: adding to
it loses nothing, so its one rounding, `soft.<format>.total`, gives the correctly rounded sum, whatever
cancels.

A product is a significand of 64 bits beside an exponent of 64. Each factor cuts off less than 2^-63 of it, so
2^32 factors leave it too small by less than 2^-31, where neighbouring floats are 2^-24 apart at least: once
rounded, by `soft.<format>.scaled`, it is at most one float away from the correctly rounded product. What
was cut is remembered as one sticky bit, so that a product cut by nothing is exact, midpoints included.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitU32, mul_hi, select
from vyre.ir.float_formats import STRICT_FORMATS
from vyre.numeric.functions.ending import Unrounded, nearest
from vyre.numeric.functions.exponentials import FARTHEST, limited
from vyre.numeric.functions.limbs import MASK, literal, minus, negated_if, normalised
from vyre.numeric.functions.script import Script
from vyre.numeric.soft.layout import prefix
from vyre.numeric.soft.parts import TOP, unpack
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.op import Op
    from vyre.numeric.functions.limbs import Words

_COUNT_BITS = 32
POSITIVE, NEGATIVE, NAN, ZERO, OTHER = 1, 2, 4, 8, 16
"""What a range has: infinities of either sign, NaNs, zeros, and anything but -0."""


def sum_limbs(fmt: FloatFormat) -> int:
    """Limbs of an exact sum, its sign included."""
    longest = fmt.exponent - 2 + fmt.fraction_bits + 1
    return -(-(longest + _COUNT_BITS + 1) // 32)


def noted(s: Script, fmt: FloatFormat, seen: Expr, bits: Expr) -> Expr:
    """The marks of a range with one more element in it."""
    size = s.let(bits & fmt.magnitude, "size")
    endless = select(bits & fmt.sign, NEGATIVE, POSITIVE)
    special = select(size > fmt.infinity, NAN, endless)
    mark = select(size >= fmt.infinity, special, select(size.eq(0), ZERO, 0))
    return s.let(seen | mark | bits.ne(fmt.sign) * OTHER, "marked")


def added(s: Script, fmt: FloatFormat, words: Words, bits: Expr) -> Words:
    """An exact sum with one more element; infinities and NaNs add nothing."""
    size = s.let(bits & fmt.magnitude, "size")
    field = s.let(size >> fmt.fraction_bits, "field")
    normal = s.let(field.ne(0), "normal")
    whole = size & fmt.fraction | normal << fmt.fraction_bits
    significand = s.let(select(size >= fmt.infinity, 0, whole), "significand")
    place = s.let(field - normal, "place")
    limb, by = s.let(place >> 5, "limb"), s.let(place & 31, "by")
    # Two steps, because a shift by 32 - 0 would be masked to a shift by nothing.
    parts = s.let(significand << by, "low"), s.let((significand >> 1) >> (31 - by), "high")
    negative = s.let(bits >> fmt.sign_shift, "negative")
    mask = s.let(-negative, "mask")
    last = fmt.exponent - 2 >> 5
    out: list[Expr] = []
    carry: Expr = negative
    for k, word in enumerate(reversed(words)):
        own: Expr = LitU32(0)
        for behind, part in enumerate(parts):
            if 0 <= k - behind <= last:
                own = select(limb.eq(k - behind), part, own)
        term = s.let(own ^ mask, "term")
        first = s.let(word + term, "first")
        sum_ = s.let(first + carry, "sum")
        if k < len(words) - 1:
            carry = s.let((first < term) | (sum_ < carry), "carry")
        out.append(sum_)
    return tuple(reversed(out))


@dataclass(frozen=True, slots=True)
class Product:
    """`high, low` with the leading bit on top, whether bits were `lost`, the sum of all exponents in two
    words, each raised to be positive, and the exclusive or of all elements, for the sign."""

    high: Expr
    low: Expr
    lost: Expr
    power_high: Expr
    power_low: Expr
    sign: Expr


ONE = Product(LitU32(1 << TOP), *(LitU32(0),) * 5)


def multiplied(s: Script, fmt: FloatFormat, value: Product, bits: Expr) -> Product:
    """A product with one more element; of infinities and NaNs it keeps the sign only."""
    factor, exponent = unpack(s, fmt, bits, "factor", top=TOP)
    middle = s.let(value.high * factor, "middle")
    second = s.let(middle + mul_hi(value.low, factor), "second")
    first = s.let(mul_hi(value.high, factor) + (second < middle), "first")
    third = s.let(value.low * factor, "third")
    top = s.let(first >> TOP, "top")
    by = s.let(top ^ 1, "by")
    rest = s.let(TOP - by, "rest")
    # A subnormal's exponent is down to 1 - fraction_bits.
    raised = s.let(exponent + (fmt.fraction_bits + top), "raised")
    power_low = s.let(value.power_low + raised, "power_low")
    return Product(
        s.let(first << by | (second >> 1) >> rest, "high"),
        s.let(second << by | (third >> 1) >> rest, "low"),
        s.let(value.lost | third << by, "lost"),
        s.let(value.power_high + (power_low < raised), "power_high"),
        power_low,
        s.let(value.sign ^ bits, "sign"),
    )


def total(fmt: FloatFormat) -> Op:
    count = sum_limbs(fmt)
    doc = "An exact sum, in units of the smallest subnormal, rounded once; `seen` marks what it met."
    s = Script(f"{prefix(fmt)}.total", *(f"word_{k}" for k in range(count)), "seen", doc=doc)
    *words, seen = s.params
    negative = s.let(words[0] >> TOP, "negative")
    size, moved = normalised(s, negated_if(s, tuple(words), negative), keep=count)
    unit = 1 - fmt.bias - fmt.fraction_bits
    exponent = s.let(32 * count - 1 + unit - moved, "exponent")
    finite = nearest(s, fmt, Unrounded(size, exponent)) | negative << fmt.sign_shift
    nothing = s.let(size[0].eq(0), "nothing")
    # Only a sum of nothing but -0 is -0.
    value = s.let(select(nothing, select(seen & OTHER, 0, fmt.sign), finite), "value")
    both = POSITIVE | NEGATIVE
    infinite = select(seen & POSITIVE, fmt.infinity, fmt.infinity | fmt.sign)
    special = s.let(select(seen & both, infinite, value), "special")
    invalid = s.let((seen & NAN) | (seen & both).eq(both), "invalid")
    return s.gives(select(invalid, fmt.nan, special))


def scaled(fmt: FloatFormat) -> Op:
    names = [f.name for f in fields(Product)]
    doc = "A product of `count` elements, rounded once; `seen` marks what it met."
    s = Script(f"{prefix(fmt)}.scaled", *names, "count", "seen", doc=doc)
    *parts, count, seen = s.params
    value = Product(*parts)
    raised = fmt.bias + fmt.fraction_bits
    powers = (value.power_high, value.power_low)
    high, low = minus(s, powers, (s.let(mul_hi(count, raised)), s.let(count * raised)))
    # An exponent that does not fit in one word is as good as infinite.
    fits = s.let(high.eq(select(low >> TOP, MASK, 0)), "fits")
    far = select(high >> TOP, -FARTHEST & MASK, FARTHEST)
    exponent = s.let(select(fits, limited(s, low), far), "exponent")
    bits = nearest(s, fmt, Unrounded((value.high, s.let(value.low | value.lost, "below")), exponent))
    sign = s.let(value.sign & fmt.sign, "signed")
    endless = s.let(seen & (POSITIVE | NEGATIVE), "endless")
    finite = s.let(select(endless, fmt.infinity, select(seen & ZERO, 0, bits)) | sign, "finite")
    invalid = s.let((seen & NAN).ne(0) | (endless.ne(0) & (seen & ZERO).ne(0)), "invalid")
    return s.gives(select(invalid, fmt.nan, finite))


def state(value: Product) -> tuple[Expr, ...]:
    """The parts of a product in the order in which `scaled` takes them."""
    return tuple(getattr(value, f.name) for f in fields(value))


def start_of_sum(fmt: FloatFormat) -> Words:
    return literal(0, sum_limbs(fmt))


@cache
def total_op(op_id: str) -> Op | None:
    """The op `soft.<format>.total` or `soft.<format>.scaled`, or None when the id names neither."""
    makers = {
        f"{prefix(fmt)}.{m.__name__}": (m, fmt) for fmt in STRICT_FORMATS.values() for m in (total, scaled)
    }
    if op_id not in makers:
        return None
    make, fmt = makers[op_id]
    return make(fmt)
