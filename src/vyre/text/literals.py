"""Float literals between bits and decimal digits, exactly, on integers alone."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from vyre.ir.float_bits import infinity, is_finite, is_nan, is_negative, nearest_bits, size_of
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator

_FEWEST: Final = 6
"""Digits that a value of F32 has at least, zeros at the end aside."""


def decimal_of(kind: DataType, bits: int) -> str:
    """Digits for a reader: the shortest that name the value in F32, in F64 for an F64."""
    if is_nan(kind, bits):
        return "nan"
    sign = "-" if is_negative(kind, bits) else ""
    if not is_finite(kind, bits):
        return f"{sign}inf"
    top, bottom = size_of(kind, bits)
    if not top:
        return f"{sign}0.0"
    double = kind is DataType.F64
    named = DataType.F64 if double else DataType.F32
    wanted = nearest_bits(named, top, bottom, negative=False)
    assert wanted != infinity(named)
    digits, exponent = next(
        (digits, exponent)
        for count in range(1 if double else _FEWEST, 18)
        for digits, exponent in islice(_candidates(top, bottom, count), 1 + double)
        if nearest_bits(named, *_ratio(digits, exponent), negative=False) == wanted
    )
    text = str(digits).rstrip("0")
    point = exponent + len(str(digits))
    largest = 16 if double else max(_FEWEST, len(str(digits)))
    return sign + _written(text, point, largest)


def _candidates(top: int, bottom: int, count: int) -> Iterator[tuple[int, int]]:
    """Numbers `digits * 10^exponent` of so many digits: the nearest first, then its neighbours.

    The values that round to a power of two reach twice as far above it as below, so that a neighbour may
    name it where the nearest number does not.
    """
    exponent = len(str(top)) - len(str(bottom)) - count
    while True:
        shown, rest, whole = _scaled(top, bottom, exponent)
        if shown >= 10**count:
            exponent += 1
        elif shown < 10 ** (count - 1):
            exponent -= 1
        else:
            break
    up = 2 * rest > whole or (2 * rest == whole and shown & 1)
    for digits in (shown + up, shown + (not up)):
        yield (digits, exponent) if digits < 10**count else (digits // 10, exponent + 1)


def _scaled(top: int, bottom: int, exponent: int) -> tuple[int, int, int]:
    """`top / bottom / 10^exponent`: its whole part, the rest, and what the rest is of."""
    top, bottom = top * 10 ** max(-exponent, 0), bottom * 10 ** max(exponent, 0)
    return *divmod(top, bottom), bottom


def _ratio(digits: int, exponent: int) -> tuple[int, int]:
    return digits * 10 ** max(exponent, 0), 10 ** max(-exponent, 0)


def _written(digits: str, point: int, largest: int) -> str:
    """Digits with the point behind so many of them, in scientific notation far from 1."""
    if not -4 < point <= largest:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{digits[0]}{fraction}e{'-' if point < 1 else '+'}{abs(point - 1):02}"
    if point <= 0:
        return f"0.{'0' * -point}{digits}"
    if point >= len(digits):
        return f"{digits.ljust(point, '0')}.0"
    return f"{digits[:point]}.{digits[point:]}"
