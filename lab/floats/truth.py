"""What the correctly rounded functions are, found without any formula of ours.

NumPy's functions of doubles are off by a few of their last places; `MARGIN` allows 256 of them. Where both
ends of that interval round to the same bits, these are the result; the rest, about one in two million, goes
to Arb, which encloses the value at growing precision. Rational results, which can be midpoints, are found by
exact arithmetic first. Needs python-flint.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from importlib import import_module
from math import erf, isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import OpError
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from vyre.ir.float_formats import FloatFormat

    Words = NDArray[np.uint32]
    Doubles = NDArray[np.float64]

MARGIN = 2.0**-44
"""Relative. One unit in the last place of a double is at most 2^-52."""


def _erf(x: Doubles) -> Doubles:
    return np.array([erf(value) for value in x.tolist()], np.float64)


_DOUBLES: dict[str, Callable[..., Doubles]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": partial(np.power, 10.0),
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "erf": _erf,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "expm1": np.expm1,
    "log1p": np.log1p,
    "cbrt": np.cbrt,
    "atan2": np.arctan2,
    "pow": np.power,
}


def truth(name: str, fmt: FloatFormat, *arguments: Words) -> tuple[Words, int]:
    """The correctly rounded results, and how many of them Arb had to decide."""
    if name not in _DOUBLES:
        raise OpError(f"there is no function {name!r}.", fix=f"take one of {', '.join(_DOUBLES)}.")
    with np.errstate(all="ignore"):
        inputs = [decoded(fmt, a) for a in arguments]
        value = _DOUBLES[name](*inputs)
        low, high = (encoded(fmt, value * (1 + m)) for m in (-MARGIN, MARGIN))
    undecided = np.flatnonzero((low != high) & np.isfinite(value))
    result = low.copy()
    for k in undecided.tolist():
        result[k] = decided(name, fmt, *(Fraction(float(x[k])) for x in inputs))
    return result, undecided.size


def decoded(fmt: FloatFormat, bits: Words) -> Doubles:
    """The values as doubles, exactly."""
    with np.errstate(invalid="ignore"):  # NumPy warns of signalling NaN
        match fmt.type:
            case DataType.F32:
                return bits.view(np.float32).astype(np.float64)
            case DataType.BF16:
                return (bits << np.uint32(16)).view(np.float32).astype(np.float64)
            case _:
                return bits.astype(np.uint16).view(np.float16).astype(np.float64)


def encoded(fmt: FloatFormat, values: Doubles) -> Words:
    """Doubles rounded once, to nearest, ties to even; every NaN canonical."""
    with np.errstate(all="ignore"):
        match fmt.type:
            case DataType.F32:
                bits = values.astype(np.float32).view(np.uint32)
            case DataType.F16:
                bits = values.astype(np.float16).view(np.uint16).astype(np.uint32)
            case _:
                bits = _to_bf16(values)
    return np.where(np.isnan(values), np.uint32(fmt.nan), bits)


def _to_bf16(values: Doubles) -> Words:
    # Rounding to odd keeps what the second rounding has to know.
    near = values.astype(np.float32)
    bits = near.view(np.uint32)
    bits = bits - (np.abs(near.astype(np.float64)) > np.abs(values)).astype(np.uint32)
    exact = bits.view(np.float32).astype(np.float64) == values
    bits = bits | (~exact).astype(np.uint32)
    odd = bits >> np.uint32(16) & np.uint32(1)
    return (bits + np.uint32(0x7FFF) + odd) >> np.uint32(16)


def decided(name: str, fmt: FloatFormat, *arguments: Fraction) -> int:
    """The correctly rounded bits of one finite result, by exact arithmetic or by Arb."""
    exact = _rational(name, *arguments)
    if exact is not None:
        return nearest(fmt, exact)
    precision = 128
    while precision <= 1 << 14:
        low, high = (nearest(fmt, end) for end in enclosure(name, precision, *arguments))
        if low == high:
            return low
        precision *= 2
    raise OpError(
        f"{name} of {arguments} is not decided by {precision} bits.", fix="it must be rational: say so."
    )


def enclosure(name: str, precision: int, *arguments: Fraction) -> tuple[Fraction, Fraction]:
    """Two numbers that enclose the result, computed by Arb with this many bits."""
    flint: Any = import_module("flint")
    flint.ctx.prec = precision
    value: Any = _enclosed(flint.arb, name, *(_ball(flint, x) for x in arguments))
    return _fraction(value.lower()), _fraction(value.upper())


def _ball(flint: Any, x: Fraction) -> Any:
    places = x.denominator.bit_length() - 1
    return flint.arb(flint.fmpz(x.numerator)) * flint.arb(2) ** -places


def _fraction(value: Any) -> Fraction:
    mantissa, exponent = value.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _enclosed(arb: Any, name: str, x: Any, *more: Any) -> Any:
    match name:
        case "exp2":
            return (x * arb(2).log()).exp()
        case "exp10":
            return (x * arb(10).log()).exp()
        case "log2" | "log10":
            return x.log() / arb(int(name[3:])).log()
        case "cbrt":
            return x.root(3) if x > 0 else -(-x).root(3)
        case "atan2":
            return arb.atan2(x, *more)
        case "pow" if x < 0:
            power = (more[0] * (-x).log()).exp()
            return -power if int(more[0].floor().unique_fmpz()) % 2 else power
        case "pow":
            return (more[0] * x.log()).exp()
        case _:
            return getattr(x, name)()


def _rational(name: str, x: Fraction, *more: Fraction) -> Fraction | None:
    """The result where it is a number of few bits; all other results are irrational or far from midpoints."""
    match name:
        case "exp2" if x.denominator == 1:
            return Fraction(2) ** int(x)
        case "exp10" if x.denominator == 1 and x >= 0:
            return Fraction(10) ** int(x)
        case "log2" if x.numerator == 1 or (x.denominator == 1 and x.numerator & (x.numerator - 1) == 0):
            return Fraction(x.numerator.bit_length() - x.denominator.bit_length())
        case "log10" if x.denominator == 1 and x.numerator == 10 ** (len(str(x.numerator)) - 1):
            return Fraction(len(str(x.numerator)) - 1)
        case "log" if x == 1:
            return Fraction(0)
        case "pow":
            return _rational_power(x, more[0])
        case _:
            return None


def _rational_power(x: Fraction, y: Fraction) -> Fraction | None:
    """`x ** y` where it is dyadic and short."""
    sign = -1 if x < 0 and y.numerator % 2 and y.denominator == 1 else 1
    x = abs(x)
    while y.denominator > 1:
        top, bottom = isqrt(x.numerator), isqrt(x.denominator)
        if top * top != x.numerator or bottom * bottom != x.denominator:
            return None
        x, y = Fraction(top, bottom), y * 2
    n = y.numerator
    odd = x.numerator // (x.numerator & -x.numerator)
    if odd == 1 or (n >= 0 and n * odd.bit_length() < 256):
        return (
            sign * x**n
            if abs(n) * max(abs(x.numerator.bit_length() - x.denominator.bit_length()), 1) < 4096
            else None
        )
    return None


def nearest(fmt: FloatFormat, value: Fraction) -> int:
    """The bits nearest to an exact number, ties to even."""
    sign = fmt.sign if value < 0 else 0
    value = abs(value)
    if value == 0:
        return sign
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    exponent -= value < Fraction(2) ** exponent
    unit = max(exponent, 1 - fmt.bias) - fmt.fraction_bits
    kept = round(value / Fraction(2) ** unit)
    return sign | min((unit + fmt.fraction_bits + fmt.bias - 1 << fmt.fraction_bits) + kept, fmt.infinity)
