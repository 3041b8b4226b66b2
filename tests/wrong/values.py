"""Backends that compute a wrong value: one operation each, on some operands or on all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.wrong.base import Interpreted, Right, binary
from vyre.ir.expr import Atomic, BinOp, Expr, InvocationId, Lane, LitU32, Select, UnOp
from vyre.ir.operators import AtomicOp, BinaryOp, UnaryOp

if TYPE_CHECKING:
    from collections.abc import Callable

MAX, TOP = 0xFFFF_FFFF, 0x8000_0000


class ShiftBy32(Right):
    name = "shift-by-32"

    def fault(self, expr: Expr) -> Expr:
        shift = binary(BinaryOp.Shl, expr)
        return expr if shift is None else Select(shift.right > 31, LitU32(0), shift)


class SignedCompare(Right):
    name = "signed-compare"

    def fault(self, expr: Expr) -> Expr:
        lt = binary(BinaryOp.Lt, expr)
        return expr if lt is None else (lt.left ^ TOP) < (lt.right ^ TOP)


class DivisionByZero(Right):
    name = "division-by-zero"

    def fault(self, expr: Expr) -> Expr:
        div = binary(BinaryOp.Div, expr)
        return expr if div is None else Select(div.right.eq(0), LitU32(MAX), div)


class WrongAbove(Right):
    """Multiplication, from 2^31 on."""

    name = "wrong-above-2^31"

    def fault(self, expr: Expr) -> Expr:
        mul = binary(BinaryOp.Mul, expr)
        return expr if mul is None else Select(mul.left > TOP - 1, mul + 1, mul)


class OffByOne(Right):
    """Every multiplication."""

    name = "off-by-one"

    def fault(self, expr: Expr) -> Expr:
        mul = binary(BinaryOp.Mul, expr)
        return expr if mul is None else mul + 1


class WrongOnEqual(Right):
    name = "wrong-on-equal"

    def fault(self, expr: Expr) -> Expr:
        sub = binary(BinaryOp.Sub, expr)
        return expr if sub is None else Select(sub.left.eq(sub.right), LitU32(1), sub)


class WrongOnComplement(Right):
    name = "wrong-on-complement"

    def fault(self, expr: Expr) -> Expr:
        xor = binary(BinaryOp.BitXor, expr)
        far = xor is not None and (xor.left > 0xFFFF) & (xor.right > 0xFFFF)
        return expr if xor is None else Select((xor.left + xor.right).eq(MAX) & far, LitU32(0), xor)


class WrongPair(Right):
    """Addition, in one pair of bytes."""

    name = "wrong-pair"

    def fault(self, expr: Expr) -> Expr:
        add = binary(BinaryOp.Add, expr)
        if add is None or isinstance(add.left, InvocationId):
            return expr
        return Select(add.left.eq(57) & add.right.eq(200), LitU32(0), add)


class WrongUnary(Right):
    """Popcount, of one number below 2^16."""

    name = "wrong-unary"

    def fault(self, expr: Expr) -> Expr:
        if isinstance(expr, UnOp) and expr.op is UnaryOp.Popcount:
            return Select(expr.operand.eq(40_009), LitU32(9), expr)
        return expr


class WrongAddition(Right):
    """x + y is one too much, which most generated programs show."""

    name = "wrong-addition"

    def fault(self, expr: Expr) -> Expr:
        add = binary(BinaryOp.Add, expr)
        return expr if add is None else BinOp(BinaryOp.Sub, add, LitU32(MAX))


class SwappedLanes(Right):
    name = "swapped-lanes"

    def fault(self, expr: Expr) -> Expr:
        return lanes_swapped(expr)


def off_by_one_popcount(expr: Expr) -> Expr:
    return expr + 1 if isinstance(expr, UnOp) and expr.op is UnaryOp.Popcount else expr


def division_by_zero_gives_the_dividend(expr: Expr) -> Expr:
    if isinstance(expr, BinOp) and expr.op is BinaryOp.Div:
        return BinOp(BinaryOp.Add, expr, expr.left * expr.right.eq(0))
    return expr


def lanes_swapped(expr: Expr) -> Expr:
    return Lane(expr.value, 1 - expr.index) if isinstance(expr, Lane) and expr.index < 2 else expr


def minimum_is_maximum(expr: Expr) -> Expr:
    if isinstance(expr, Atomic) and expr.op is AtomicOp.Min:
        return Atomic(AtomicOp.Max, expr.buffer, expr.index, expr.value)
    return expr


FAULTS = (off_by_one_popcount, division_by_zero_gives_the_dividend, lanes_swapped, minimum_is_maximum)


class Wrong(Interpreted):
    """Replaces every expression by what the fault makes of it."""

    name = "wrong"

    def __init__(self, fault: Callable[[Expr], Expr]) -> None:
        super().__init__()
        self._fault = fault

    def fault(self, expr: Expr) -> Expr:
        return self._fault(expr)


class WrongPopcount(Wrong):
    """One that the command line can name."""

    def __init__(self) -> None:
        super().__init__(off_by_one_popcount)
