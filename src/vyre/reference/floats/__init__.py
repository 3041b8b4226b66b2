"""Floats of the reference interpreter: bits in, bits out, computed on Python integers alone.

Every result is the exact one rounded once, to nearest with ties to even, in F16, BF16, F32 and F64.
"""

from vyre.ir.float_formats import FORMATS
from vyre.reference.floats.arithmetic import fma
from vyre.reference.floats.convert import change_format, from_integer, to_integer
from vyre.reference.floats.operations import approx, binary, unary
from vyre.reference.floats.reduce import reduce, reduce_exact

__all__ = [
    "FORMATS",
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
