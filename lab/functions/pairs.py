"""Pairs of arguments by number, for functions that have too many to try them all.

A pair is a pure function of its number. Of each four, one is random bits, one is moderate numbers, where
results are neither zero nor infinite, and two are short numbers, whose powers and ratios are often midpoints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.numeric.soft.layout import Layout

    Words = NDArray[np.uint32]


def pairs(fmt: Layout, name: str, start: int, stop: int) -> tuple[Words, Words]:
    """The pairs number `start` to `stop`; of `pow`, the base comes first."""
    number = np.arange(start, stop, dtype=np.uint64)
    first, second, third, fourth = (_mixed(number * np.uint64(4) + np.uint64(k)) for k in range(4))
    mask = np.uint32(fmt.sign | fmt.magnitude)
    a, b = first & mask, second & mask
    kind = (number % np.uint64(4)).astype(np.uint32)
    if name == "pow":
        middle = (
            _moderate(fmt, a, third % np.uint32(2 * fmt.bias), -fmt.bias + 1),
            _moderate(fmt, b, third >> np.uint32(8) & np.uint32(7), -6),
        )
        # Few bits and small exponents: m^n, with roots of order 2, 4 and 8 among them.
        bits = third >> np.uint32(12) & np.uint32(7)
        short = (
            _cut(fmt, _moderate(fmt, a, third & np.uint32(15), -8), fourth % np.uint32(fmt.fraction_bits)),
            _cut(fmt, _moderate(fmt, b, bits, -3), fourth >> np.uint32(8) & np.uint32(3)),
        )
        tiny = (
            _moderate(fmt, a, third % np.uint32(2 * fmt.bias), -fmt.bias + 1) & np.uint32(fmt.infinity),
            short[1],
        )
    else:
        middle = _moderate(fmt, a, third & np.uint32(15), -8), _moderate(fmt, b, fourth & np.uint32(15), -8)
        short = _cut(fmt, a, third % np.uint32(fmt.fraction_bits)), _cut(fmt, b, fourth % np.uint32(4))
        # A ratio in the subnormal range.
        tiny = short[0] & np.uint32(fmt.magnitude >> 3), _moderate(fmt, short[1], fourth & np.uint32(15), 0)
    choices = [(a, b), middle, short, tiny]
    return np.choose(kind, [c[0] for c in choices]), np.choose(kind, [c[1] for c in choices])


def _moderate(fmt: Layout, bits: Words, exponent: Words, least: int) -> Words:
    """The same sign and fraction with the exponent `least + exponent`."""
    field = np.uint32(fmt.bias + least) + exponent
    return bits & np.uint32(fmt.sign | fmt.fraction) | field << np.uint32(fmt.fraction_bits)


def _cut(fmt: Layout, bits: Words, kept: Words) -> Words:
    """Only the first bits of the fraction."""
    places = np.uint32(fmt.fraction_bits) - kept
    return bits >> places << places


def _mixed(number: NDArray[np.uint64]) -> Words:
    """Steele and others' mixing of a counter, the lower half of it."""
    x = number * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return (x ^ x >> np.uint64(31)).astype(np.uint32)
