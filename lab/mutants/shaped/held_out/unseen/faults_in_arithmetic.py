"""Faults of compilers in what is computed of words: literals, shifts, quotients, swaps, deep expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.rewrite import rewrite
from lab.mutants.shaped.fault import program_fault
from lab.mutants.shaped.rewrites import expressions, flipped
from vyre.ir.environment import Types
from vyre.ir.expr import (
    BinOp,
    Expr,
    FReduce,
    LitU32,
    Select,
    UnOp,
)
from vyre.ir.node import Loop, Node
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import transform, with_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lab.mutants.backend import Change
    from lab.mutants.shaped.fault import Fault
    from vyre.ir.program import Program

    Binary = Callable[[BinOp], Expr]

LARGEST = 2_000
"""Rules that repeat an operand leave larger expressions alone."""


def faults() -> Iterator[Fault]:
    yield from _literals()
    yield from _integers()
    yield from _swaps()
    yield from _deep()


def _literals() -> Iterator[Fault]:
    """A literal is taken for another one everywhere but in bounds, which would make loops endless."""

    def change(program: Program, old: int, new: int) -> Program:
        def rule(x: Expr) -> Expr:
            match x:
                case LitU32(value=value) if value == old:
                    return LitU32(new)
                case FReduce():
                    return FReduce(x.order, x.op, x.buffer, back(x.start), back(x.stop))
                case _:
                    return x

        def back(x: Expr) -> Expr:
            return LitU32(old) if isinstance(x, LitU32) and x.value == new else x

        def node(n: Node) -> list[Node]:
            if isinstance(n, Loop):
                return [n]
            return [with_parts(n, tuple(transform(x, rule) for x in n.exprs), n.bodies)]

        return rewrite(program, node=node)

    taken: Mapping[int, int] = {
        1: 3,
        2: 1,
        31: 32,
        32: 0,
        127: 128,
        128: 0xFFFF_FF80,
        255: 0xFFFF_FFFF,
        256: 0,
        32_768: 0xFFFF_8000,
        65_535: 0xFFFF_FFFF,
        65_536: 0,
        0x7FFF_FFFF: 0x8000_0000,
        0x8000_0000: 0,
        0xFFFF_FFFF: 0x7FFF_FFFF,
    }
    for old, new in taken.items():
        yield program_fault(
            f"literal {old} taken for {new}",
            lambda p, old=old, new=new: change(p, old, new),
            f"literal = {old}",
        )


def _words(op: BinaryOp, rule: Binary) -> Change:
    def change(program: Program) -> Program:
        types = Types.of(program.entry, program.buffers)

        def one(x: Expr) -> Expr:
            if not isinstance(x, BinOp) or x.op is not op or x.size > LARGEST or types.has_atomic(x):
                return x
            return rule(x) if types.type(x.left) is DataType.U32 else x

        return expressions(one)(program)

    return change


def _signed(x: BinOp) -> Expr:
    return BinOp(x.op, x.left ^ 0x8000_0000, x.right ^ 0x8000_0000)


def _integers() -> Iterator[Fault]:
    zero = LitU32(0)
    rules: tuple[tuple[str, BinaryOp, Binary], ...] = (
        ("left shift by 4 bits of the amount", BinaryOp.Shl, lambda x: x.left << (x.right & 15)),
        ("right shift by 4 bits of the amount", BinaryOp.Shr, lambda x: x.left >> (x.right & 15)),
        ("left shift by 0 gives 0", BinaryOp.Shl, lambda x: Select((x.right & 31).eq(0), zero, x)),
        ("right shift by 31 gives 0", BinaryOp.Shr, lambda x: Select((x.right & 31).eq(31), zero, x)),
        ("quotient of a large dividend one less", BinaryOp.Div,
         lambda x: Select(x.left >= 0x0100_0000, Select(x > 0, x - 1, x), x)),
        ("remainder 0 gives the divisor", BinaryOp.Mod, lambda x: Select(x.eq(0), x.right, x)),
        ("quotient rounded to nearest", BinaryOp.Div,
         lambda x: Select((x.left % x.right) > (x.right >> 1), x + 1, x)),
        ("product of 16 bits", BinaryOp.Mul, lambda x: (x.left & 0xFFFF) * (x.right & 0xFFFF)),
        ("high product one less", BinaryOp.MulHi, lambda x: Select(x > 0, x - 1, x)),
        ("sum without its top bit", BinaryOp.Add, lambda x: x & 0x7FFF_FFFF),
        ("difference of the other sign", BinaryOp.Sub, lambda x: x.right - x.left),
        ("equality with 0 false", BinaryOp.Eq, lambda x: x.and_(x.right.ne(0))),
        ("above is signed", BinaryOp.Gt, _signed),
        ("at most is signed", BinaryOp.Le, _signed),
    )  # fmt: skip
    for name, op, rule in rules:
        yield program_fault(name, _words(op, rule), f"operator = {op.value}")


_BINARY: Mapping[BinaryOp, BinaryOp] = {
    BinaryOp.Gt: BinaryOp.Ge,
    BinaryOp.Le: BinaryOp.Lt,
    BinaryOp.Eq: BinaryOp.Ge,
    BinaryOp.Ne: BinaryOp.Lt,
    BinaryOp.BitOr: BinaryOp.BitXor,
    BinaryOp.Shl: BinaryOp.Shr,
    BinaryOp.Mul: BinaryOp.MulHi,
    BinaryOp.FGt: BinaryOp.FGe,
    BinaryOp.FMax: BinaryOp.FMin,
}
_UNARY: Mapping[UnaryOp, UnaryOp] = {
    UnaryOp.Negate: UnaryOp.BitNot,
    UnaryOp.Ctz: UnaryOp.Clz,
    UnaryOp.FFloor: UnaryOp.FTrunc,
    UnaryOp.FCeil: UnaryOp.FRound,
    UnaryOp.FRound: UnaryOp.FFloor,
    UnaryOp.FSin: UnaryOp.FCos,
    UnaryOp.FExp: UnaryOp.FExp2,
}


def _swaps() -> Iterator[Fault]:
    for op, other in _BINARY.items():

        def binary(x: Expr, op: BinaryOp = op, other: BinaryOp = other) -> Expr:
            return BinOp(other, x.left, x.right) if isinstance(x, BinOp) and x.op is op else x

        words = not op.row.is_float
        change = _words(op, binary) if words else expressions(binary)
        yield program_fault(f"{op.value} done as {other.value}", change, f"operator = {op.value}")
    for op, other in _UNARY.items():

        def unary(x: Expr, op: UnaryOp = op, other: UnaryOp = other) -> Expr:
            return UnOp(other, x.operand) if isinstance(x, UnOp) and x.op is op else x

        yield program_fault(f"{op.value} done as {other.value}", expressions(unary), f"operator = {op.value}")


def _deep() -> Iterator[Fault]:
    """A value this far up its expression is wrong: the registers of an evaluation have run out."""

    def change(program: Program, depth: int) -> Program:
        types = Types.of(program.entry, program.buffers)

        def rule(x: Expr) -> Expr:
            return flipped(types.type(x), x) if isinstance(x, BinOp) and x.depth == depth else x

        return expressions(rule)(program)

    for depth in (6, 10, 16, 32, 64):
        yield program_fault(
            f"value {depth} up its expression wrong",
            lambda p, depth=depth: change(p, depth),
            f"expression depth >= {depth}",
        )
