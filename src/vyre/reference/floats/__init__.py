"""Floats of the reference interpreter: bits in, bits out, computed on Python integers alone.

Every result is the exact one rounded once, to nearest with ties to even, in F16, BF16, F32 and F64.
"""

from vyre.reference.floats.arithmetic import fma
from vyre.reference.floats.convert import change_format, from_integer, to_integer
from vyre.reference.floats.formats import BF16, F16, F32, F64, FORMATS, Format
from vyre.reference.floats.operations import approx, binary, unary
from vyre.reference.floats.reduce import reduce, reduce_exact

__all__ = [
    "BF16",
    "F16",
    "F32",
    "F64",
    "FORMATS",
    "Format",
    "approx",
    "binary",
    "change_format",
    "fma",
    "from_integer",
    "reduce",
    "reduce_exact",
    "to_integer",
    "unary",
]
