"""The floats of 8 and 4 bits one by one, as exact fractions, and where the nearest of them changes.

    value_bits(f, code)      the F32 that a code of 8 bits stands for
    middles(f)               where the nearest code changes, lowest first
    signed_middles(values)   the same between values of both signs

An F32 is its bits; those that are not negative are in the order of their bits.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ops.quantised import Format

NAN, INFINITY = 0x7FC0_0000, 0x7F80_0000


def _bits(value: Fraction) -> int:
    """The F32 that is exactly this."""
    (bits,) = struct.unpack("<I", struct.pack("<f", float(value)))
    return bits


class _Numbers:
    """Every finite F32 that is not negative, in order: as many as there are bits below those of infinity."""

    def __len__(self) -> int:
        return INFINITY

    def __getitem__(self, bits: int) -> Fraction:
        return Fraction(struct.unpack("<f", struct.pack("<I", bits))[0])


def _last_up_to(value: Fraction) -> int:
    """The bits of the greatest F32 that is not above a value which is not negative."""
    return bisect_right(_Numbers(), value) - 1


def magnitude(f: Format, code: int) -> Fraction:
    """The number of a code without its sign, as the format defines it."""
    exponent, fraction = divmod(code, 1 << f.fraction)
    significand = fraction if exponent == 0 else fraction + (1 << f.fraction)
    return significand * Fraction(2) ** (max(exponent, 1) - f.bias - f.fraction)


def value_bits(f: Format, code: int) -> int:
    """The F32 that a code of 8 bits stands for."""
    size, sign = code & 0x7F, (code & 0x80) << 24
    if size <= f.largest:
        return _bits(magnitude(f, size)) | sign
    return INFINITY | sign if f.infinite and size == f.over else NAN


def middles(f: Format) -> list[tuple[int, bool]]:
    """By code, the magnitude beyond which a number is nearer to the next code, and whether it is itself.

    A tie goes to the even code, the upper one where this one is odd. What is past the last is not a number.
    """
    return [
        (_bits((magnitude(f, code) + magnitude(f, code + 1)) / 2), code % 2 == 1)
        for code in range(f.largest + 1)
    ]


def signed_middles(values: Sequence[int]) -> list[tuple[bool, int, bool]]:
    """For neighbours in a list of F32: whether their middle is above zero, the greatest magnitude that is not
    beyond it, and whether that is the middle itself."""
    numbers = [Fraction(struct.unpack("<f", struct.pack("<I", bits))[0]) for bits in values]
    found: list[tuple[bool, int, bool]] = []
    for below, above in pairwise(numbers):
        middle = (below + above) / 2
        last = _last_up_to(abs(middle))
        found.append((middle > 0, last, _Numbers()[last] == abs(middle)))
    return found
