"""Ziv's loop: enclose the true value, and double the precision until both ends round alike.

Rounding is monotone, so when both ends of an enclosure round to the same bits the true value does too:
nothing more has to be known about it. The loop ends because the callers leave it only values that are
neither zero nor a midpoint between two neighbouring floats: around such a value every small enough
enclosure lies between two midpoints. (A value that is itself a float is harmless.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre.reference.floats.formats import round_exact

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.float_formats import FloatFormat


class Enclosure(NamedTuple):
    """The true value lies in `[low * 2**exponent, high * 2**exponent]`."""

    low: int
    high: int
    exponent: int


def first_precision(fmt: FloatFormat) -> int:
    """Bits to begin with: enough for nearly every input, if the bits past a result look random.

    Over all `2**width` inputs of a function the closest approach to a midpoint is then about
    `2**-width` of a unit in the last place.
    """
    return fmt.precision + fmt.width + 10


def correctly_rounded(fmt: FloatFormat, enclose: Callable[[int], Enclosure]) -> int:
    """The float nearest to the value that `enclose(precision)` traps ever more tightly."""
    precision = first_precision(fmt)
    while True:
        low, high, exponent = enclose(precision)
        if low > 0 or high < 0:
            bits = _round_signed(fmt, low, exponent)
            if bits == _round_signed(fmt, high, exponent):
                return bits
        precision *= 2


def _round_signed(fmt: FloatFormat, value: int, exponent: int) -> int:
    return round_exact(fmt, 1 if value < 0 else 0, abs(value), exponent)


def quotient(num: tuple[int, int], den: tuple[int, int], w: int) -> Enclosure:
    """Encloses `num / den`, both given as positive ranges at one scale."""
    low = (num[0] << w) // den[1]
    high = -((-num[1] << w) // den[0])
    return Enclosure(low, high, -w)
