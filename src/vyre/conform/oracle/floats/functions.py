"""Correctly rounded functions on whole arrays: a filter in doubles, and a decision on what it leaves open.

A function of NumPy is evaluated in double precision and trusted to a relative error of 2^-44, 256 units in
the last place, where the documented errors of the libraries behind it stay below 4. If both ends of that
interval round to the same value, that is the result: all but about one in 500,000 single precision inputs.
The others are decided by MPFR, by Arb, or where neither is installed by the reference interpreter.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.oracle.floats.layout import doubles, nearest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from vyre.conform.oracle.floats.layout import Doubles, Words
    from vyre.ir.float_formats import FloatFormat

MARGIN = 2.0**-44
"""The relative error that the double precision functions are trusted to keep."""


def _exp10(x: Any) -> Any:
    return np.power(10.0, x)


_ERF = np.frompyfunc(math.erf, 1, 1)
_SLOPE = 2 / math.sqrt(math.pi)


def _erf(x: Any) -> Any:
    """NumPy has none, so the C library's, one by one where it is neither a line nor 1."""
    size = np.abs(x)
    found = np.where(size < 1, x * _SLOPE, np.copysign(1.0, x)) + 0.0 * np.where(size == np.inf, 0.0, x)
    curved = np.flatnonzero((size > 2.0**-27) & (size < 6.5))
    found[curved] = _ERF(x[curved]).astype(np.float64)
    return found


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "FSin": np.sin,
    "FCos": np.cos,
    "FTan": np.tan,
    "FASin": np.arcsin,
    "FACos": np.arccos,
    "FATan": np.arctan,
    "FExp": np.exp,
    "FLog": np.log,
    "FExp2": np.exp2,
    "FLog2": np.log2,
    "FExp10": _exp10,
    "FLog10": np.log10,
    "FErf": _erf,
    "FTanh": np.tanh,
    "FSinh": np.sinh,
    "FCosh": np.cosh,
    "FExpm1": np.expm1,
    "FLog1p": np.log1p,
    "FCbrt": np.cbrt,
    "FATan2": np.arctan2,
    "FPow": np.power,
}


def filtered(
    op: str, of: FloatFormat, *operands: Words, margin: float | None = None
) -> tuple[Words, NDArray[np.bool_]]:
    """Results, and a mask of those that the filter leaves open. The margin is `MARGIN`."""
    margin = MARGIN if margin is None else margin
    with np.errstate(all="ignore"):
        value: Doubles = FUNCTIONS[op](*(doubles(of, x) for x in operands))
        low = nearest(of, value * (1 - margin))
        high = nearest(of, value * (1 + margin))
    return low, low != high


def correctly_rounded(op: str, of: FloatFormat, *operands: Words) -> Words:
    """The results, all of them decided."""
    from vyre.conform.oracle.floats.decide import decide

    results, open_ = filtered(op, of, *operands)
    places = np.flatnonzero(open_)
    if places.size:
        cases = [tuple(int(x[k]) for x in operands) for k in places]
        results[places] = np.array(decide(op, of, cases), np.uint32)
    return results
