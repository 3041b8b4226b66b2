"""Operands on which an operation shows what it does.

Drawn blindly, two words are never equal, every word is true, most quotients are 0 and most roots are NaN: the
result is the same whatever the operands are, and a program of such operations computes nothing. Here each
operator gets operands for which its result depends on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from vyre.ir import (
    BinaryOp,
    BinOp,
    Cast,
    Convert,
    DataType,
    Expr,
    Literal,
    LitU32,
    RoundMode,
    Select,
    UnaryOp,
    UnOp,
)

if TYPE_CHECKING:
    from random import Random

    from vyre.conform.generate.scope import Scope

_T = DataType
_NESTED = frozenset({BinaryOp.Add, BinaryOp.Sub, BinaryOp.BitXor})
_NESTED_UNARY = frozenset({UnaryOp.Negate, UnaryOp.BitNot, UnaryOp.ReverseBits, UnaryOp.FNeg})
_EQUAL = frozenset({BinaryOp.Eq, BinaryOp.Ne})
_FLOAT_EQUAL = frozenset({BinaryOp.FEq, BinaryOp.FNe})
_TRUTH = frozenset({BinaryOp.And, BinaryOp.Or})
_DIVISION = frozenset({BinaryOp.Div, BinaryOp.Mod})
_SHIFT = frozenset({BinaryOp.Shl, BinaryOp.Shr})
_ARITHMETIC = frozenset({BinaryOp.FAdd, BinaryOp.FSub, BinaryOp.FMul, BinaryOp.FDiv})
_ROUGH = frozenset({_T.F16, _T.BF16})
_NEAR_ONE = {
    _T.F32: (0x807F_FFFF, 0x3F80_0000),
    _T.F16: (0x83FF, 0x3C00),
    _T.BF16: (0x807F, 0x3F80),
}
_EXACT = {_T.F16: 0x7FF, _T.BF16: 0xFF}
"""The integers that a short format holds, so that converting one keeps its bits."""
_SPECIAL = {
    _T.F32: (0x7FC0_0000, 0x7F80_0000),
    _T.F16: (0x7E00, 0x7C00),
    _T.BF16: (0x7FC0, 0x7F80),
    _T.F64: (0x7FF8 << 48, 0x7FF0 << 48),
}
"""NaN and infinity."""


class Source(Protocol):
    """The generator that draws the operands; `ExpressionGenerator` says what each is."""

    rng: Random

    def expr(self, scope: Scope, t: DataType, depth: int) -> Expr: ...
    def observed(self, scope: Scope, t: DataType, depth: int) -> Expr: ...
    def truth(self, scope: Scope, t: DataType, depth: int) -> Expr: ...
    def noted(self, scope: Scope, value: Expr, t: DataType) -> Expr: ...
    def word(self, scope: Scope, t: DataType) -> Expr: ...
    def bit(self, scope: Scope) -> Expr: ...
    def ordinary(self, t: DataType, *, scale: int = 0) -> Expr: ...
    def small(self, t: DataType, value: int) -> Expr: ...
    def one(self, t: DataType) -> Expr: ...
    def varies(self, expr: Expr) -> bool: ...


def near_one(word: Expr, t: DataType) -> Expr:
    """A float of either sign from 1 to 2, its fraction taken from a word."""
    if t is _T.F64:
        return Cast(t, near_one(word, _T.F32))
    mask, one = _NEAR_ONE[t]
    return Cast(t, BinOp(BinaryOp.BitOr, BinOp(BinaryOp.BitAnd, word, LitU32(mask)), LitU32(one)))


def binary(gen: Source, scope: Scope, op: BinaryOp, t: DataType, depth: int) -> Expr:
    """`op` on two operands of type `t`."""
    left, right = _pair(gen, scope, op, t, depth)
    if left is right:
        right = gen.word(scope, t) if op in _TRUTH else gen.ordinary(t)
    return BinOp(op, left, right)


def _pair(gen: Source, scope: Scope, op: BinaryOp, t: DataType, depth: int) -> tuple[Expr, Expr]:
    rng = gen.rng
    if op in _NESTED:
        return gen.expr(scope, t, depth), gen.expr(scope, t, depth)
    if op in _ARITHMETIC:
        return float_operand(gen, scope, t, depth), float_operand(gen, scope, t, depth)
    if op in _TRUTH:
        return gen.truth(scope, t, depth), gen.truth(scope, t, depth)
    left = gen.observed(scope, t, depth)
    if not gen.varies(left):
        left = _word(gen, scope, t)
    if op in _EQUAL:
        mask = rng.choice((1, 3))
        left = left if rng.randrange(2) else _word(gen, scope, t)
        return BinOp(BinaryOp.BitAnd, left, gen.small(t, mask)), gen.small(t, rng.randrange(mask + 1))
    if op in _FLOAT_EQUAL:
        right = gen.observed(scope, t, depth)
        return left, Select(gen.bit(scope), left, gen.ordinary(t) if left is right else right)
    if op in _DIVISION:
        return left, _divisor(gen, scope, depth)
    if op in _SHIFT and rng.randrange(2):
        return left, LitU32(rng.randrange(1, 32) + 32 * (rng.randrange(8) == 0))
    right = gen.observed(scope, t, depth)
    if gen.varies(right):
        return left, right
    return left, _word(gen, scope, t) if t.is_float and rng.randrange(2) else gen.ordinary(t)


def _word(gen: Source, scope: Scope, t: DataType) -> Expr:
    return gen.noted(scope, gen.word(scope, t), t)


def _divisor(gen: Source, scope: Scope, depth: int) -> Expr:
    match gen.rng.randrange(8):
        case 0 | 1:
            return LitU32(gen.rng.choice((2, 3, 7, 10, 16, 255, 641, 0x1_0001)))
        case 2:
            return gen.observed(scope, _T.U32, depth)
        case _:
            word = gen.observed(scope, _T.U32, depth)
            return BinOp(BinaryOp.BitAnd, word, LitU32(gen.rng.choice((15, 0xFF, 0xFFF))))


def float_operand(gen: Source, scope: Scope, t: DataType, depth: int) -> Expr:
    """An operand of a sum or product: watched where the format is so short that a sum swallows it."""
    return gen.observed(scope, t, depth) if t in _ROUGH else gen.expr(scope, t, depth)


def unary(gen: Source, scope: Scope, op: UnaryOp, t: DataType, depth: int) -> Expr:
    """`op` on an operand of type `t`."""
    if op in _NESTED_UNARY:
        return UnOp(op, gen.expr(scope, t, depth))
    if op is UnaryOp.LogicalNot:
        return UnOp(op, gen.truth(scope, t, depth))
    operand = gen.observed(scope, t, depth)
    if not gen.varies(operand):
        operand = _word(gen, scope, t)
    match op:
        case UnaryOp.FSqrt | UnaryOp.FLog | UnaryOp.FLog2 | UnaryOp.FLog10 if gen.rng.randrange(8):
            operand = UnOp(UnaryOp.FAbs, operand)
        case UnaryOp.FASin | UnaryOp.FACos if gen.rng.randrange(8):
            operand = BinOp(BinaryOp.FSub, UnOp(UnaryOp.FAbs, gen.word(scope, t)), gen.one(t))
        case UnaryOp.FIsNaN | UnaryOp.FIsInf:
            special = Literal(t, _SPECIAL[t][op is UnaryOp.FIsInf])
            operand = Select(gen.bit(scope), operand, special)
        case _:
            pass
    return UnOp(op, operand)


def cast(gen: Source, scope: Scope, target: DataType, source: DataType, depth: int) -> Expr:
    """A cast whose result depends on its operand."""
    if target is _T.Bool and source is not _T.Bool:
        bit = gen.bit(scope)
        return Cast(target, bit if source is _T.U32 else Cast(source, bit))
    if source is _T.U32 and target.is_float and gen.rng.randrange(8):
        return near_one(gen.observed(scope, source, depth), target)
    keeps = source is target or source.bits <= target.bits
    operand = gen.expr(scope, source, depth) if keeps else gen.observed(scope, source, depth)
    return Cast(target, operand)


def convert(
    gen: Source, scope: Scope, target: DataType, mode: RoundMode, source: DataType, depth: int
) -> Expr:
    """A conversion that neither saturates nor overflows for most operands."""
    operand = gen.observed(scope, source, depth)
    if target in _EXACT and gen.rng.randrange(8):
        operand = BinOp(BinaryOp.BitAnd, operand, gen.small(source, _EXACT[target]))
    elif source.is_float and gen.rng.randrange(4):
        operand = BinOp(BinaryOp.FMul, operand, gen.ordinary(source, scale=6))
        operand = UnOp(UnaryOp.FAbs, operand) if target is _T.U32 else operand
    return Convert(target, mode, operand)
