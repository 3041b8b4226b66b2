"""What classes of hard cases are made with: random words, floats from their parts, inverses modulo 2^32."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.floats.cases import mixed, pick
from vyre.ir.expr import Expr, lift, mul_hi, select
from vyre.ir.float_formats import F32
from vyre.numeric.formula import Formula, clz

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.expr import Operand, Var

    Maker = Callable[["Source"], tuple[Expr, ...]]


class Source:
    """The number of a case, and as many independent random words as a class asks for."""

    def __init__(self, op_id: str) -> None:
        self.f = Formula(op_id, "number", "seed", doc="One operand of a hard case.")
        self.number, self._seed = self.f.params
        self._drawn = 0

    def word(self) -> Var:
        self._drawn += 1
        return mixed(self.f, self.number, self._seed, self._drawn, f"word_{self._drawn}")

    def step(self, name: str, value: Operand) -> Var:
        return self.f(name, value)

    def pick(self, name: str, index: Expr, *choices: Operand) -> Var:
        return pick(self.f, name, index, choices)

    def below(self, limit: int) -> Expr:
        """A number from 0 up to, but not, `limit`."""
        return mul_hi(self.word(), limit)

    def few(self, name: str, *, bits: int = 4) -> Var:
        """A small number of either sign."""
        return self.step(name, (self.word() & ((1 << bits) - 1)) - (1 << (bits - 1)))


def packed(sign: Expr, field: Operand, significand: Operand) -> Expr:
    field, significand = lift(field), lift(significand)
    return (sign & F32.sign) | (field & F32.exponent) << F32.fraction_bits | significand & F32.fraction


def significand(word: Expr) -> Expr:
    return word & F32.fraction | F32.hidden


def inverse(x: Source, odd: Expr) -> Expr:
    """The inverse of an odd number modulo 2^32: five bits at first, twice as many with each step."""
    value: Expr = x.step("inverse_0", odd * 3 ^ 2)
    for k in (1, 2, 3):
        value = x.step(f"inverse_{k}", value * (2 - odd * value))
    return value


def ending(x: Source, odd: Expr, end: Expr) -> Expr:
    """A significand whose product with an odd one ends in the lower 23 bits of `end`."""
    return x.step("ending", significand(end * inverse(x, odd)))


def shape(x: Source, word: Expr, name: str) -> Expr:
    """A fraction: random, all ones, all zeros, or of few bits at the top."""
    few = (word >> 3 & 31) << (F32.fraction_bits - 5)
    return x.pick(name, word & 7, F32.fraction, 0, few, F32.fraction - few, word >> 9)


def fields(x: Source, total: Expr, low: int, bits: int) -> tuple[Expr, Expr]:
    """Two exponent fields that add up to `total`; the first starts at `low`."""
    first = x.step("field_a", low + (x.word() & ((1 << bits) - 1)))
    return first, x.step("field_b", total - first)


def random_bits(arity: int) -> Callable[[Source], tuple[Expr, ...]]:
    return lambda x: tuple(x.word() for _ in range(arity))


def small_operands(arity: int) -> Callable[[Source], tuple[Expr, ...]]:
    """One operand subnormal, of any length, the others of any size."""

    def make(x: Source) -> tuple[Expr, ...]:
        word = x.word()
        tiny = x.step("tiny", word & F32.sign | (x.word() & F32.fraction) >> (word & 31))
        others = [x.step(f"other_{k}", x.word()) for k in range(arity - 1)]
        swap = x.step("swap", word >> 5 & 1)
        return select(swap, others[0], tiny), select(swap, tiny, others[0]), *others[1:]

    return make


def powers(x: Source, first: Expr, second: Expr) -> tuple[Expr, Expr]:
    """Two floats of these fields, the first at or above a power of two, the second below the next one."""
    signs = x.word()
    a = (signs & F32.sign) | (first << F32.fraction_bits) + (signs & 31)
    b = (signs << 1 & F32.sign) | ((second + 1) << F32.fraction_bits) - (signs >> 5 & 31)
    return x.step("near_a", a), x.step("near_b", b)


def tiny_midpoint(x: Source, down: Expr) -> Expr:
    """An odd integer of any length up to 24 bits, times 2^-down."""
    word = x.word()
    whole = x.step("whole", (x.word() | 1 << 31) >> (8 + x.below(24)) | 1)
    zeros = x.step("whole_zeros", clz(whole))
    return packed(word, 127 + 31 - down - zeros, whole << (zeros - 8))
