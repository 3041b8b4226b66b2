"""Float reductions by NumPy alone: the bits that every backend must give.

F32 sums and products are NumPy's own float32 operations. F16 and BF16 are computed in float64 and rounded
once more, which is exact: 53 bits are more than twice 11 plus 2, products of such numbers are exact in
float64, and sums are exact wherever they are subnormal. Minimum and maximum need no arithmetic at all.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.ir.float_formats import STRICT_FORMATS
from vyre.ir.operators import ReduceOp, ReduceOrder
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.ir.float_formats import FloatFormat

    Bits = NDArray[Any]


_PIECE = 1 << 20


def reduced(order: ReduceOrder, op: ReduceOp, element: DataType, bits: Bits) -> int:
    """The bits of the reduction of an array of bits."""
    layout = STRICT_FORMATS[element]
    if bits.size < 2:
        return int(bits[0]) if bits.size else _empty(op, layout)
    if op in (ReduceOp.Min, ReduceOp.Max):
        return _extreme(op, layout, bits)
    with np.errstate(all="ignore"):
        if order is ReduceOrder.TreeBinary:
            return _tree(op, element, bits)
        return _left(op, element, bits)


def _empty(op: ReduceOp, layout: FloatFormat) -> int:
    match op:
        case ReduceOp.Add:
            return 0
        case ReduceOp.Mul:
            return layout.one
        case ReduceOp.Min:
            return layout.infinity
        case ReduceOp.Max:
            return layout.sign | layout.infinity


def _extreme(op: ReduceOp, layout: FloatFormat, bits: Bits) -> int:
    """Bits order like numbers once the negative ones are turned over."""
    wide = bits.astype(np.int64)
    numbers = wide[(wide & (layout.sign - 1)) <= layout.infinity]
    if not numbers.size:
        return layout.nan
    keys = np.where(numbers & layout.sign, -numbers, numbers + layout.sign)
    return int(numbers[np.argmin(keys) if op is ReduceOp.Min else np.argmax(keys)])


def values(element: DataType, bits: Bits) -> NDArray[Any]:
    """The numbers: float32 for F32, else float64."""
    match element:
        case DataType.F32:
            return bits.view(np.float32)
        case DataType.F16:
            return bits.view(np.float16).astype(np.float64)
        case _:
            return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


def rounded(element: DataType, exact: NDArray[Any]) -> NDArray[Any]:
    """Each number, rounded to the type, ties to even; float32 is rounded already."""
    layout = STRICT_FORMATS[element]
    if element is DataType.F32:
        return exact
    _, exponent = np.frexp(exact)
    step = np.maximum(exponent - layout.precision, layout.min_exponent)
    near = np.ldexp(np.rint(np.ldexp(exact, -step)), step)
    too_large = np.abs(near) >= 2.0 ** (layout.max_exponent + 1)
    return np.where(too_large, np.copysign(np.inf, near), np.where(np.isfinite(exact), near, exact))


def to_bits(element: DataType, number: Any) -> int:
    """The bits of one number of the type; NaN is the canonical one."""
    if np.isnan(number):
        return STRICT_FORMATS[element].nan
    match element:
        case DataType.F32:
            return int(np.float32(number).view(np.uint32))
        case DataType.F16:
            return int(np.float16(number).view(np.uint16))
        case _:
            return int(np.float32(number).view(np.uint32)) >> 16


def _tree(op: ReduceOp, element: DataType, bits: Bits) -> int:
    """Neighbours are joined level by level, an odd last one goes up as it is."""
    level = values(element, bits)
    while level.size > 1:
        even = level.size & ~1
        left, right = level[0:even:2], level[1:even:2]
        joined = rounded(element, left + right if op is ReduceOp.Add else left * right)
        level = np.concatenate([joined, level[even:]])
    return to_bits(element, level[0])


def _left(op: ReduceOp, element: DataType, bits: Bits) -> int:
    if element is DataType.BF16:
        return _left_by_hand(op, element, values(element, bits))
    # NumPy rounds float16 after every step as well: what it computes in float32 in between is exact, or
    # has bits enough (24 = 2 * 11 + 2) to be rounded again without harm.
    numbers = bits.view(np.dtype(f"<f{bits.itemsize}"))
    ufunc = np.add if op is ReduceOp.Add else np.multiply
    total = numbers[:1]
    for start in range(1, numbers.size, _PIECE):
        part = np.concatenate([total, numbers[start : start + _PIECE]])
        total = ufunc.accumulate(part)[-1:]
    return to_bits(element, total[0])


def _left_by_hand(op: ReduceOp, element: DataType, numbers: NDArray[Any]) -> int:
    """One number after the other; Python rounds a float to an integer with ties to even."""
    layout = STRICT_FORMATS[element]
    limit = 2.0 ** (layout.max_exponent + 1)
    total, *rest = numbers.tolist()
    for number in rest:
        total = total + number if op is ReduceOp.Add else total * number
        if not math.isfinite(total):
            continue
        step = max(math.frexp(total)[1] - layout.precision, layout.min_exponent)
        near = math.ldexp(round(math.ldexp(total, -step)), step)
        total = math.copysign(near if abs(near) < limit else math.inf, total)
    return to_bits(element, total)
