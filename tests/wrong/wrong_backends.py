"""Backends with one fault each: the reference interpreter on a program with an operation changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants import Mutated, rewrite
from vyre.backends.reference.backend import ReferenceBackend
from vyre.ir.expr import Atomic, BinOp, Expr, Lane, UnOp
from vyre.ir.operators import AtomicOp, BinaryOp, UnaryOp

if TYPE_CHECKING:
    from collections.abc import Callable


class Wrong(Mutated):
    """Replaces every expression by what `fault` makes of it."""

    def __init__(self, fault: Callable[[Expr], Expr]) -> None:
        super().__init__(ReferenceBackend(), change=lambda p: rewrite(p, expr=fault), name="wrong")


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
