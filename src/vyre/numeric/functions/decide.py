"""The rounding test: is an unrounded result far enough from a midpoint for its error not to matter?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.numeric.functions.ending import Unrounded, nearest
from vyre.numeric.functions.limbs import chosen, literal, minus, plus

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.ir.float_formats import FloatFormat
    from vyre.numeric.functions.limbs import Words
    from vyre.numeric.functions.script import Script


def tested(s: Script, fmt: FloatFormat, value: Unrounded, slack: Words) -> tuple[Expr, Expr]:
    """The nearest bits to the low end, and 1 where the high end rounds to others.

    `slack` bounds the error, in units of the last limb of the words.
    """
    low = nearest(s, fmt, Unrounded(minus(s, value.words, slack), value.exponent))
    raised = plus(s, value.words, slack)
    # Past the top it would be the next power of two; all ones round to the same.
    wrapped = s.let(raised[0] < (1 << 31), "wrapped")
    raised = chosen(s, wrapped, literal(-1, len(raised)), raised)
    high = nearest(s, fmt, Unrounded(raised, value.exponent))
    return low, s("undecided", low.ne(high))


def slack_of(units: Expr, limb: int, count: int) -> Words:
    """`units` of the limb with this number, among `count` limbs."""
    return (*literal(0, limb), units, *literal(0, count - limb - 1))
