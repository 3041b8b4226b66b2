"""The three strict formats as NumPy sees them: bits to doubles, and doubles rounded once to bits.

Bits are u32 words; those of 16-bit formats are zero-extended. Every value of the formats is a double.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.ir.float_formats import F16, F32, STRICT_FORMATS, FloatFormat
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint32]
    Doubles = NDArray[np.float64]


HEAD = FloatFormat(DataType.F64, 11, 20)
"""The word of an F64 that has its sign and exponent; the other 32 bits of its fraction are the low word."""
LAYOUTS = {of.name: of for of in STRICT_FORMATS.values()}
"""The three formats by name."""


def doubles(of: FloatFormat, bits: Words) -> Doubles:
    """The exact values; every NaN is quiet, because C libraries differ on the powers of signalling ones."""
    with np.errstate(invalid="ignore"):
        bits = canonical(of, bits)
        if of is F16:
            return bits.astype(np.uint16).view(np.float16).astype(np.float64)
        singles = bits if of is F32 else bits << np.uint32(16)
        return np.ascontiguousarray(singles).view(np.float32).astype(np.float64)


def nearest(of: FloatFormat, values: Doubles) -> Words:
    """Each double rounded once to the format, ties to even; every NaN is the canonical one."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if of is F32:
            bits = values.astype(np.float32).view(np.uint32)
        else:
            odd = _singles_to_odd(values)
            if of is F16:
                bits = odd.view(np.float32).astype(np.float16).view(np.uint16).astype(np.uint32)
            else:
                bits = (odd + np.uint32(0x7FFF) + (odd >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(values), np.uint32(of.nan), bits)


def _singles_to_odd(values: Doubles) -> Words:
    """Singles rounded to odd, which have 13 bits more than a 16-bit format: rounding again is harmless."""
    singles = values.astype(np.float32)
    bits = singles.view(np.uint32).copy()
    back = singles.astype(np.float64)
    move = (back != values) & (bits & 1 == 0) & ~np.isnan(values)
    step = np.where(np.abs(back) > np.abs(values), np.uint32(0xFFFF_FFFF), np.uint32(1))
    return np.where(move, bits + step, bits)


def is_nan(of: FloatFormat, bits: Words) -> NDArray[np.bool_]:
    return bits & np.uint32(of.magnitude) > np.uint32(of.infinity)


def canonical(of: FloatFormat, bits: Any) -> Words:
    """The same words with every NaN made canonical."""
    return np.where(is_nan(of, bits), np.uint32(of.nan), bits)
