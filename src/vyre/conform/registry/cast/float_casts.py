"""The float casts on bits: widening is exact, narrowing rounds to nearest with ties to even.

A NaN becomes the canonical NaN of the target (decision 7). Everything is built from integer steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.float_formats import BF16, F16, F32, F64
from vyre.semantics.operators import clz

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def half_to_single(d: Domain[V], a: V) -> V:
    """F16 to F32."""
    sign = d.shl(d.and_(a, d.const(0x8000)), d.const(16))
    exponent = d.and_(d.shr(a, d.const(10)), d.const(31))
    fraction = d.and_(a, d.const(0x3FF))
    normal = d.or_(d.shl(d.add(exponent, d.const(112)), d.const(23)), d.shl(fraction, d.const(13)))
    shift = d.sub(clz(d, fraction), d.const(21))
    moved = d.and_(d.shl(fraction, shift), d.const(0x3FF))
    tiny = d.or_(d.shl(d.sub(d.const(113), shift), d.const(23)), d.shl(moved, d.const(13)))
    small = d.ite(fraction, tiny, d.const(0))
    finite = d.or_(sign, d.ite(exponent, normal, small))
    special = d.ite(fraction, d.const(F32.nan), d.or_(sign, d.const(0x7F80_0000)))
    return d.ite(d.eq(exponent, d.const(31)), special, finite)


def brain_to_single(d: Domain[V], a: V) -> V:
    """BF16 to F32."""
    nan = d.ult(d.const(0x7F80), d.and_(a, d.const(0x7FFF)))
    return d.ite(nan, d.const(F32.nan), d.shl(a, d.const(16)))


def single_to_brain(d: Domain[V], a: V) -> V:
    """F32 to BF16; a carry out of the fraction is the right exponent, up to infinity."""
    odd = d.and_(d.shr(a, d.const(16)), d.const(1))
    rounded = d.shr(d.add(a, d.add(d.const(0x7FFF), odd)), d.const(16))
    nan = d.ult(d.const(0x7F80_0000), d.and_(a, d.const(0x7FFF_FFFF)))
    return d.ite(nan, d.const(BF16.nan), rounded)


def rounded_shift(d: Domain[V], a: V, by: V) -> V:
    """`a` / 2^by to nearest, ties to even, for 1 <= by <= 31."""
    one = d.const(1)
    kept = d.shr(a, by)
    lost = d.and_(a, d.sub(d.shl(one, by), one))
    half = d.shl(one, d.sub(by, one))
    tie_up = d.and_(d.eq(lost, half), kept)
    return d.add(kept, d.and_(d.or_(d.ult(half, lost), tie_up), one))


def single_to_half(d: Domain[V], a: V) -> V:
    """F32 to F16."""
    sign = d.shr(d.and_(a, d.const(0x8000_0000)), d.const(16))
    size = d.and_(a, d.const(0x7FFF_FFFF))
    scaled = rounded_shift(d, d.sub(size, d.const(0x3800_0000)), d.const(13))
    normal = d.ite(d.ult(scaled, d.const(0x7C00)), scaled, d.const(0x7C00))
    whole = d.or_(d.and_(size, d.const(0x7F_FFFF)), d.const(0x80_0000))
    by = d.sub(d.const(126), d.shr(size, d.const(23)))
    tiny = rounded_shift(d, whole, d.ite(d.ult(by, d.const(31)), by, d.const(31)))
    finite = d.or_(sign, d.ite(d.ult(size, d.const(0x3880_0000)), tiny, normal))
    return d.ite(d.ult(d.const(0x7F80_0000), size), d.const(F16.nan), finite)


def single_to_double(d: Domain[V], a: V) -> tuple[V, V]:
    """F32 to F64, low word first."""
    sign = d.and_(a, d.const(0x8000_0000))
    exponent = d.and_(d.shr(a, d.const(23)), d.const(255))
    fraction = d.and_(a, d.const(0x7F_FFFF))
    zero = d.const(0)
    shift = d.sub(clz(d, fraction), d.const(8))
    tiny = d.eq(exponent, zero)
    moved = d.ite(tiny, d.and_(d.shl(fraction, shift), d.const(0x7F_FFFF)), fraction)
    scale = d.ite(tiny, d.sub(d.const(897), shift), d.add(exponent, d.const(896)))
    high = d.or_(d.shl(scale, d.const(20)), d.shr(moved, d.const(3)))
    low = d.shl(moved, d.const(29))
    nothing = d.eq(d.or_(exponent, fraction), zero)
    finite = d.or_(sign, d.ite(nothing, zero, high))
    special = d.ite(fraction, d.const(F64.nan >> 32), d.or_(sign, d.const(0x7FF0_0000)))
    top = d.eq(exponent, d.const(255))
    return d.ite(d.or_(top, nothing), zero, low), d.ite(top, special, finite)


def double_to_single(d: Domain[V], low: V, high: V) -> V:
    """F64 to F32. The fraction's bits below the word that is rounded only matter as one sticky bit."""
    zero, one = d.const(0), d.const(1)
    sign = d.and_(high, d.const(0x8000_0000))
    exponent = d.and_(d.shr(high, d.const(20)), d.const(0x7FF))
    fraction = d.and_(high, d.const(0xF_FFFF))
    sticky = d.ne(d.and_(low, d.const(0x1F_FFFF)), zero)
    bits = d.or_(d.shl(fraction, d.const(11)), d.shr(low, d.const(21)))
    whole = d.or_(d.or_(bits, d.const(0x8000_0000)), sticky)
    scale = d.shl(d.sub(exponent, d.const(897)), d.const(23))
    normal = d.add(scale, rounded_shift(d, whole, d.const(8)))
    by = d.sub(d.const(905), exponent)
    shifted = rounded_shift(d, whole, d.ite(d.ult(by, d.const(31)), by, d.const(31)))
    last = d.ite(d.eq(by, d.const(32)), d.ult(d.const(0x8000_0000), whole), zero)
    tiny = d.ite(d.ult(by, d.const(32)), shifted, last)
    finite = d.ite(d.ult(exponent, d.const(897)), tiny, normal)
    infinite = d.const(0x7F80_0000)
    number = d.or_(sign, d.ite(d.ult(exponent, d.const(1151)), finite, infinite))
    nan = d.and_(d.eq(exponent, d.const(0x7FF)), d.ne(d.or_(fraction, low), zero))
    return d.ite(d.and_(nan, one), d.const(F32.nan), number)
