"""Reductions over a sequence: the two strict orders (decision 9) and the correctly rounded value.

A strict reduction of one element is that element, bit for bit: no operation takes place, so no NaN
is produced. The exact reduction always produces a value, so its NaN is canonical.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.operators import ReduceOp, ReduceOrder
from vyre.reference.floats.arithmetic import add, mul
from vyre.reference.floats.compare import maximum, minimum
from vyre.reference.floats.formats import (
    is_finite,
    is_infinite,
    is_nan,
    is_zero,
    round_exact,
    sign_of,
    unpack,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.float_formats import FloatFormat

_STEP = {ReduceOp.Add: add, ReduceOp.Mul: mul, ReduceOp.Min: minimum, ReduceOp.Max: maximum}


def empty(op: ReduceOp, fmt: FloatFormat) -> int:
    """The value of a reduction over nothing."""
    match op:
        case ReduceOp.Add:
            return 0
        case ReduceOp.Mul:
            return fmt.one
        case ReduceOp.Min:
            return fmt.infinity
        case ReduceOp.Max:
            return fmt.sign | fmt.infinity


def reduce(order: ReduceOrder, op: ReduceOp, fmt: FloatFormat, values: Sequence[int]) -> int:
    """Folds left to right, or by the tree that splits at the largest power of two below the length."""
    if not values:
        return empty(op, fmt)
    step = _STEP[op]
    if order is ReduceOrder.Strict:
        result = values[0]
        for value in values[1:]:
            result = step(fmt, result, value)
        return result
    # Joining neighbours level by level, an odd last one carried up, is that same tree: the left part
    # of every split is a full power of two.
    level = list(values)
    while len(level) > 1:
        joined = [step(fmt, level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = joined + level[len(level) & ~1 :]
    return level[0]


def reduce_exact(op: ReduceOp, fmt: FloatFormat, values: Sequence[int]) -> int:
    """The exact sum, product, minimum or maximum, rounded once; the order of `values` is immaterial.

    A sum of zeros is -0 when all of them are; a sum that cancels exactly is +0.
    """
    if not values:
        return empty(op, fmt)
    match op:
        case ReduceOp.Add:
            return _exact_sum(fmt, values)
        case ReduceOp.Mul:
            return _exact_product(fmt, values)
        case ReduceOp.Min | ReduceOp.Max:
            result = fmt.nan
            for value in values:
                result = _STEP[op](fmt, result, value)
            return result


def _exact_sum(fmt: FloatFormat, values: Sequence[int]) -> int:
    if not all(is_finite(fmt, v) for v in values):
        infinities = {v for v in values if is_infinite(fmt, v)}
        if any(is_nan(fmt, v) for v in values) or len(infinities) > 1:
            return fmt.nan
        return infinities.pop()
    total = 0
    for value in values:
        sign, significand, exponent = unpack(fmt, value)
        scaled = significand << (exponent - fmt.min_exponent)
        total += -scaled if sign else scaled
    if total == 0:
        return fmt.sign if all(v == fmt.sign for v in values) else 0
    return round_exact(fmt, 1 if total < 0 else 0, abs(total), fmt.min_exponent)


def _exact_product(fmt: FloatFormat, values: Sequence[int]) -> int:
    sign = sum(sign_of(fmt, v) for v in values) & 1
    if not all(is_finite(fmt, v) for v in values):
        if any(is_nan(fmt, v) or is_zero(fmt, v) for v in values):
            return fmt.nan
        return sign << (fmt.width - 1) | fmt.infinity
    parts = [unpack(fmt, v)[1:] for v in values]
    exponent = sum(e for _, e in parts)
    factors = [m for m, _ in parts]
    # A tree of products keeps the factors of each multiplication about equally long.
    while len(factors) > 1:
        paired = [factors[i] * factors[i + 1] for i in range(0, len(factors) - 1, 2)]
        factors = paired + factors[len(factors) & ~1 :]
    return round_exact(fmt, sign, factors[0], exponent)
