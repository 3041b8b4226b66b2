"""Plausible wrong meanings of float operations, and the mistakes they are made of."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from vyre.ir.operators import BinaryOp, ReduceOp, ReduceOrder, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.typing import binary_type, unary_type
from vyre.reference import floats, integers
from vyre.reference.floats.formats import unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.conform.oracle.golden import Row
    from vyre.reference.floats import Format

    Meanings = Mapping[str, Callable[..., Any]]
    One = Callable[[int], int]
    Two = Callable[[int, int], int]
    Three = Callable[[int, int, int], int]
    Fold = Callable[[tuple[int, ...]], int]

_T = DataType


def constants(result_bits: int) -> dict[str, Callable[..., int]]:
    """The meanings that ignore their operands."""

    def zero(*_: int) -> int:
        return 0

    def ones(*_: int) -> int:
        return (1 << result_bits) - 1

    return {"always zero": zero, "always ones": ones}


def float_binary(op: BinaryOp, of: DataType) -> Meanings:
    fmt = floats.FORMATS[of]
    right = partial(floats.binary, op, fmt)
    result = binary_type(op, of, of)
    found: dict[str, Two] = {
        f"{other.value} instead": partial(floats.binary, other, fmt)
        for other in BinaryOp
        if other is not op and other.value.startswith("F") and binary_type(other, of, of) is result
        and other not in (BinaryOp.FATan2, BinaryOp.FPow)
    }  # fmt: skip
    found["operands swapped"] = lambda a, b: right(b, a)
    found["subnormal operands flushed"] = lambda a, b: right(flushed(fmt, a), flushed(fmt, b))
    if result is _T.U32:
        found["the bits compared"] = partial(_compared_bits, op)
        found["true on NaN"] = lambda a, b: 1 if fmt.is_nan(a) or fmt.is_nan(b) else right(a, b)
        found["zeros of two signs differ"] = lambda a, b: (
            _compared_bits(op, a, b) if not (a | b) & fmt.magnitude_mask else right(a, b)
        )
    else:
        more: dict[str, Two] = {
            "subnormal results flushed": lambda a, b: flushed(fmt, right(a, b)),
            "rounded toward zero": lambda a, b: toward_zero(fmt, right(a, b), exact_binary(op, fmt, a, b)),
            "the first NaN as it is": lambda a, b: (
                a if fmt.is_nan(a) else b if fmt.is_nan(b) else right(a, b)
            ),
            "NaN wins": lambda a, b: fmt.canonical_nan if fmt.is_nan(a) or fmt.is_nan(b) else right(a, b),
            "zeros of two signs alike": lambda a, b: a if not (a | b) & fmt.magnitude_mask else right(a, b),
            "the sign of zero dropped": lambda a, b: 0 if right(a, b) == fmt.sign_bit else right(a, b),
        }
        found.update(more)
    if op is BinaryOp.FDiv:
        one = fmt.one
        found["by the rounded reciprocal"] = lambda a, b: floats.binary(
            BinaryOp.FMul, fmt, a, floats.binary(op, fmt, one, b)
        )
        found["by zero zero"] = lambda a, b: 0 if not b & fmt.magnitude_mask else right(a, b)
    return {**found, **constants(of.bits if result is not _T.U32 else 32)}


def _compared_bits(op: BinaryOp, a: int, b: int) -> int:
    return integers.BINARY[BinaryOp(op.value[1:])](a, b)


def float_unary(op: UnaryOp, of: DataType) -> Meanings:
    fmt = floats.FORMATS[of]
    right = partial(floats.unary, op, fmt)
    result = unary_type(op, of)
    others: dict[str, One] = {
        f"{other.value} instead": partial(floats.unary, other, fmt)
        for other in UnaryOp
        if other is not op and other.value.startswith("F") and unary_type(other, of) is result
    }
    found: dict[str, One] = {
        **others,
        "subnormals flushed": lambda a: flushed(fmt, right(flushed(fmt, a))),
        "NaN as it is": lambda a: a if fmt.is_nan(a) else right(a),
        "NaN canonical": lambda a: fmt.canonical_nan if fmt.is_nan(a) else right(a),
        "zero minus it": lambda a: floats.binary(BinaryOp.FSub, fmt, 0, a),
        "of its magnitude": lambda a: right(a & fmt.magnitude_mask),
        "unchanged": lambda a: a,
        "infinity and NaN alike": lambda a: int(a & fmt.magnitude_mask >= fmt.infinity),
        "the positive one only": lambda a: int(a == fmt.infinity),
        "halves away from zero": lambda a: half_away(fmt, a) if op is UnaryOp.FRound else right(a),
        "one float off": lambda a: right(a) ^ 1,
        "the sign of zero dropped": lambda a: 0 if right(a) == fmt.sign_bit else right(a),
        "rounded toward zero": lambda a: (
            root_toward_zero(fmt, a, right(a)) if op is UnaryOp.FSqrt else right(a)
        ),
    }
    return {**found, **constants(of.bits if result is not _T.U32 else 32)}


def multiply_adds(fmt: Format, *, fused: bool) -> Meanings:
    twice, once = partial(apart, fmt), partial(floats.fma, fmt)
    right = once if fused else twice
    found: dict[str, Three] = {
        "rounded twice" if fused else "rounded once": twice if fused else once,
        "the product subtracted": lambda a, b, c: right(a ^ fmt.sign_bit, b, c),
        "the addend dropped": lambda a, b, c: floats.binary(BinaryOp.FMul, fmt, a, b),
        "subnormals flushed": lambda a, b, c: flushed(fmt, right(*(flushed(fmt, x) for x in (a, b, c)))),
    }
    return {**found, **constants(fmt.width)}


def apart(fmt: Format, a: int, b: int, c: int) -> int:
    """A product and a sum, each rounded."""
    return floats.binary(BinaryOp.FAdd, fmt, floats.binary(BinaryOp.FMul, fmt, a, b), c)


def reductions(row: Row) -> Meanings:
    fmt, op = floats.FORMATS[_T(row["type"])], ReduceOp(row["op"])
    order = ReduceOrder(row["order"])
    right = partial(floats.reduce, order, op, fmt)
    other = ReduceOrder.TreeBinary if order is ReduceOrder.Strict else ReduceOrder.Strict
    step = {ReduceOp.Add: BinaryOp.FAdd, ReduceOp.Mul: BinaryOp.FMul}.get(op)

    def halved(values: tuple[int, ...]) -> int:
        if len(values) < 2 or step is None:
            return right(values)
        middle = len(values) // 2
        return floats.binary(step, fmt, halved(values[:middle]), halved(values[middle:]))

    others: dict[str, Fold] = {
        f"{wrong.value} instead": partial(floats.reduce, order, wrong, fmt)
        for wrong in ReduceOp
        if wrong is not op
    }
    found: dict[str, Fold] = {
        **others,
        f"{other.value} instead": partial(floats.reduce, other, op, fmt),
        "from the right": lambda values: right(tuple(reversed(values))),
        "split in the middle": halved if order is ReduceOrder.TreeBinary else right,
        "without the last": lambda values: right(values[:-1]),
        "empty is zero": lambda values: right(values) if values else 0,
    }
    return {**found, **constants(fmt.width)}


def exact(fmt: Format, bits: int) -> Fraction | None:
    """The value; None where it is not finite."""
    if bits & fmt.magnitude_mask >= fmt.infinity:
        return None
    sign, significand, exponent = unpack(fmt, bits)
    return Fraction(-significand if sign else significand) * Fraction(2) ** exponent


def exact_binary(op: BinaryOp, fmt: Format, a: int, b: int) -> Fraction | None:
    x, y = exact(fmt, a), exact(fmt, b)
    if x is None or y is None:
        return None
    match op:
        case BinaryOp.FAdd:
            return x + y
        case BinaryOp.FSub:
            return x - y
        case BinaryOp.FMul:
            return x * y
        case BinaryOp.FDiv:
            return x / y if y else None
        case _:
            return None


def toward_zero(fmt: Format, rounded: int, true: Fraction | None) -> int:
    """The result that truncation gives, from the nearest one and the exact one."""
    if true is None or fmt.is_nan(rounded) or not rounded & fmt.magnitude_mask:
        return rounded
    value = exact(fmt, rounded)
    return rounded - 1 if value is None or abs(value) > abs(true) else rounded


def root_toward_zero(fmt: Format, a: int, root: int) -> int:
    x, r = exact(fmt, a), exact(fmt, root)
    return root - 1 if x is not None and r is not None and r > 0 and r * r > x else root


def flushed(fmt: Format, bits: int) -> int:
    return bits & fmt.sign_bit if bits & fmt.magnitude_mask < 1 << fmt.fraction_bits else bits


def half_away(fmt: Format, a: int) -> int:
    x = exact(fmt, a)
    even = floats.unary(UnaryOp.FRound, fmt, a)
    if x is None or (abs(x) * 2).denominator != 1 or (abs(x) * 2).numerator % 2 == 0:
        return even
    away = abs(x) + Fraction(1, 2)
    magnitude = floats.from_integer(fmt, _T.U32, int(away)) if away < 1 << 32 else even & fmt.magnitude_mask
    return a & fmt.sign_bit | magnitude
