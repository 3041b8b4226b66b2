"""Single cases of correctly rounded functions, decided beyond doubt.

    decide(op, of, cases)      by MPFR, else by Arb, else by the reference interpreter
    by_arb, by_mpfr, by_reference

MPFR rounds correctly by itself. Arb gives an interval, which is narrowed until both of its ends round to
the same value; the one case that no interval decides, 2^x exactly half of the smallest value, is exact.
Arb knows functions of one operand here, MPFR and the reference interpreter all.
"""

from __future__ import annotations

import importlib
import struct
from functools import cache
from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError
from vyre.ir.float_formats import BF16, F16, FloatFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Cases = Sequence[tuple[int, ...]]

FIRST_PRECISION = 96
LAST_PRECISION = 1 << 14


def decide(op: str, of: FloatFormat, cases: Cases) -> list[int]:
    """The bits of the results, by the first of the three ways that is installed and knows the function."""
    for way in (by_mpfr, by_arb, by_reference):
        try:
            return way(op, of, cases)
        except (ImportError, KeyError):
            continue
    raise VyreError(f"{op} cannot be decided.", fix="pip install gmpy2 or python-flint.")


def value_of(of: FloatFormat, bits: int) -> float:
    """The value as a Python float."""
    if of is F16:
        return struct.unpack("<e", bits.to_bytes(2, "little"))[0]
    wide = bits << 16 if of is BF16 else bits
    return struct.unpack("<f", wide.to_bytes(4, "little"))[0]


def by_mpfr(op: str, of: FloatFormat, cases: Cases) -> list[int]:
    """Through gmpy2, in a context with the precision, exponents and subnormals of the format."""
    context = _mpfr_context(of)
    function = getattr(context, op[1:].lower())
    gmpy2: Any = importlib.import_module("gmpy2")
    found: list[int] = []
    for case in cases:
        result = float(function(*(gmpy2.mpfr(value_of(of, bits), 64) for bits in case)))
        found.append(_bits(of, result))
    return found


@cache
def _mpfr_context(of: FloatFormat) -> Any:
    gmpy2: Any = importlib.import_module("gmpy2")
    top = of.bias + 1
    return gmpy2.context(
        precision=of.fraction_bits + 1, emax=top, emin=3 - top - of.fraction_bits, subnormalize=True
    )


def _bits(of: FloatFormat, value: float) -> int:
    if value != value:
        return of.nan
    if of is F16:
        return int.from_bytes(struct.pack("<e", value), "little")
    bits = int.from_bytes(struct.pack("<f", value), "little")
    return bits >> 16 if of is BF16 else bits


def by_arb(op: str, of: FloatFormat, cases: Cases) -> list[int]:
    """Through python-flint; for finite results other than exact zeros."""
    flint: Any = importlib.import_module("flint")
    function = arb_functions()[op]
    before = flint.ctx.prec
    try:
        return [_enclosed(flint, function, op, of, bits) for (bits,) in cases]
    finally:
        flint.ctx.prec = before


def _enclosed(flint: Any, function: Any, op: str, of: FloatFormat, bits: int) -> int:
    value = value_of(of, bits)
    if op == "FExp2" and value.is_integer():
        return nearest_dyadic(of, 1, int(value))
    numerator, denominator = value.as_integer_ratio()
    precision = FIRST_PRECISION
    while precision <= LAST_PRECISION:
        flint.ctx.prec = precision
        ball = function(flint.arb(numerator) / denominator)
        low, high = (nearest_dyadic(of, *_dyadic(end)) for end in (ball.lower(), ball.upper()))
        if low == high:
            return low
        precision *= 2
    raise VyreError(
        f"Arb leaves {op} of {bits:#x} open at {LAST_PRECISION} bits.", fix="treat it as an exact case."
    )


def _dyadic(end: Any) -> tuple[int, int]:
    significand, exponent = end.man_exp()
    return int(significand), int(exponent)


@cache
def arb_functions() -> dict[str, Callable[[Any], Any]]:
    """The functions on balls of Arb, by operator."""
    flint: Any = importlib.import_module("flint")
    arb = flint.arb

    def power_of(base: int) -> Callable[[Any], Any]:
        def power(x: Any) -> Any:
            return arb(base) ** x

        return power

    def logarithm_to(base: int) -> Callable[[Any], Any]:
        def logarithm(x: Any) -> Any:
            return arb.log(x) / arb.log(arb(base))

        return logarithm

    def cube_root(x: Any) -> Any:
        return arb.root(x, 3) if x > 0 else -arb.root(-x, 3)

    return {
        "FSin": arb.sin,
        "FCos": arb.cos,
        "FTan": arb.tan,
        "FASin": arb.asin,
        "FACos": arb.acos,
        "FATan": arb.atan,
        "FExp": arb.exp,
        "FLog": arb.log,
        "FExp2": power_of(2),
        "FLog2": logarithm_to(2),
        "FExp10": power_of(10),
        "FLog10": logarithm_to(10),
        "FErf": arb.erf,
        "FTanh": arb.tanh,
        "FSinh": arb.sinh,
        "FCosh": arb.cosh,
        "FExpm1": arb.expm1,
        "FLog1p": arb.log1p,
        "FCbrt": cube_root,
    }


def nearest_dyadic(of: FloatFormat, significand: int, exponent: int) -> int:
    """significand * 2^exponent rounded to nearest, ties to even, through subnormals and overflow."""
    sign = of.sign if significand < 0 else 0
    size = abs(significand)
    if not size:
        return sign
    lowest = 1 - of.bias - of.fraction_bits
    step = max(size.bit_length() + exponent - of.fraction_bits - 1, lowest)
    shift = step - exponent
    if shift > 0:
        if shift > size.bit_length() + 1:
            return sign
        half = 1 << (shift - 1)
        whole, rest = size >> shift, size & (2 * half - 1)
        whole += rest > half or (rest == half and whole & 1)
    else:
        whole = size << -shift
    # The hidden bit adds one to the exponent field, as does a carry into the next power of two.
    magnitude = whole + (step - lowest << of.fraction_bits)
    return sign | min(magnitude, of.infinity)


def by_reference(op: str, of: FloatFormat, cases: Cases) -> list[int]:
    """Through the reference interpreter's own loops on integers; about 10,000 a second."""
    from vyre.ir.operators import BinaryOp, UnaryOp
    from vyre.ir.types import DataType
    from vyre.reference.floats import FORMATS, binary, unary

    fmt = FORMATS[DataType(of.name)]
    if op in ("FPow", "FATan2"):
        return [binary(BinaryOp(op), fmt, a, b) for a, b in cases]
    return [unary(UnaryOp(op), fmt, a) for (a,) in cases]
