"""Faults of compilers in what is computed of integers: their corners, literals, choices, atomics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.shaped.fault import program_fault
from lab.mutants.shaped.rewrites import expressions
from vyre.ir.environment import Types
from vyre.ir.expr import (
    Atomic,
    BinOp,
    Expr,
    LitU32,
    LocalId,
    Select,
    UnOp,
)
from vyre.ir.operators import AtomicOp, BinaryOp, UnaryOp
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lab.mutants.backend import Change
    from lab.mutants.shaped.fault import Fault
    from vyre.ir.program import Program

    Binary = Callable[[BinOp], Expr]
    Unary = Callable[[UnOp], Expr]


def faults() -> Iterator[Fault]:
    yield from _integers()
    yield from _atomics()


def _binary(op: BinaryOp, rule: Binary) -> Change:
    return expressions(lambda x: rule(x) if isinstance(x, BinOp) and x.op is op else x)


def _unary(op: UnaryOp, rule: Unary) -> Change:
    return expressions(lambda x: rule(x) if isinstance(x, UnOp) and x.op is op else x)


def _zero(x: BinOp, otherwise: Expr) -> Expr:
    return Select(x.right.eq(0), otherwise, x)


def _signed(x: BinOp) -> Expr:
    top = LitU32(0x8000_0000)
    return BinOp(x.op, x.left ^ top, x.right ^ top)


def _integers() -> Iterator[Fault]:
    ones = LitU32(0xFFFF_FFFF)
    binary: tuple[tuple[str, BinaryOp, Binary], ...] = (
        ("division by 0 gives all ones", BinaryOp.Div, lambda x: _zero(x, ones)),
        ("remainder by 0 gives the dividend", BinaryOp.Mod, lambda x: _zero(x, x.left)),
        ("left shift past 31 gives 0", BinaryOp.Shl, lambda x: Select(x.right > 31, LitU32(0), x)),
        ("right shift past 31 gives 0", BinaryOp.Shr, lambda x: Select(x.right > 31, LitU32(0), x)),
        ("right shift keeps the sign", BinaryOp.Shr,
         lambda x: Select(x.left >= 0x8000_0000, x | ~(ones >> x.right), x)),
        ("below is signed", BinaryOp.Lt, _signed),
        ("at least is signed", BinaryOp.Ge, _signed),
        ("product of 24 bits", BinaryOp.Mul, lambda x: (x.left & 0xFF_FFFF) * (x.right & 0xFF_FFFF)),
        ("high product loses the carry", BinaryOp.MulHi, lambda x: (x.left >> 16) * (x.right >> 16)),
        ("sum saturates", BinaryOp.Add, lambda x: Select(x < x.left, ones, x)),
        ("difference saturates", BinaryOp.Sub, lambda x: Select(x.left < x.right, LitU32(0), x)),
    )  # fmt: skip
    for name, op, rule in binary:
        yield program_fault(name, _words(op, rule), f"operator = {op.value}")
    unary: tuple[tuple[str, UnaryOp, Unary], ...] = (
        ("leading zeros of 0 are 31", UnaryOp.Clz, lambda x: Select(x.operand.eq(0), LitU32(31), x)),
        ("trailing zeros of 0 are all ones", UnaryOp.Ctz, lambda x: Select(x.operand.eq(0), ones, x)),
        ("set bits of 16 counted", UnaryOp.Popcount, lambda x: UnOp(x.op, x.operand & 0xFFFF)),
        ("bits reversed by halves", UnaryOp.ReverseBits, lambda x: (x << 16) | (x >> 16)),
    )
    for name, kind, change in unary:
        yield program_fault(name, _unary(kind, change), f"operator = {kind.value}")
    yield program_fault(
        "choice by the lowest bit",
        _lowest_bit,
        "operator = Select",
    )
    yield program_fault(
        "literals of 31 bits",
        expressions(lambda x: LitU32(x.value & 0x7FFF_FFFF) if isinstance(x, LitU32) else x),
        "literal >= 2147483648",
    )
    yield program_fault(
        "literals of 24 bits",
        expressions(lambda x: LitU32(x.value & 0xFF_FFFF) if isinstance(x, LitU32) else x),
        "literal >= 16777216",
    )


def _lowest_bit(program: Program) -> Program:
    """For conditions that are words."""
    types = Types.of(program.entry, program.buffers)

    def rule(x: Expr) -> Expr:
        if not isinstance(x, Select) or types.type(x.condition) is not DataType.U32:
            return x
        return Select(x.condition & 1, x.if_true, x.if_false)

    return expressions(rule)(program)


def _words(op: BinaryOp, rule: Binary) -> Change:
    """For U32 alone: sums and products of I32 are left as they are."""

    def change(program: Program) -> Program:
        types = Types.of(program.entry, program.buffers)
        return _binary(op, lambda x: rule(x) if types.type(x.left) is DataType.U32 else x)(program)

    return change


def _atomics() -> Iterator[Fault]:
    def atomic(rule: Callable[[Atomic], Expr]) -> Change:
        return expressions(lambda x: rule(x) if isinstance(x, Atomic) else x)

    swaps: Mapping[AtomicOp, AtomicOp] = {
        AtomicOp.And: AtomicOp.Or,
        AtomicOp.Xor: AtomicOp.Or,
        AtomicOp.Max: AtomicOp.Add,
        AtomicOp.Exchange: AtomicOp.Or,
    }
    for op, other in swaps.items():
        yield program_fault(
            f"atomic {op.value} emitted as {other.value}",
            atomic(
                lambda x, op=op, other=other: Atomic(other, x.buffer, x.index, x.value) if x.op is op else x
            ),
            f"atomic = {op.value}",
        )
    yield program_fault(
        "compare-exchange always exchanges",
        atomic(
            lambda x: (
                Atomic(AtomicOp.Exchange, x.buffer, x.index, x.value)
                if x.op is AtomicOp.CompareExchange
                else x
            )
        ),
        "atomic = CompareExchange",
    )
    yield program_fault(
        "compare-exchange never exchanges",
        atomic(
            lambda x: (
                Atomic(AtomicOp.Or, x.buffer, x.index, LitU32(0)) if x.op is AtomicOp.CompareExchange else x
            )
        ),
        "atomic = CompareExchange",
    )
    yield program_fault(
        "atomic sum of 16 bits",
        atomic(lambda x: Atomic(x.op, x.buffer, x.index, x.value & 0xFFFF) if x.op is AtomicOp.Add else x),
        "atomic = Add",
    )
    yield program_fault(
        "atomics of upper lanes lost",
        atomic(
            lambda x: Atomic(
                x.op,
                x.buffer,
                Select((LocalId(0) & 63) >= 32, LitU32(0xFFFF_FFFF), x.index),
                x.value,
                x.expected,
            )
        ),
        "workgroup x >= 33",
    )
