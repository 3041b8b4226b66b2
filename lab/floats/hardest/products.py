"""Products that end in a chosen way: next to midpoints, on them, at both ends of the range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.floats.hardest.parts import Source, ending, fields, packed, powers, significand, tiny_midpoint
from vyre.ir.expr import Expr, select
from vyre.ir.float_formats import F32

if TYPE_CHECKING:
    from lab.floats.hardest.parts import Maker


def near_midpoint(x: Source, *, tie: bool = False) -> tuple[Expr, Expr]:
    """Two significands whose product is a multiple of half a place, but for a few of its own last places.

    With `tie`, it is an odd multiple, exactly.
    """
    low = x.word()
    a = x.step("significand_a", significand(low & F32.fraction >> 3 if tie else low) | 1)
    half = F32.hidden >> 1
    end = x.step("end", half if tie else select(low >> 31, half, 0) + x.few("off"))
    return a, ending(x, a, end)


def _midpoint_products(x: Source) -> tuple[Expr, ...]:
    return _of_any_size(x, *near_midpoint(x))


def _tied_products(x: Source) -> tuple[Expr, ...]:
    return _of_any_size(x, *near_midpoint(x, tie=True))


def _of_any_size(x: Source, a: Expr, b: Expr) -> tuple[Expr, ...]:
    word = x.word()
    return packed(word, 64 + (word & 127), a), packed(word << 1, 64 + (word >> 7 & 127), b)


def _power_products(x: Source) -> tuple[Expr, ...]:
    total = 128 + (x.word() & 127)
    return powers(x, *fields(x, total, 32, 5))


def subnormal_products(x: Source) -> tuple[Expr, ...]:
    """An odd number of halves of the smallest float, but for a few last places of a factor."""
    down = x.step("down", 37 + (x.word() & 63))
    a = x.step("middle", tiny_midpoint(x, down))
    one = (down - (150 - 127)) << F32.fraction_bits
    return a, (x.word() & F32.sign) | one + x.few("off")


def _falling_products(x: Source) -> tuple[Expr, ...]:
    """Results at every place from far below the subnormals to just above them."""
    a, b = near_midpoint(x)
    first, second = fields(x, 127 - 25 + (x.number & 31), 40, 5)
    sparse = x.step("sparse", F32.fraction << (x.word() & 31))
    word = x.word()
    return packed(word, first, a & sparse), packed(word << 1, second, b)


_LARGEST = ((18631 << 9, 1801 << 13), (1082401 << 3, 31 << 19), (55831 << 8, 601 << 14))
"""Significands whose product is halfway between the largest float and 2^128, scaled: 2^25 - 1 factored."""


def threshold_product(x: Source, total: Expr) -> tuple[Expr, Expr]:
    word = x.word()
    pairs = [x.pick(f"factor_{k}", word & 3, *(pair[k] for pair in _LARGEST)) for k in (0, 1)]
    off = x.pick("off_factor", word >> 2 & 3, 0, 0, 1, 0xFFFFFFFF)
    first, second = fields(x, total, 140, 6)
    return packed(word, first, pairs[0] + off), packed(word << 1, second, pairs[1])


def _overflowing_products(x: Source) -> tuple[Expr, ...]:
    return threshold_product(x, 380 + x.below(3))


PRODUCTS: tuple[tuple[str, Maker], ...] = (
    ("near midpoint", _midpoint_products),
    ("tie", _tied_products),
    ("near a power of two", _power_products),
    ("subnormal midpoint", subnormal_products),
    ("subnormal result", _falling_products),
    ("overflow threshold", _overflowing_products),
)
