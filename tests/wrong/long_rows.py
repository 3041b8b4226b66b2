"""Backends that are right for the small and wrong for the long: other kernels, other sums, other neutrals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.wrong.base import Right
from tests.wrong.tensors import F32, SplitK, Tf32
from vyre.ir.expr import BinOp, Cast, Expr, FMulAdd, Literal, LitU32, Select
from vyre.ir.node import If, Let, Loop
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import expressions, statements

if TYPE_CHECKING:
    from vyre.ir.node import Node
    from vyre.ir.program import Program

MANY = 128
"""Steps of k from which on a library takes another algorithm."""


def multiplies_long(program: Program) -> bool:
    """Whether products are added in a program whose loops may take many turns."""
    stops = [n.stop for _, n in statements(program.entry) if isinstance(n, Loop)]
    turns = max((stop.value for stop in stops if isinstance(stop, LitU32)), default=0)
    return turns >= MANY and any(isinstance(x, FMulAdd) for x in expressions(program.entry))


class Tf32FromLongK(Tf32):
    name = "tf32-from-long-k"

    def changed(self, program: Program) -> Program:
        return super().changed(program) if multiplies_long(program) else program


class SplitLongK(SplitK):
    name = "split-long-k"

    def changed(self, program: Program) -> Program:
        return super().changed(program) if multiplies_long(program) else program


class HalfSums(Right):
    """Long products of 16-bit floats are added in their own type."""

    name = "half-sums"

    def changed(self, program: Program) -> Program:
        kinds = {b.element for b in program.buffers}
        if len(kinds) > 1 or not kinds < {DataType.F16, DataType.BF16} or not multiplies_long(program):
            return program
        self._kind = kinds.pop()
        return super().changed(program)

    def fault(self, expr: Expr) -> Expr:
        return Cast(F32, Cast(self._kind, expr)) if isinstance(expr, FMulAdd) else expr


class PadsWithZero(Right):
    """A tree of sums is filled up with +0, which is not the neutral element: -0 is."""

    name = "pads-with-zero"

    def fault(self, expr: Expr) -> Expr:
        if isinstance(expr, Select) and expr.if_false == Literal(F32, 0x8000_0000):
            return Select(expr.condition, expr.if_true, Literal(F32, 0))
        return expr


class NothingIsZero(Right):
    """The greatest and the least of nothing are 0."""

    name = "nothing-is-zero"

    def body(self, body: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(
            Let(n.name, Literal(F32, 0)) if isinstance(n, Let) and n.value in _ENDS else n
            for n in super().body(body)
        )


_ENDS = (Literal(F32, 0x7F80_0000), Literal(F32, 0xFF80_0000))


class DropsWhatWasBefore(Right):
    """Each block of a prefix sum starts from nothing."""

    name = "drops-what-was-before"

    def body(self, body: tuple[Node, ...]) -> tuple[Node, ...]:
        if not any(isinstance(n, Let) and n.name.startswith("first") for n in body):
            return super().body(body)
        return tuple(n for n in body if not isinstance(n, If))


class LosesTheRest(Right):
    """What is left of a row behind its whole parts is read from its beginning."""

    name = "loses-the-rest"

    def fault(self, expr: Expr) -> Expr:
        behind = isinstance(expr, BinOp) and expr.op is BinaryOp.Add and expr.right == LitU32(65_536)
        return expr.left if behind and isinstance(expr, BinOp) else expr
