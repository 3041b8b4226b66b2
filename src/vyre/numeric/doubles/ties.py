"""The last rounding, from a double to F32, where the double falls on the midpoint of two F32.

A result within half a last place of a double from a midpoint can become the midpoint itself, and ties go to
the even side, which may be the wrong one. Of the 2^32 inputs of a function this happens to none, two or
three. They, and all others whose double is a midpoint, were found by trying all
(`vyre certify BACKEND --exhaustive NAME` shows that no result is wrong).

Upwards, a sticky last bit of the double settles it: it moves a midpoint above itself and no other double
across one. It is set for all inputs, or for those with a bit in common with a mask, where the function has
midpoints that belong below. Downwards, the inputs are compared one by one.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from vyre.ir.expr import BinOp, Expr
from vyre.ir.operators import BinaryOp
from vyre.numeric.doubles.script import high_word, joined, low_word, rounded

if TYPE_CHECKING:
    from vyre.numeric.doubles.script import DoubleScript


class Ties(NamedTuple):
    """Inputs whose result is one step larger, and one step smaller, in size than the rounded double.

    The mask is one of bits of the argument; 0 means all arguments. Inputs of odd functions are without sign.
    """

    larger: tuple[int, ...] = ()
    smaller: tuple[int, ...] = ()
    mask: int = 0


TIES = {
    "exp2": Ties(larger=(0x3B429D37, 0xBCF3A937), mask=0x1),
    "log": Ties(larger=(0x4C5D65A5, 0x65D890D3, 0x6F31A8EC)),
    "log10": Ties(larger=(0x0EFEEE7A,), smaller=(0x120B93DC, 0x13AE78D3), mask=0x2),
    "sin": Ties(smaller=(0x46199998,)),
    "acos": Ties(larger=(0x328885A3, 0x39826222)),
    "sinh": Ties(smaller=(0x3A1285FF,)),
    "log1p": Ties(
        larger=(0x35400003, 0x3710001B, 0x65D890D3, 0x6F31A8EC, 0xBB0EC8C4),
        smaller=(0x3EFD81AD, 0xB53FFFFD, 0xB70FFFE5),
    ),
}


def fairly_rounded(s: DoubleScript, name: str, argument: Expr, value: Expr) -> Expr:
    """The bits of the F32 nearest to a function, of which `value` is the double."""
    ties = TIES.get(name, Ties())
    if ties.larger:
        sticky = argument & ties.mask if ties.mask else 1
        value = joined(high_word(value), low_word(value) | sticky)
    bits = s("value", rounded(value))
    if ties.smaller:
        bits = s("value", bits - _is_one_of(argument, ties.smaller))
    return bits


def _is_one_of(argument: Expr, inputs: tuple[int, ...]) -> Expr:
    return reduce(lambda a, b: BinOp(BinaryOp.Or, a, b), (argument.eq(x) for x in inputs))
