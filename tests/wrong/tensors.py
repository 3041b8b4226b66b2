"""Backends that are wrong as accelerators are: fewer bits, other orders, lost masks, stale lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.wrong.base import Right, Spoiled
from vyre.ir.expr import BinOp, Cast, Expr, FMulAdd, Literal, LitU32, Load, Var
from vyre.ir.node import Assign, If, Let, Loop, Node
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import transform, with_parts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.program import Program

F32, U32 = DataType.F32, DataType.U32


def _accumulates(node: Node) -> bool:
    """Whether a statement adds a product to a variable."""
    return isinstance(node, Assign) and isinstance(node.value, FMulAdd)


def _contains(nodes: tuple[Node, ...], wanted: Any) -> bool:
    return any(wanted(n) or any(_contains(body, wanted) for body in n.bodies) for n in nodes)


def _renamed(node: Node, old: str, new: Expr) -> Node:
    """A statement with another expression for a variable, in what it reads."""

    def replace(expr: Expr) -> Expr:
        return new if expr is Var(old) else expr

    bodies = tuple(tuple(_renamed(n, old, new) for n in body) for body in node.bodies)
    return with_parts(node, tuple(transform(x, replace) for x in node.exprs), bodies)


class Tf32(Right):
    """Products of operands with ten bits of fraction."""

    name = "tf32"

    def changed(self, program: Program) -> Program:
        floats = [b.element for b in program.buffers if b.element.is_float]
        return super().changed(program) if set(floats) == {F32} else program

    def fault(self, expr: Expr) -> Expr:
        if not isinstance(expr, FMulAdd):
            return expr
        return FMulAdd(self._cut(expr.a), self._cut(expr.b), expr.c)

    def _cut(self, x: Expr) -> Expr:
        return Cast(F32, Cast(U32, x) & LitU32(0xFFFF_E000))


class Looping(Right):
    """Changes the loops in which products are added."""

    def body(self, body: tuple[Node, ...]) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in body:
            inner = with_parts(node, node.exprs, tuple(map(self.body, node.bodies)))
            loops = isinstance(inner, Loop) and _contains(inner.body, _accumulates)
            found += self.loop(inner) if loops and isinstance(inner, Loop) else [inner]
        return tuple(found)

    def loop(self, node: Loop) -> list[Node]:
        return [node]


class OtherOrder(Looping):
    """k descends."""

    name = "other-order"

    def loop(self, node: Loop) -> list[Node]:
        last = node.start + node.stop - LitU32(1) - Var(node.var)
        return [Loop(node.var, node.start, node.stop, [_renamed(n, node.var, last) for n in node.body])]


class SplitK(Looping):
    """Two halves of k, summed apart and then together."""

    name = "split-k"

    def loop(self, node: Loop) -> list[Node]:
        sums = [n.name for n in node.body if isinstance(n, Assign) and isinstance(n.value, FMulAdd)]
        if not sums:
            return [node]
        total, other = sums[0], f"{sums[0]}_other"
        half = node.start + (node.stop - node.start) // LitU32(2)
        second = [_renamed(n, total, Var(other)) for n in node.body]
        second = [Assign(other, n.value) if isinstance(n, Assign) and n.name == total else n for n in second]
        return [
            Let(other, Literal(F32, 0)),
            Loop(node.var, node.start, half, node.body),
            Loop(node.var, half, node.stop, second),
            Assign(total, BinOp(BinaryOp.FAdd, Var(total), Var(other))),
        ]


class SeesTheNextRow(Looping):
    """One step of k too many, which is the first element of the next row."""

    name = "sees-the-next-row"

    def loop(self, node: Loop) -> list[Node]:
        return [Loop(node.var, node.start, node.stop + LitU32(1), node.body)]


class DropsTheMask(Right):
    """Steps that a mask leaves out are taken."""

    name = "drops-the-mask"

    def body(self, body: tuple[Node, ...]) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in super().body(body):
            masked = isinstance(node, If) and any(map(_accumulates, node.then))
            found += node.then if masked and isinstance(node, If) else [node]
        return tuple(found)


class Reciprocal(Right):
    """Softmax rescaled: times the reciprocal of the sum instead of divided by it."""

    name = "reciprocal"

    def fault(self, expr: Expr) -> Expr:
        if not isinstance(expr, BinOp) or expr.op is not BinaryOp.FDiv:
            return expr
        return BinOp(BinaryOp.FMul, expr.left, BinOp(BinaryOp.FDiv, Literal(F32, 0x3F80_0000), expr.right))


class LosesTheLargest(Right):
    """FP8 that does not saturate: what is too large becomes NaN."""

    name = "loses-the-largest"

    def fault(self, expr: Expr) -> Expr:
        if isinstance(expr, BinOp) and expr.op is BinaryOp.BitOr and expr.left == LitU32(0x7E):
            return LitU32(0x7F)
        return expr


class WrongStride(Right):
    """Strides of more than one element are one too long."""

    name = "wrong-stride"

    def body(self, body: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(self._longer(n) if isinstance(n, Let) else n for n in super().body(body))

    def _longer(self, node: Let) -> Node:
        def longer(x: Expr) -> Expr:
            strided = isinstance(x, BinOp) and x.op is BinaryOp.Mul and isinstance(x.right, LitU32)
            if strided and isinstance(x, BinOp) and isinstance(x.right, LitU32) and x.right.value > 1:
                return x.left * LitU32(x.right.value + 1)
            return x

        return Let(node.name, transform(node.value, longer)) if not isinstance(node.value, Load) else node


class StaleLength(Right):
    """The sizes of the first run of a program serve all later ones."""

    name = "stale-length"

    def compile(self, program: Program) -> Any:
        return _Stale(self, program, self.inner.compile(program))


class _Stale(Spoiled):
    first: bytes | None = None

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        given = dict(buffers)
        if "params" in given:
            if self.first is None:
                self.first = bytes(given["params"])
            given["params"] = memoryview(bytearray(self.first))
        self.compiled.run(given, workgroups)
