"""The float operations of a payload, on operands of every kind.

    bands()                               binds what the operands are made of
    values(family, literal, chain)        words, each the result of one operation or two
    chain(length), CHAINED                a float through `length` operations, and its bits

Of which kind an operand is depends on the class of the invocation: subnormal, the least normal numbers,
about 1, the largest numbers, NaN, zeros, infinities, ones; and the second operand is another, the same, or
the negative of the first. The first two dozen classes meet all of them, and no dispatch has fewer
invocations: a backend that treats one kind wrongly in some shape shows it in every row that has the shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.shapes.families import FAMILIES, LITERALS
from vyre.ir.expr import BinOp, Cast, Convert, Expr, FMulAdd, Literal, LitU32, Select, UnOp, Var
from vyre.ir.node import Assign, Let
from vyre.ir.operators import FUNCTION_BINARY_OPS, FUNCTION_UNARY_OPS, BinaryOp, RoundMode, UnaryOp
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from vyre.ir.node import Node

T = DataType
B, U = BinaryOp, UnaryOp
S, C = Var("s"), Var("c")
DIGITS, EXPONENT, THIRD, FACTOR, SIGN = Var("fd"), Var("fe"), Var("ft"), Var("ff"), Var("fs")
_SCATTER = 0x2545_F491
_SIGN_AND_DIGITS = 0x807F_FFFF
_PLAIN = 0x3F00_0000


def bands() -> list[Node]:
    """For a class: which bits of a word count, the exponent, the exponent of a third operand, and by what a
    second one comes from the first."""
    kind, turn = C & 7, C >> 3
    largest = (kind + 251) << 23
    exponent = Select(kind < 2, kind << 23, Select(kind.eq(2), LitU32(0x3F80_0000), largest))
    infinity, one = LitU32(0x7F80_0000), LitU32(0x3F80_0000)
    bare = Select(kind.eq(5), LitU32(0), Select(kind.eq(6), infinity, one))
    signed = bare | Select(turn & 3, LitU32(0x8000_0000), LitU32(0))
    return [
        Let("fd", Select(kind < 5, LitU32(_SIGN_AND_DIGITS), LitU32(0))),
        Let("fe", Select(kind < 5, exponent, signed)),
        Let("ft", Select(kind < 5, LitU32(_PLAIN), Select(kind.eq(5), infinity, LitU32(0)))),
        Let("ff", Select((turn % 3).eq(0), LitU32(_SCATTER), LitU32(1))),
        Let("fs", (turn & 1 ^ 1) << 31),
    ]


def _of(word: Expr, exponent: Expr) -> Expr:
    return Cast(T.F32, (word & DIGITS) | exponent)


def _float(word: Expr, exponent: int = 0x3F00_0000, mask: int = 0x01FF_FFFF) -> Expr:
    """An F32 of many values without specials: from 0.5 to 8 by default."""
    return Cast(T.F32, (word & mask) + exponent)


def _bits(value: Expr) -> Expr:
    return Cast(T.U32, value)


def _second(exponent: Expr) -> Expr:
    return Cast(T.F32, ((S * FACTOR) & DIGITS | exponent) ^ SIGN)


_OTHER = S * _SCATTER + C
X, Y = _float(S), _float(_OTHER)
P, Q, R = _of(S, EXPONENT), _second(EXPONENT), _of(_OTHER, THIRD)
"""Two of one magnitude, and one that brings products and quotients of the first to the same end."""


def values(family: str, literal: int, chain: int) -> Iterator[Expr]:
    """`chain` is 0 where nothing may round."""
    if chain:
        yield from _every_kind()
    if chain > 1:
        yield from _pairs()
    if family in MAKERS:
        yield from MAKERS[family](literal)


def _every_kind() -> Iterator[Expr]:
    for op, second in ((B.FAdd, Q), (B.FSub, Q), (B.FMul, R), (B.FDiv, R), (B.FMin, Q)):
        yield _bits(BinOp(op, P, second))
    yield _bits(FMulAdd(P, R, Q))
    yield _bits(UnOp(U.FSqrt, UnOp(U.FAbs, P)))
    yield BinOp(B.FLt, P, Q)


def _pairs() -> Iterator[Expr]:
    """Two operations in one expression: what is joined, split or done in another order rounds differently."""
    third = Literal(T.F32, 0x3EAA_AAAB)
    yield _bits(BinOp(B.FMul, BinOp(B.FMul, X, third), Y))
    yield _bits(BinOp(B.FAdd, BinOp(B.FAdd, X, third), Y))
    yield _bits(BinOp(B.FSub, BinOp(B.FMul, X, Y), third))
    yield _bits(BinOp(B.FSub, BinOp(B.FAdd, X, Y), Y))


def _arithmetic(literal: int) -> Iterator[Expr]:
    given = Literal(T.F32, literal)
    for op in (B.FAdd, B.FSub, B.FMul, B.FDiv):
        yield _bits(BinOp(op, X, Y))
        yield _bits(BinOp(op, X, given))
    yield _bits(BinOp(B.FSub, given, P))
    yield _bits(BinOp(B.FDiv, given, P))
    yield _bits(BinOp(B.FMul, given, P))
    yield _bits(BinOp(B.FAdd, given, P))
    yield _bits(FMulAdd(X, Y, _float(S >> 5)))
    yield _bits(UnOp(U.FSqrt, X))
    yield _bits(UnOp(U.FNeg, P))
    yield _bits(UnOp(U.FAbs, P))


def _order(literal: int) -> Iterator[Expr]:
    """Each operation on operands of every kind, and comparisons with the literal too."""
    given, wide = Literal(T.F32, literal), _float(S, 0x4100_0000, 0x82FF_FFFF)
    first = list(LITERALS.values()).index(literal)
    for position, op in enumerate(sorted(FAMILIES["F32 order"], key=lambda op: op.value), first):
        if isinstance(op, BinaryOp):
            yield _as_word(op, BinOp(op, P, Q))
            if position % 2:
                yield _as_word(op, BinOp(op, P, given))
        else:
            yield _as_word(op, UnOp(op, P))
            if not op.row.truth:
                yield _as_word(op, UnOp(op, wide))


def _as_word(op: BinaryOp | UnaryOp, value: Expr) -> Expr:
    return value if op.row.truth else _bits(value)


def _converts(literal: int) -> Iterator[Expr]:
    yield _bits(Convert(T.F32, RoundMode.Nearest, S))
    yield _bits(Convert(T.F32, RoundMode.Nearest, Cast(T.I32, S)))
    wide = _float(S, 0x4A00_0000, 0x82FF_FFFF)
    for mode in RoundMode:
        yield Convert(T.U32, mode, wide)
        yield Cast(T.U32, Convert(T.I32, mode, wide))
        yield Cast(T.U32, Convert(T.I32, mode, P))
        yield Convert(T.U32, mode, Literal(T.F32, literal))


_LEAST: Mapping[DataType, int] = {T.F16: 0x3780_0000, T.BF16: 0, T.F64: 0x3F00_0000}
"""The exponent of an F32 that is subnormal in a format; F64 has no such one."""


def _other_floats(kind: DataType) -> Iterator[Expr]:
    small = Select(C & 1, LitU32(_LEAST[kind]), LitU32(_PLAIN))
    a, b = Cast(kind, _of(S, small)), Cast(kind, _second(small))
    scale = Cast(kind, Y)

    def back(value: Expr) -> Expr:
        return _bits(Cast(T.F32, value))

    for op in (B.FAdd, B.FSub, B.FMin, B.FMax):
        yield back(BinOp(op, a, b))
    for op in (B.FMul, B.FDiv):
        yield back(BinOp(op, a, scale))
    yield BinOp(B.FLt, a, b)
    yield back(FMulAdd(a, scale, b))
    yield back(UnOp(U.FSqrt, scale))
    if kind is T.F64:
        yield from (back(x) for x in _least_doubles(a, b))
    else:
        yield back(BinOp(B.FAdd, Cast(kind, P), Cast(kind, Q)))


def _least_doubles(a: Expr, b: Expr) -> Iterator[Expr]:
    """Sums and products of subnormal doubles, brought back to where an F32 can hold them."""
    down, up = Literal(T.F64, 0x0008_0000_0000_0000), Literal(T.F64, 0x7FD0_0000_0000_0000)
    least = BinOp(B.FMul, a, down)
    yield BinOp(B.FMul, BinOp(B.FAdd, least, BinOp(B.FMul, b, down)), up)


def _functions(literal: int) -> Iterator[Expr]:
    """Three functions, which three depends on the literal: all of them in one take long to compile."""
    ops = sorted((*FUNCTION_UNARY_OPS, *FUNCTION_BINARY_OPS), key=lambda op: op.value)
    first = 3 * list(LITERALS.values()).index(literal)
    for turn in range(3):
        op = ops[(first + turn) % len(ops)]
        plain = X if isinstance(op, BinaryOp) else _float(S, 0x3E80_0000)
        operand = Select(C % 5 < 3, plain, Cast(T.F32, S & _SIGN_AND_DIGITS | C % 3 * 0x7F80_0000))
        yield _bits(BinOp(op, operand, Y) if isinstance(op, BinaryOp) else UnOp(op, operand))


MAKERS: Mapping[str, Callable[[int], Iterator[Expr]]] = {
    "convert": _converts,
    "F32 arithmetic": _arithmetic,
    "F32 order": _order,
    "F16": lambda _: _other_floats(T.F16),
    "BF16": lambda _: _other_floats(T.BF16),
    "F64": lambda _: _other_floats(T.F64),
    "functions": _functions,
}
"""What each family adds."""

_PLUS, _MINUS, _LITTLE = 0x0155_5555, 0x01E9_0A3D, 0x004C_CCCD
_TIMES, _BACK = 0x3F4C_CCCD, 0x3F9E_B852
_GROUPS: tuple[tuple[tuple[BinaryOp | None, int], ...], ...] = (
    ((B.FMul, _TIMES), (B.FAdd, _PLUS)),
    ((B.FSub, _MINUS),),
    ((B.FAdd, _LITTLE), (B.FAdd, _PLUS)),
    ((None, _LITTLE),),
    tuple((B.FAdd, bits) for bits in (_PLUS, _LITTLE ^ 0x8000_0001, _MINUS ^ 0x8000_0000, _LITTLE) * 2),
    tuple((B.FMul, bits) for bits in (_TIMES, _BACK) * 4),
)
"""Operations of a chain and their second operands, those of one expression together, because optimisers join
and reorder what they see at once; None is an FMulAdd. All is near the least numbers: sums round where they
are large enough, and differences are subnormal."""

CHAINED = _bits(Var("f"))


def chain(length: int) -> list[Node]:
    """A float through `length` operations, of which only the last is seen."""
    found: list[Node] = [Let("f", Cast(T.F32, (S & _SIGN_AND_DIGITS) + ((C & 7) << 23)))]
    left = length
    while left:
        for group in _GROUPS:
            value: Expr = Var("f")
            for op, bits in group[:left]:
                operand = Literal(T.F32, bits)
                value = (
                    FMulAdd(value, Literal(T.F32, _BACK), operand)
                    if op is None
                    else BinOp(op, value, operand)
                )
            if left:
                found.append(Assign("f", value))
            left -= min(left, len(group))
    return found
