"""What every operation on F64 must give, on arrays of words: the low word of a value, then the high one.

    operations()                        the strict operations on F64, without functions, with conversions
    expected("FAdd", a0, a1, b0, b1)    words in, words out

Arithmetic is NumPy's on doubles, that is, this processor's. A fused product is taken apart into two doubles
without error, and its sum with the third operand is rounded to odd before it is rounded to nearest; what
that cannot do, close to the smallest normal number, is computed with whole numbers of any size.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.oracle.floats.decide import nearest_dyadic
from vyre.conform.oracle.floats.operations import Operation
from vyre.conform.oracle.floats.oracle import ARITHMETIC, COMPARISONS, INTEGERS, MODES, ROUNDINGS
from vyre.errors import VyreError
from vyre.ir.expr import BinOp, Convert, FMulAdd, UnOp
from vyre.ir.float_formats import F64
from vyre.ir.operators import (
    FLOAT_BINARY_OPS,
    FLOAT_CLASS_OPS,
    FLOAT_COMPARE_OPS,
    FLOAT_UNARY_OPS,
    FUNCTION_BINARY_OPS,
    FUNCTION_UNARY_OPS,
    BinaryOp,
    RoundMode,
    UnaryOp,
)
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.conform.oracle.floats.layout import Doubles, Words

    Bits = NDArray[np.uint64]

_CLAMP = 160
"""Powers of two between a product and a summand beyond which the smaller one only decides a direction."""
_LOWEST = -1020
"""Results whose exponent is below this may be subnormal."""
_SPLITTER = float((1 << 27) + 1)


def joined(low: Words, high: Words) -> Bits:
    """The bits of values from their words."""
    return np.asarray(high, np.uint64) << np.uint64(32) | np.asarray(low, np.uint64)


def parted(bits: Bits) -> tuple[Words, Words]:
    return (bits & np.uint64(0xFFFF_FFFF)).astype(np.uint32), (bits >> np.uint64(32)).astype(np.uint32)


def _canonical(values: Doubles) -> Bits:
    return np.where(np.isnan(values), np.uint64(F64.nan), values.view(np.uint64))


def expected(op: str, *words: Words) -> Any:
    """The words of the results of an operator; one array where the result is a U32."""
    bits = [joined(words[k], words[k + 1]) for k in range(0, len(words), 2)]
    with np.errstate(all="ignore"):
        found = _expected(op, bits)
    return found if found.dtype == np.uint32 else parted(found)


def _expected(op: str, bits: list[Bits]) -> Any:
    x = [b.view(np.float64) for b in bits]
    magnitude = bits[0] & np.uint64(F64.magnitude)
    if op in ARITHMETIC:
        return _canonical(ARITHMETIC[op](*x))
    if op in COMPARISONS:
        return COMPARISONS[op](*x).astype(np.uint32)
    if op in ROUNDINGS:
        return _canonical(ROUNDINGS[op](x[0]))
    match op:
        case "FSqrt":
            return _canonical(np.sqrt(x[0]))
        case "FMulAdd":
            return _fused(*x)
        case "FMin" | "FMax":
            return _extreme(bits[0], bits[1], least=op == "FMin")
        case "FNeg":
            return bits[0] ^ np.uint64(F64.sign)
        case "FAbs":
            return magnitude
        case "FIsNaN":
            return np.isnan(x[0]).astype(np.uint32)
        case "FIsInf":
            return (magnitude == np.uint64(F64.infinity)).astype(np.uint32)
        case _:
            raise VyreError(f"there is no oracle for {op} on F64.", fix="name an operator that F64 has.")


def _extreme(a: Bits, b: Bits, *, least: bool) -> Bits:
    """minimumNumber or maximumNumber, ordered as sign and magnitude."""
    first, second = (np.where(x >> np.uint64(63) != 0, ~x, x | np.uint64(F64.sign)) for x in (a, b))
    chosen = np.where((first <= second) == least, a, b)
    nan_a, nan_b = np.isnan(a.view(np.float64)), np.isnan(b.view(np.float64))
    return _canonical(np.where(nan_a, b, np.where(nan_b, a, chosen)).view(np.float64))


def _two_sum(a: Doubles, b: Doubles) -> tuple[Doubles, Doubles]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _split(a: Doubles) -> tuple[Doubles, Doubles]:
    scaled = a * _SPLITTER
    high = scaled - (scaled - a)
    return high, a - high


def _two_product(a: Doubles, b: Doubles) -> tuple[Doubles, Doubles]:
    product = a * b
    (ah, al), (bh, bl) = _split(a), _split(b)
    return product, ((ah * bh - product) + ah * bl + al * bh) + al * bl


def _sum_to_odd(a: Doubles, b: Doubles) -> Doubles:
    total, error = _two_sum(a, b)
    bits = total.view(np.uint64)
    move = (error != 0) & (bits & np.uint64(1) == 0)
    away = (error > 0) == (total > 0)
    return np.where(move, np.where(away, bits + np.uint64(1), bits - np.uint64(1)), bits).view(np.float64)


def _fused(a: Doubles, b: Doubles, c: Doubles) -> Bits:
    plain = ~(np.isfinite(a) & np.isfinite(b) & np.isfinite(c)) | (a == 0) | (b == 0)
    # Where something is infinite or NaN, or the product is exactly zero, two steps do the same as one; but a
    # finite product must not overflow on the way to an infinite summand.
    product = np.where(np.isfinite(a) & np.isfinite(b) & np.isinf(c), 0.0, a * b)
    results = _canonical(product + c)
    (ma, ea), (mb, eb), (mc, ec) = (np.frexp(np.where(plain, 1.0, x)) for x in (a, b, c))
    scale = ea + eb
    beyond = (ec - scale > _CLAMP) & (mc != 0)
    summand = np.ldexp(mc, np.clip(ec - scale, -_CLAMP, _CLAMP))
    base = np.where(beyond, ec - _CLAMP, scale)
    high, low = _two_product(ma, mb)
    upper, rest = _two_sum(summand, low)
    head, tail = _two_sum(high, upper)
    total = head + _sum_to_odd(tail, rest)
    exponent = np.frexp(total)[1] + base
    made = np.where(plain, results, _canonical(np.ldexp(total, np.clip(base, -4000, 4000))))
    for k in np.flatnonzero(~plain & (total != 0) & (exponent < _LOWEST)):
        made[k] = exact_fused(float(a[k]), float(b[k]), float(c[k]))
    return made


def exact_fused(a: float, b: float, c: float) -> int:
    """The bits of a * b + c rounded once, for finite operands with a product other than zero."""
    (an, ad), (bn, bd), (cn, cd) = (x.as_integer_ratio() for x in (a, b, c))
    numerator = an * bn * cd + cn * ad * bd
    return nearest_dyadic(F64, numerator, -(ad * bd * cd).bit_length() + 1)


def to_integer(target: str, mode: str, low: Words, high: Words) -> Words:
    """`Convert` to an integer: rounded by the mode, saturated, NaN to 0."""
    least, most = INTEGERS[target]
    with np.errstate(all="ignore"):
        values = MODES[mode](joined(low, high).view(np.float64))
        whole = np.clip(np.where(np.isnan(values), 0.0, values), least, most)
    return whole.astype(np.int64).astype(np.uint32)


def from_integer(source: str, words: Words) -> tuple[Words, Words]:
    """`Convert` to F64, which is exact."""
    whole = np.asarray(words, np.uint32)
    values = whole.view(np.int32) if source == "I32" else whole
    return parted(values.astype(np.float64).view(np.uint64))


def _operator(op: BinaryOp | UnaryOp) -> Operation:
    of = DataType.F64
    logical = op in FLOAT_COMPARE_OPS or op in FLOAT_CLASS_OPS
    arity, build = (2, partial(BinOp, op)) if isinstance(op, BinaryOp) else (1, partial(UnOp, op))
    result = DataType.U32 if logical else of
    return Operation(f"{op.value} F64", of, result, arity, build, partial(expected, op.value))


@cache
def operations() -> tuple[Operation, ...]:
    """What F64 has: everything but the correctly rounded functions. Their programs need F64 buffers."""
    of, whole = DataType.F64, (DataType.I32, DataType.U32)
    operators = [
        *(op for op in BinaryOp if op in FLOAT_BINARY_OPS - FUNCTION_BINARY_OPS),
        *(op for op in UnaryOp if op in FLOAT_UNARY_OPS - FUNCTION_UNARY_OPS),
    ]
    fused = Operation("FMulAdd F64", of, of, 3, FMulAdd, partial(expected, "FMulAdd"))
    found = [*map(_operator, operators), fused]
    found += [
        Operation(
            f"Convert F64 {t.value} {mode.value}",
            of,
            t,
            1,
            partial(Convert, t, mode),
            partial(to_integer, t.value, mode.value),
        )
        for t in whole
        for mode in RoundMode
    ]
    return (*found, *map(_from, whole))


def _from(source: DataType) -> Operation:
    made: Any = partial(from_integer, source.value)
    of, nearest = DataType.F64, RoundMode.Nearest
    return Operation(f"Convert {source.value} F64", source, of, 1, partial(Convert, of, nearest), made)
