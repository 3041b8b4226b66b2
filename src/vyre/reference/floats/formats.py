"""What bits of a format say, and the one rounding that every result goes through.

A finite value is `(-1)**sign * significand * 2**exponent` with integers; `unpack` gives that triple
and `round_exact` turns any such triple back into bits, to nearest, ties to even, through subnormals
and overflow. Everything else in this package computes exact integers in between. The formats themselves are
a table of the language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat


def is_nan(fmt: FloatFormat, bits: int) -> bool:
    return bits & fmt.magnitude > fmt.infinity


def is_infinite(fmt: FloatFormat, bits: int) -> bool:
    return bits & fmt.magnitude == fmt.infinity


def is_finite(fmt: FloatFormat, bits: int) -> bool:
    return bits & fmt.magnitude < fmt.infinity


def is_zero(fmt: FloatFormat, bits: int) -> bool:
    return not bits & fmt.magnitude


def sign_of(fmt: FloatFormat, bits: int) -> int:
    return bits >> (fmt.width - 1)


def unpack(fmt: FloatFormat, bits: int) -> tuple[int, int, int]:
    """`(sign, significand, exponent)` of a finite value; the significand of a zero is 0."""
    sign = bits >> (fmt.width - 1)
    magnitude = bits & fmt.magnitude
    biased = magnitude >> fmt.fraction_bits
    if biased == 0:
        return sign, magnitude, fmt.min_exponent
    hidden = 1 << fmt.fraction_bits
    return sign, magnitude & (hidden - 1) | hidden, fmt.min_exponent + biased - 1


def round_exact(fmt: FloatFormat, sign: int, significand: int, exponent: int, *, sticky: bool = False) -> int:
    """The bits nearest to `significand * 2**exponent`, ties to even; a zero keeps `sign`.

    `sticky` says that the true value lies strictly between `significand` and `significand + 1`. The
    caller must then give at least `precision + 1` significant bits, so that every boundary between
    two results is a multiple of the last bit given.
    """
    if sticky:
        significand = significand << 1 | 1
        exponent -= 1
    length = significand.bit_length()
    unit = max(exponent + length - fmt.precision, fmt.min_exponent)
    shift = unit - exponent
    if shift <= 0:
        kept = significand << -shift if significand else 0
    elif shift > length + 1:
        kept = 0
    else:
        kept = significand >> shift
        half = 1 << (shift - 1)
        rest = significand & (half << 1) - 1
        if rest > half or (rest == half and kept & 1):
            kept += 1
    if not kept:
        return sign << (fmt.width - 1)
    # The hidden bit carries into the exponent field by itself, for subnormals and for a carry out alike.
    magnitude = ((unit - fmt.min_exponent) << fmt.fraction_bits) + kept
    return sign << (fmt.width - 1) | min(magnitude, fmt.infinity)
