"""The payload of a case: operations of every family on a word, and what the reference says of them.

    body(spec)                    statements that replace the word `s`, given the number `c` of its class
    anchored(spec, words)         the words afterwards, one class each, by the reference interpreter

The word takes in every result by `s * odd + result`, so that a result that differs changes it for good. The
invocations of a large case share a few classes, so the reference is asked about those alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.shapes.families import FAMILIES, LITERALS
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import (
    BinOp,
    Cast,
    Convert,
    Expr,
    FMulAdd,
    InvocationId,
    Literal,
    LitI32,
    LitU32,
    Select,
    UnOp,
    Var,
    lift,
)
from vyre.ir.expr import MakeVec as Make
from vyre.ir.node import Assign, Let, Store
from vyre.ir.operators import (
    FUNCTION_BINARY_OPS,
    FUNCTION_UNARY_OPS,
    INTEGER_BINARY_OPS,
    INTEGER_COMPARE_OPS,
    INTEGER_UNARY_OPS,
    BinaryOp,
    RoundMode,
    UnaryOp,
)
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.reference import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from vyre.ir.node import Node

    Words = NDArray[np.uint32]

T = DataType
S, C = Var("s"), Var("c")
ODD = 0x9E37_79B1
CLASSES = 61
FUNCTION_CLASSES = 5
"""Of functions, which take the reference longer."""

_CHAIN = (
    (BinaryOp.FMul, 0x3F4C_CCCD),
    (BinaryOp.FAdd, 0x3EAA_AAAB),
    (BinaryOp.FSub, 0x3E99_999A),
    (BinaryOp.FAdd, 0x3DCC_CCCD),
    (BinaryOp.FAdd, 0x3EAA_AAAB),
    None,
)
"""Operations of a float chain and their second operands; None is an FMulAdd. The first two of them are one
expression and so are the fourth and fifth, because optimisers fuse products and reassociate sums that they
see at once."""


@dataclass(frozen=True, slots=True)
class Payload:
    """Which family, which literal, and how long the chain of float operations is."""

    family: str
    literal: str
    chain: int

    @property
    def classes(self) -> int:
        return FUNCTION_CLASSES if self.family == "functions" else CLASSES


def mixed(value: Expr) -> Node:
    """`s` with a word taken in."""
    return Assign("s", S * ODD + value)


def body(spec: Payload) -> list[Node]:
    literal = LITERALS[spec.literal]
    found = [mixed(value) for value in _integers(literal)]
    makers = {
        "lanes": _lanes,
        "convert": _converts,
        "F32 arithmetic": _arithmetic,
        "F32 order": _order,
        "functions": _functions,
    }
    if spec.family in makers:
        found += [mixed(value) for value in makers[spec.family](literal)]
    elif spec.family in ("F16", "BF16", "F64"):
        found += [mixed(value) for value in _other_floats(T(spec.family))]
    if spec.chain:
        found += _chain(spec.chain)
    return found


def _integers(literal: int) -> Iterator[Expr]:
    """Every integer operation, once on two words and once on a word and the literal."""
    for position, op in enumerate(INTEGER_BINARY_OPS):
        left, right = S, C * (2 * position + 3) + (S >> 7)
        if op in INTEGER_COMPARE_OPS:
            left, right = S & 0xC000_0001, C * 0x4000_0001 & 0xC000_0001
        yield BinOp(op, left, right)
        yield BinOp(op, S, LitU32(literal)) if position % 2 else BinOp(op, LitU32(literal), S)
    for op in INTEGER_UNARY_OPS:
        yield UnOp(op, S >> 1 if op is UnaryOp.Clz else S & 3 if op is UnaryOp.LogicalNot else S)
    signed = Cast(T.I32, S) + LitI32(_signed(literal))
    yield Select(S & 4, Cast(T.U32, signed), S >> 3)
    yield Cast(T.U32, Select(Cast(T.Bool, S & 1), lift(True), Cast(T.Bool, C & 2)))


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


def _float(word: Expr, exponent: int = 0x3F00_0000, mask: int = 0x01FF_FFFF) -> Expr:
    """An F32 of many values without specials: from 0.5 to 8 by default."""
    return Cast(T.F32, (word & mask) + exponent)


def _bits(value: Expr) -> Expr:
    return Cast(T.U32, value)


X, Y = _float(S), _float(S * 0x2545_F491 + C)


def _arithmetic(literal: int) -> Iterator[Expr]:
    given = Literal(T.F32, literal)
    for op in (BinaryOp.FAdd, BinaryOp.FSub, BinaryOp.FMul, BinaryOp.FDiv):
        yield _bits(BinOp(op, X, Y))
        yield _bits(BinOp(op, X, given))
        yield _bits(BinOp(op, given, X))
    yield _bits(FMulAdd(X, Y, _float(S >> 5)))
    for op in (UnaryOp.FSqrt, UnaryOp.FNeg, UnaryOp.FAbs):
        yield _bits(UnOp(op, X))


def _order(literal: int) -> Iterator[Expr]:
    """Each operation once: on which of two kinds of operands depends on the literal."""
    given, wide = Literal(T.F32, literal), _float(S, 0x4100_0000, 0x82FF_FFFF)
    small = _float(S & 0x0080_0000), _float(C << 23, 0x3F00_0000, 0x0080_0000)
    first = list(LITERALS.values()).index(literal)
    for position, op in enumerate(sorted(FAMILIES["F32 order"], key=lambda op: op.value), first):
        if isinstance(op, BinaryOp):
            own = BinOp(op, *small) if op.row.truth else BinOp(op, X, Y)
            yield _as_word(op, BinOp(op, X, given) if position % 2 else own)
        else:
            special = Cast(T.F32, S | 0x7F80_0000)
            yield _as_word(op, UnOp(op, special if position % 2 else wide))


def _as_word(op: BinaryOp | UnaryOp, value: Expr) -> Expr:
    return value if op.row.truth else _bits(value)


def _converts(literal: int) -> Iterator[Expr]:
    yield _bits(Convert(T.F32, RoundMode.Nearest, S))
    yield _bits(Convert(T.F32, RoundMode.Nearest, Cast(T.I32, S)))
    wide = _float(S, 0x4A00_0000, 0x82FF_FFFF)
    for mode in RoundMode:
        yield Convert(T.U32, mode, wide)
        yield Cast(T.U32, Convert(T.I32, mode, wide))
        yield Convert(T.U32, mode, Literal(T.F32, literal))


def _lanes(literal: int) -> Iterator[Expr]:
    word = LitU32(literal)
    pair, four = Make(T.U64, (S, word)), Make(T.Vec4U32, (S, C, word, S >> 9))
    yield pair.lane(0)
    yield pair.lane(1)
    yield Cast(T.Vec2U32, pair).lane(0) ^ Cast(T.U64, S).lane(1)
    for lane in range(4):
        yield four.lane(lane)
    both = Select(S & 1, Make(T.U128, (S, C, S, word)), Cast(T.U128, pair))
    for lane in range(4):
        yield both.lane(lane)


def _other_floats(kind: DataType) -> Iterator[Expr]:
    a, b = Cast(kind, X), Cast(kind, Y)

    def back(value: Expr) -> Expr:
        return _bits(Cast(T.F32, value))

    for op in (BinaryOp.FAdd, BinaryOp.FSub, BinaryOp.FMul, BinaryOp.FDiv, BinaryOp.FMin, BinaryOp.FMax):
        yield back(BinOp(op, a, b))
    yield BinOp(BinaryOp.FLt, a, b)
    yield back(FMulAdd(a, b, a))
    yield back(UnOp(UnaryOp.FSqrt, b))


def _functions(literal: int) -> Iterator[Expr]:
    """Three functions, which three depends on the literal: all of them in one take long to compile."""
    ops = sorted((*FUNCTION_UNARY_OPS, *FUNCTION_BINARY_OPS), key=lambda op: op.value)
    first = 3 * list(LITERALS.values()).index(literal)
    for turn in range(3):
        op = ops[(first + turn) % len(ops)]
        yield _bits(BinOp(op, X, Y) if isinstance(op, BinaryOp) else UnOp(op, _float(S, 0x3E80_0000)))


def _chain(length: int) -> list[Node]:
    """A float through `length` operations, of which only the last is seen."""
    found: list[Node] = [Let("f", X)]
    value: Expr = Var("f")
    for turn in range(length):
        match _CHAIN[turn % len(_CHAIN)]:
            case op, bits:
                value = BinOp(op, value, Literal(T.F32, bits))
            case None:
                value = FMulAdd(value, Literal(T.F32, 0x3F7E_B852), Literal(T.F32, 0x3DCC_CCCD))
        if turn % 3 or turn == length - 1:
            found.append(Assign("f", value))
            value = Var("f")
    return [*found, mixed(_bits(Var("f")))]


def anchored(spec: Payload, words: Words) -> Words:
    """What the reference makes of these words, the k-th of which is of class k."""
    found = _reference(spec, words.tobytes())
    return np.frombuffer(found, np.uint32).copy()


@cache
def _reference(spec: Payload, words: bytes) -> bytes:
    given = BufferDecl.read("given", 0, T.U32)
    out = BufferDecl.read_write("out", 1, T.U32)
    count = len(words) // 4
    entry = (Let("c", InvocationId(0)), Let("s", given[C]), *body(spec), Store("out", C, S))
    program = Program((given, out), (1, 1, 1), entry)
    found = run(program, {"given": words, "out": bytes(len(words))}, (count, 1, 1), check=False)
    return found.buffers["out"]
