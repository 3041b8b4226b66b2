"""The few inputs whose double falls on the midpoint of two F32, or on its wrong side, with the step to take.

A result within half a last place of a double from a midpoint can become the midpoint itself, and ties go to
the even side. Of the 2^32 inputs of a function this happens to none, two or three; they were found by trying
all (`vyre certify BACKEND --exhaustive NAME`, which also shows that there are no others). Inputs of odd
functions are without their sign.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from vyre.ir.expr import BinOp, Expr
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.numeric.doubles.script import DoubleScript


class Ties(NamedTuple):
    """Inputs whose result is one step larger, and one step smaller, in size than the rounded double."""

    larger: tuple[int, ...] = ()
    smaller: tuple[int, ...] = ()


TIES = {
    "exp2": Ties(larger=(0x3B429D37, 0xBCF3A937)),
    "log": Ties(larger=(0x4C5D65A5, 0x65D890D3, 0x6F31A8EC)),
    "log10": Ties(larger=(0x0EFEEE7A,), smaller=(0x120B93DC, 0x13AE78D3)),
    "sin": Ties(smaller=(0x46199998,)),
    "acos": Ties(larger=(0x328885A3, 0x39826222)),
    "atan": Ties(larger=(0x3D8D6B23,)),
}


def untied(s: DoubleScript, name: str, argument: Expr, bits: Expr) -> Expr:
    """The bits of the result of a function, right for the inputs above as well."""
    ties = TIES.get(name, Ties())
    if ties.larger:
        bits = s("value", bits + _is_one_of(argument, ties.larger))
    if ties.smaller:
        bits = s("value", bits - _is_one_of(argument, ties.smaller))
    return bits


def _is_one_of(argument: Expr, inputs: tuple[int, ...]) -> Expr:
    return reduce(lambda a, b: BinOp(BinaryOp.Or, a, b), (argument.eq(x) for x in inputs))
