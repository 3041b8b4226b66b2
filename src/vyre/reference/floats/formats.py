"""The four float formats, and the one rounding that every result goes through.

A finite value is `(-1)**sign * significand * 2**exponent` with integers; `unpack` gives that triple
and `round_exact` turns any such triple back into bits, to nearest, ties to even, through subnormals
and overflow. Everything else in this package computes exact integers in between.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping

_set = object.__setattr__


@dataclass(frozen=True, slots=True)
class Format:
    """A binary interchange format: one sign bit, a biased exponent, a fraction.

    `precision` counts the significand bits with the hidden one, `min_exponent` is the exponent of the
    smallest subnormal, `max_exponent` that of the leading bit of the largest finite value.
    """

    name: str
    exponent_bits: int
    fraction_bits: int
    width: int = field(init=False)
    precision: int = field(init=False)
    bias: int = field(init=False)
    min_exponent: int = field(init=False)
    max_exponent: int = field(init=False)
    sign_bit: int = field(init=False)
    magnitude_mask: int = field(init=False)
    infinity: int = field(init=False)
    canonical_nan: int = field(init=False)
    one: int = field(init=False)

    def __post_init__(self) -> None:
        fraction = self.fraction_bits
        bias = (1 << (self.exponent_bits - 1)) - 1
        infinity = ((1 << self.exponent_bits) - 1) << fraction
        _set(self, "width", 1 + self.exponent_bits + fraction)
        _set(self, "precision", fraction + 1)
        _set(self, "bias", bias)
        _set(self, "min_exponent", 1 - bias - fraction)
        _set(self, "max_exponent", bias)
        _set(self, "sign_bit", 1 << (self.exponent_bits + fraction))
        _set(self, "magnitude_mask", self.sign_bit - 1)
        _set(self, "infinity", infinity)
        _set(self, "canonical_nan", infinity | 1 << (fraction - 1))
        _set(self, "one", bias << fraction)

    def is_nan(self, bits: int) -> bool:
        return bits & self.magnitude_mask > self.infinity

    def is_infinite(self, bits: int) -> bool:
        return bits & self.magnitude_mask == self.infinity

    def is_finite(self, bits: int) -> bool:
        return bits & self.magnitude_mask < self.infinity

    def is_zero(self, bits: int) -> bool:
        return not bits & self.magnitude_mask

    def sign_of(self, bits: int) -> int:
        return bits >> (self.width - 1)


F16 = Format("F16", 5, 10)
BF16 = Format("BF16", 8, 7)
F32 = Format("F32", 8, 23)
F64 = Format("F64", 11, 52)

FORMATS: Mapping[DataType, Format] = {
    DataType.F16: F16,
    DataType.BF16: BF16,
    DataType.F32: F32,
    DataType.F64: F64,
}
"""The format behind each float type."""


def unpack(fmt: Format, bits: int) -> tuple[int, int, int]:
    """`(sign, significand, exponent)` of a finite value; the significand of a zero is 0."""
    sign = bits >> (fmt.width - 1)
    magnitude = bits & fmt.magnitude_mask
    biased = magnitude >> fmt.fraction_bits
    if biased == 0:
        return sign, magnitude, fmt.min_exponent
    hidden = 1 << fmt.fraction_bits
    return sign, magnitude & (hidden - 1) | hidden, fmt.min_exponent + biased - 1


def round_exact(fmt: Format, sign: int, significand: int, exponent: int, *, sticky: bool = False) -> int:
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
