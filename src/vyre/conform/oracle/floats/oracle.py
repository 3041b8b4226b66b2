"""What every strict float operation must give, on whole arrays of bits.

    expected("FAdd", "F16", a, b)       u32 words in, u32 words out

F32 goes through the float32 arithmetic of NumPy, that is, of this processor. F16 and BF16 go through
doubles: + - * / and sqrt are then rounded twice, which is harmless where the wider format has at least
2p + 2 bits. The fused product is exact as a double (at most 48 bits), and its sum is rounded to odd by the
error of the addition before it is rounded to the format. Functions: `vyre.conform.oracle.floats.functions`.

Nothing here is shared with the soft floats, the reference interpreter or a lowering.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.oracle.floats.functions import FUNCTIONS, correctly_rounded
from vyre.conform.oracle.floats.layout import LAYOUTS, canonical, doubles, is_nan, nearest
from vyre.errors import VyreError
from vyre.ir.float_formats import F32, FloatFormat

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from vyre.conform.oracle.floats.layout import Doubles, Words

INTEGERS = {"I32": (-(1 << 31), (1 << 31) - 1), "U32": (0, (1 << 32) - 1)}
ROUNDINGS: dict[str, Callable[..., Any]] = {
    "FFloor": np.floor,
    "FCeil": np.ceil,
    "FRound": np.rint,
    "FTrunc": np.trunc,
}
MODES = {"Nearest": np.rint, "Truncate": np.trunc, "Floor": np.floor, "Ceil": np.ceil}
ARITHMETIC: dict[str, Callable[..., Any]] = {
    "FAdd": np.add,
    "FSub": np.subtract,
    "FMul": np.multiply,
    "FDiv": np.divide,
}
COMPARISONS: dict[str, Callable[..., Any]] = {
    "FEq": np.equal,
    "FNe": np.not_equal,
    "FLt": np.less,
    "FGt": np.greater,
    "FLe": np.less_equal,
    "FGe": np.greater_equal,
}


def expected(op: str, format: str, *operands: Words) -> Words:
    """The bits of the results of an operator of the language on operands of one format."""
    of = LAYOUTS[format]
    with np.errstate(all="ignore"):
        return _expected(op, of, *(np.asarray(x, np.uint32) for x in operands))


def _expected(op: str, of: FloatFormat, *x: Words) -> Words:
    if op in ARITHMETIC:
        return _native(of, ARITHMETIC[op], *x)
    if op in COMPARISONS:
        return COMPARISONS[op](doubles(of, x[0]), doubles(of, x[1])).astype(np.uint32)
    if op in ROUNDINGS:
        return nearest(of, ROUNDINGS[op](doubles(of, x[0])))
    if op in FUNCTIONS:
        return correctly_rounded(op, of, *x)
    match op:
        case "FSqrt":
            return _native(of, np.sqrt, *x)
        case "FMulAdd":
            return _fused(of, *x)
        case "FMin" | "FMax":
            return _extreme(of, *x, least=op == "FMin")
        case "FNeg":
            return x[0] ^ np.uint32(of.sign)
        case "FAbs":
            return x[0] & np.uint32(of.magnitude)
        case "FIsNaN":
            return is_nan(of, x[0]).astype(np.uint32)
        case "FIsInf":
            return (x[0] & np.uint32(of.magnitude) == np.uint32(of.infinity)).astype(np.uint32)
        case _:
            raise VyreError(
                f"there is no oracle for {op}.", fix="name a float operator of the language, such as FAdd."
            )


def _native(of: FloatFormat, function: Callable[..., Any], *x: Words) -> Words:
    if of is F32:
        values = [np.ascontiguousarray(v).view(np.float32) for v in x]
        return canonical(of, function(*values).view(np.uint32))
    return nearest(of, function(*(doubles(of, v) for v in x)))


def _fused(of: FloatFormat, a: Words, b: Words, c: Words) -> Words:
    product = doubles(of, a) * doubles(of, b)
    return nearest(of, _sum_to_odd(product, doubles(of, c)))


def _sum_to_odd(a: Doubles, b: Doubles) -> Doubles:
    """The exact sum rounded to odd; the error of the addition says on which side it is."""
    total = a + b
    part = total - a
    error = (a - (total - part)) + (b - part)
    bits = total.view(np.uint64)
    move = np.isfinite(total) & (error != 0) & (bits & np.uint64(1) == 0)
    away = (error > 0) == (total > 0)
    moved = np.where(away, bits + np.uint64(1), bits - np.uint64(1))
    return np.where(move, moved, bits).view(np.float64)


def _extreme(of: FloatFormat, a: Words, b: Words, *, least: bool) -> Words:
    """minimumNumber or maximumNumber: ordered as sign and magnitude, so that -0 is below +0."""
    low = _ordered(of, a) <= _ordered(of, b)
    chosen = np.where(low == least, a, b)
    chosen = np.where(is_nan(of, a), b, np.where(is_nan(of, b), a, chosen))
    return canonical(of, chosen)


def _ordered(of: FloatFormat, bits: Words) -> NDArray[np.int64]:
    size = (bits & np.uint32(of.magnitude)).astype(np.int64)
    return np.where(bits & np.uint32(of.sign) != 0, -1 - size, size)


def to_integer(target: str, mode: str, format: str, bits: Words) -> Words:
    """`Convert` from a float: rounded by the mode, saturated, NaN to 0."""
    low, high = INTEGERS[target]
    with np.errstate(all="ignore"):
        values = MODES[mode](doubles(LAYOUTS[format], np.asarray(bits, np.uint32)))
        whole = np.clip(np.where(np.isnan(values), 0.0, values), low, high)
    return whole.astype(np.int64).astype(np.uint32)


def from_integer(source: str, format: str, words: Words) -> Words:
    """`Convert` to a float, to nearest."""
    whole = np.asarray(words, np.uint32)
    values = whole.view(np.int32) if source == "I32" else whole
    return nearest(LAYOUTS[format], values.astype(np.float64))


def between(source: str, target: str, bits: Words) -> Words:
    """`Cast` between two float formats."""
    return nearest(LAYOUTS[target], doubles(LAYOUTS[source], np.asarray(bits, np.uint32)))
