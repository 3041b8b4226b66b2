"""Pi, logarithms of 2 and 10, and arctan(1/2), to any number of bits.

Each is within `CONSTANT_ERROR` units at the scale asked for. They are sums of a few arctangents of
unit fractions, computed once per power-of-two scale and shortened from there.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.reference.floats.series import arctan_series

if TYPE_CHECKING:
    from collections.abc import Callable

CONSTANT_ERROR = 2

# Errors of the sums below stay under 100 times the scale, so 32 more bits hold them up to scale 2**25.
_GUARD = 32


def pi(w: int) -> int:
    return _shortened(_pi, w)


def ln2(w: int) -> int:
    return _shortened(_ln2, w)


def ln10(w: int) -> int:
    return _shortened(_ln10, w)


def arctan_half(w: int) -> int:
    return _shortened(_arctan_half, w)


def _shortened(compute: Callable[[int], int], w: int) -> int:
    scale = 256
    while scale < w:
        scale *= 2
    return compute(scale) >> (scale - w)


def _arctan(divisor: int, w: int) -> int:
    return arctan_series(1, divisor, w, hyperbolic=False)[0]


def _artanh(divisor: int, w: int) -> int:
    return arctan_series(1, divisor, w, hyperbolic=True)[0]


@cache
def _pi(scale: int) -> int:
    w = scale + _GUARD
    return (16 * _arctan(5, w) - 4 * _arctan(239, w)) >> _GUARD


@cache
def _ln2(scale: int) -> int:
    w = scale + _GUARD
    return (18 * _artanh(26, w) - 2 * _artanh(4801, w) + 8 * _artanh(8749, w)) >> _GUARD


@cache
def _ln10(scale: int) -> int:
    w = scale + _GUARD
    return (3 * ln2(w) + 2 * _artanh(9, w)) >> _GUARD


@cache
def _arctan_half(scale: int) -> int:
    w = scale + _GUARD
    return _arctan(2, w) >> _GUARD
