"""Which expression an elementwise golden row is about: its operand types, its result, its builder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.ir.expr import Approx, BinOp, Cast, Convert, Expr, FMulAdd, Lane, MakeVec, Select, UnOp
from vyre.ir.operators import ApproxOp, BinaryOp, RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.typing import binary_type, unary_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.oracle.golden.rows import Row

ELEMENT_KINDS = frozenset(
    {"binary", "unary", "fma", "unfused", "select", "cast", "convert", "lane", "make", "approx"}
)
_T = DataType
_INFINITIES = {_T.F32: 0x7F80_0000, _T.F16: 0x7C00, _T.BF16: 0x7F80, _T.F64: 0x7FF0 << 48}


@dataclass(frozen=True, slots=True)
class Operation:
    """Rows with equal keys share a program."""

    key: tuple[object, ...]
    operands: tuple[DataType, ...]
    result: DataType
    build: Callable[[tuple[Expr, ...]], Expr]
    tolerance: int = 0

    def agrees(self, expected: int, actual: int) -> bool:
        return within(expected, actual, self.result, self.tolerance)


def operation_of(row: Row) -> Operation:
    """The operation of an elementwise row."""
    match row.kind:
        case "binary":
            return _binary(row)
        case "unary":
            return _unary(row)
        case "fma" | "unfused":
            return _multiply_add(row)
        case "select":
            of, condition = _T(row["type"]), _T(row["condition"])
            return Operation(("select", of, condition), (condition, of, of), of, lambda x: Select(*x))
        case "cast":
            source, target = _T(row["from"]), _T(row["to"])
            return Operation(("cast", source, target), (source,), target, lambda x: Cast(target, x[0]))
        case "convert":
            return _convert(row)
        case "lane":
            of, index = _T(row["type"]), int(row["lane"])
            return Operation(("lane", of, index), (of,), _T.U32, lambda x: Lane(x[0], index))
        case "make":
            of = _T(row["type"])
            return Operation(("make", of), (_T.U32,) * of.lanes, of, lambda x: MakeVec(of, x))
        case "approx":
            return _approximate(row)
        case _:
            raise VyreError(
                f"{row.id} is of the kind {row.kind}, which applies no single operation.",
                fix=f"use one of {', '.join(sorted(ELEMENT_KINDS))}.",
            )


def _binary(row: Row) -> Operation:
    op, of = BinaryOp(row["op"]), _T(row["type"])
    result = binary_type(op, of, of)
    if result is None:
        raise _untyped(row)
    return Operation(("binary", op, of), (of, of), result, lambda x: BinOp(op, *x))


def _unary(row: Row) -> Operation:
    op, of = UnaryOp(row["op"]), _T(row["type"])
    result = unary_type(op, of)
    if result is None:
        raise _untyped(row)
    return Operation(("unary", op, of), (of,), result, lambda x: UnOp(op, x[0]))


def _multiply_add(row: Row) -> Operation:
    of = _T(row["type"])

    def build(x: tuple[Expr, ...]) -> Expr:
        a, b, c = x
        if row.kind == "fma":
            return FMulAdd(a, b, c)
        return BinOp(BinaryOp.FAdd, BinOp(BinaryOp.FMul, a, b), c)

    return Operation((row.kind, of), (of, of, of), of, build)


def _convert(row: Row) -> Operation:
    source, target, mode = _T(row["from"]), _T(row["to"]), RoundMode(row["mode"])
    key = ("convert", source, target, mode)
    return Operation(key, (source,), target, lambda x: Convert(target, mode, x[0]))


def _approximate(row: Row) -> Operation:
    op, of, tolerance = ApproxOp(row["op"]), _T(row["type"]), int(row["tolerance"])
    key = ("approx", op, of, tolerance)
    return Operation(key, (of,), of, lambda x: Approx(op, x[0], tolerance), tolerance)


def _untyped(row: Row) -> VyreError:
    return VyreError(
        f"{row.id}: {row['op']} does not take {row['type']}.", fix="use an operand type of the operator."
    )


def within(expected: int, actual: int, of: DataType, tolerance: int) -> bool:
    """Equal bits, or for a tolerance at most that many floats away; NaN and signs are never tolerated.

    Infinity counts as the float after the largest.
    """
    if expected == actual:
        return True
    if not tolerance or of not in _INFINITIES:
        return False
    sign = 1 << (of.bits - 1)
    numbers = max(expected & sign - 1, actual & sign - 1) <= _INFINITIES[of]
    return numbers and (expected ^ actual) & sign == 0 and abs(expected - actual) <= tolerance
