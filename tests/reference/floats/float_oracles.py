"""What the floats are compared with: MPFR, Arb, NumPy, and the sampled operands.

Nothing here uses the package under test beyond the table of formats: bits become numbers through `struct`,
and numbers become bits the same way.
"""

from __future__ import annotations

import importlib
import math
import random
import struct
from typing import TYPE_CHECKING, Any

from vyre.ir.float_formats import BF16, F16, F32, F64, FloatFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

gmpy2: Any = importlib.import_module("gmpy2")
flint: Any = importlib.import_module("flint")

ALL_FORMATS = (F16, BF16, F32, F64)
FUNCTION_FORMATS = (F16, BF16, F32)
_CODES = {"F16": ("<e", "<H"), "F32": ("<f", "<I"), "F64": ("<d", "<Q")}


def to_float(fmt: FloatFormat, bits: int) -> float:
    """The value as a Python float, which holds all four formats exactly."""
    if fmt is BF16:
        return to_float(F32, bits << 16)
    number, word = _CODES[fmt.name]
    return struct.unpack(number, struct.pack(word, bits))[0]


def from_float(fmt: FloatFormat, value: float) -> int:
    """The bits of a float that the format holds exactly; NaN becomes the canonical one."""
    if math.isnan(value):
        return fmt.nan
    if fmt is BF16:
        wide = from_float(F32, value)
        assert wide & 0xFFFF == 0, f"{value} is not a bfloat16"
        return wide >> 16
    number, word = _CODES[fmt.name]
    packed = struct.pack(number, value)
    back = struct.unpack(number, packed)[0]
    assert back == value, f"{value} is not in {fmt.name}"
    return struct.unpack(word, packed)[0]


def specials(fmt: FloatFormat) -> list[int]:
    """Zeros, the ends of the subnormal and normal ranges, ones, small integers, infinities, NaNs."""
    smallest_normal = 1 << fmt.fraction_bits
    half = fmt.one - smallest_normal
    positive = [
        0,
        1,
        2,
        smallest_normal - 1,
        smallest_normal,
        smallest_normal + 1,
        half,
        fmt.one - 1,
        fmt.one,
        fmt.one + 1,
        fmt.one + (smallest_normal >> 1),
        fmt.one + smallest_normal,
        fmt.one + smallest_normal + (smallest_normal >> 1),
        fmt.one + fmt.precision * smallest_normal,
        fmt.infinity - 1,
        fmt.infinity,
        fmt.infinity + 1,
        fmt.nan,
        fmt.magnitude,
    ]
    return positive + [fmt.sign | p for p in positive]


def sample(fmt: FloatFormat, count: int, *, seed: int) -> list[int]:
    """Uniform bits, and as many moderate values: exponents within 12 of that of 1."""
    rng = random.Random(f"{fmt.name} {seed}")
    bits = [rng.getrandbits(fmt.width) for _ in range(count // 2)]
    near = min(12, fmt.bias - 1)
    for _ in range(count - len(bits)):
        exponent = fmt.bias + rng.randint(-near, near)
        word = exponent << fmt.fraction_bits | rng.getrandbits(fmt.fraction_bits)
        bits.append(word | fmt.sign * rng.getrandbits(1))
    return bits


def mpfr_context(fmt: FloatFormat) -> Any:
    """An MPFR context that rounds, overflows and underflows as the format does."""
    emax = fmt.bias + 1
    emin = 4 - emax - fmt.precision
    return gmpy2.context(precision=fmt.precision, emax=emax, emin=emin, subnormalize=True)


def mpfr_oracle(fmt: FloatFormat, name: str) -> Callable[..., int]:
    """A function of MPFR by name, on bits."""
    context = mpfr_context(fmt)
    function = getattr(context, name)

    def call(*operands: int) -> int:
        values = [gmpy2.mpfr(to_float(fmt, bits), 64) for bits in operands]
        return from_float(fmt, float(function(*values)))

    return call


def mpfr_nearest(fmt: FloatFormat, value: float) -> int:
    """The bits of the format nearest to a double, rounded once by MPFR."""
    return from_float(fmt, float(mpfr_context(fmt).plus(gmpy2.mpfr(value, 64))))


def differences(
    expected: Callable[..., int], actual: Callable[..., int], cases: Iterable[Sequence[int]]
) -> list[str]:
    """One line for each case in which the two disagree; empty when they agree everywhere."""
    found: list[str] = []
    for case in cases:
        want, got = expected(*case), actual(*case)
        if want != got:
            operands = ", ".join(f"{bits:#x}" for bits in case)
            found.append(f"({operands}): expected {want:#x}, got {got:#x}")
    return found


def lookup(table: Mapping[tuple[int, ...], int]) -> Callable[..., int]:
    """Results computed beforehand, as a function of the operands."""

    def call(*operands: int) -> int:
        return table[operands]

    return call


def arb_exact(fmt: FloatFormat, bits: int) -> Any:
    """A finite value as an exact Arb ball."""
    numerator, denominator = to_float(fmt, bits).as_integer_ratio()
    return flint.arb(numerator) / flint.arb(denominator)


def rounds_to(fmt: FloatFormat, truth: Any, bits: int) -> bool:
    """Whether `bits` is the finite float nearest to the Arb ball `truth`, ties to even."""
    magnitude = bits & fmt.magnitude
    size = -truth if bits & fmt.sign else truth
    here = arb_exact(fmt, magnitude)
    above = (here + arb_exact(fmt, magnitude + 1)) / 2
    below = (here + arb_exact(fmt, magnitude - 1)) / 2 if magnitude else -above
    if bits & 1:
        return bool(below < size) and bool(size < above)
    return bool(below <= size) and bool(size <= above)
