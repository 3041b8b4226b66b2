"""Float formats between bits, MPFR values and exact fractions."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from typing import Any

gmpy2: Any = import_module("gmpy2")


class Format:
    """One float format, by its exponent and fraction widths."""

    def __init__(self, name: str, exponent: int, fraction: int) -> None:
        self.name = name
        self.fraction = fraction
        self.digits = 2 + (1 + exponent + fraction) // 4
        self.sign = 1 << (exponent + fraction)
        self.infinity = ((1 << exponent) - 1) << fraction
        self.nan = self.infinity | (1 << (fraction - 1))
        self.bias = (1 << (exponent - 1)) - 1
        self.emin = 2 - self.bias - fraction  # MPFR's exponent of the least subnormal
        self.context = gmpy2.context(
            precision=fraction + 1, emax=self.bias + 1, emin=self.emin, subnormalize=True
        )

    def hex(self, bits: int) -> str:
        return f"{bits:#0{self.digits}x}".replace("0x", "#").upper().replace("#", "0x")

    def value(self, bits: int) -> Any:
        """The exact MPFR value of some bits."""
        magnitude = bits & (self.sign - 1)
        if magnitude > self.infinity:
            return gmpy2.mpfr("nan")
        if magnitude == self.infinity:
            return gmpy2.mpfr("-inf" if bits & self.sign else "inf")
        biased, fraction = magnitude >> self.fraction, magnitude & ((1 << self.fraction) - 1)
        significand = fraction | (1 << self.fraction) if biased else fraction
        exponent = max(biased, 1) - self.bias - self.fraction
        with gmpy2.context(precision=60, emin=-2000, emax=2000):
            scale = gmpy2.mul_2exp if exponent >= 0 else gmpy2.div_2exp
            result = scale(gmpy2.mpfr(significand), abs(exponent))
            return -result if bits & self.sign else result

    def bits(self, value: Any) -> int:
        """The bits of an MPFR value of this format's precision and range."""
        if gmpy2.is_nan(value):
            return self.nan
        sign = self.sign if gmpy2.is_signed(value) else 0
        if gmpy2.is_infinite(value):
            return sign | self.infinity
        return sign | self.encode(abs(exact(value)))

    def encode(self, magnitude: Fraction) -> int:
        """The bits of a positive value that this format holds exactly."""
        if magnitude == 0:
            return 0
        least = Fraction(2) ** (1 - self.bias)
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - 1
        exponent = max(exponent, 1 - self.bias)
        while magnitude >= Fraction(2) ** (exponent + 1):
            exponent += 1
        scaled = magnitude / Fraction(2) ** (exponent - self.fraction)
        assert scaled.denominator == 1, f"{magnitude} is not in {self.name}"
        if magnitude < least:
            return int(scaled)
        return ((exponent + self.bias) << self.fraction) + int(scaled) - (1 << self.fraction)

    def round(self, value: Fraction, negative_zero: bool = False) -> int:
        """Exact value to bits, to nearest, ties to even: the second opinion on MPFR."""
        sign = self.sign if value < 0 or (value == 0 and negative_zero) else 0
        magnitude = abs(value)
        if magnitude == 0:
            return sign
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - 1
        while magnitude >= Fraction(2) ** (exponent + 1):
            exponent += 1
        quantum = Fraction(2) ** (max(exponent, 1 - self.bias) - self.fraction)
        rounded = round(magnitude / quantum) * quantum
        if rounded >= Fraction(2) ** (self.bias + 1):
            return sign | self.infinity
        return sign | self.encode(rounded)


FORMATS = {
    "F32": Format("F32", 8, 23),
    "F16": Format("F16", 5, 10),
    "BF16": Format("BF16", 8, 7),
    "F64": Format("F64", 11, 52),
}


def exact(value: Any) -> Fraction:
    numerator, denominator = value.as_integer_ratio()
    return Fraction(int(numerator), int(denominator))


def finite(*values: Any) -> bool:
    return all(gmpy2.is_finite(v) for v in values)
