"""Expressions over one float format, for lowerings that get it wrong: bits, widths, neighbours, words.

F = Format(DataType.F16)
F.value(F.bits(x) + 1)          the next value away from zero
F.words("tiny", -1.5, "nan")    witness operands: names of special values, and numbers
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.oracle.floats.layout import LAYOUTS, nearest
from vyre.ir.expr import BinOp, Cast, Expr, Literal, LitU32, Select, UnOp
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat

_U32, _F32, _F64 = DataType.U32, DataType.F32, DataType.F64
Word = str | float


def binary(op: str, a: Expr, b: Expr) -> Expr:
    return BinOp(BinaryOp(op), a, b)


def unary(op: str, a: Expr) -> Expr:
    return UnOp(UnaryOp(op), a)


def negated(test: Expr) -> Expr:
    return UnOp(UnaryOp.LogicalNot, test)


@dataclass(frozen=True, slots=True)
class Format:
    """One of F32, F16 and BF16."""

    type: DataType

    @property
    def layout(self) -> FloatFormat:
        return LAYOUTS[self.type.value]

    @property
    def wide(self) -> DataType:
        """The next wider type, in which sums and products lose little or nothing."""
        return _F64 if self.type is _F32 else _F32

    def bits(self, x: Expr) -> Expr:
        return Cast(_U32, x)

    def value(self, bits: Expr) -> Expr:
        return Cast(self.type, bits)

    def literal(self, word: Word) -> Expr:
        return Literal(self.type, self.word(word))

    def widened(self, x: Expr) -> Expr:
        return Cast(self.wide, x)

    def narrowed(self, x: Expr) -> Expr:
        return Cast(self.type, x)

    def doubled(self, x: Expr) -> Expr:
        """As F64, by way of F32 where there is no other."""
        return Cast(_F64, x if self.type is _F32 else Cast(_F32, x))

    def is_nan(self, x: Expr) -> Expr:
        return (self.bits(x) & self.layout.magnitude) > self.layout.infinity

    def is_zero(self, x: Expr) -> Expr:
        return (self.bits(x) & self.layout.magnitude).eq(0)

    def chosen(self, test: Expr, bits: Expr | int, other: Expr) -> Expr:
        """The value of `bits` where the test holds, else `other`."""
        given = LitU32(bits) if isinstance(bits, int) else bits
        return self.value(Select(test, given, self.bits(other)))

    def flushed(self, x: Expr) -> Expr:
        """Zero of the same sign for what is subnormal."""
        small = (self.bits(x) & self.layout.infinity).eq(0)
        return self.chosen(small, self.bits(x) & self.layout.sign, x)

    def moved(self, x: Expr, step: int) -> Expr:
        """So many places further from zero."""
        return self.value(self.bits(x) + step % (1 << 32))

    def word(self, word: Word) -> int:
        """The bits of a number, or of a special value by name; a minus turns its sign."""
        if not isinstance(word, str):
            return int(nearest(self.layout, np.array([word]))[0])
        if word.startswith("-"):
            return self.word(word[1:]) ^ self.layout.sign
        of = self.layout
        unit = 1 << of.fraction_bits
        named = {
            "zero": 0,
            "tiny": 1,
            "least": unit,
            "one": of.one,
            "above one": of.one + 1,
            "below half": of.one - unit - 1,
            "huge": of.infinity - 1,
            "inf": of.infinity,
            "signalling": of.infinity + 1,
            "nan": of.nan,
            "payload": of.nan + 5,
        }
        return named[word]

    def words(self, *words: Word) -> tuple[int, ...]:
        return tuple(self.word(w) for w in words)


_SLOW = frozenset(
    {"FCos", "FTan", "FASin", "FACos", "FATan", "FLog2", "FLog10", "FExp2", "FExp10", "FATan2", "FPow"}
)
"""Functions that take seconds to compile: they are mutated in F32 alone, the others in every format."""


def mutable(op: str, f: Format) -> bool:
    return f.type is _F32 or op not in _SLOW


FORMATS = tuple(Format(t) for t in (DataType.F32, DataType.F16, DataType.BF16))
F32 = FORMATS[0]
