"""What every arithmetic op starts and ends with: taking operands apart, and rounding once.

Exponents inside the formulas are biased by the format's bias plus `OFFSET`, so that no value that a
rounding can meet is negative and unsigned comparisons order them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, Var, select
from vyre.numeric.formula import Formula, clz, smaller, sticky

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat

OFFSET = 256
TOP = 31


def unpack(f: Formula, fmt: FloatFormat, value: Expr, name: str, *, top: int) -> tuple[Var, Var]:
    """The significand with its leading bit at `top`, and the biased exponent that belongs to it.

    Subnormals are normalised, so their exponent is 0 or below, as a wrapped U32. A zero gives the
    significand 0.
    """
    field = f(f"field_{name}", value >> fmt.fraction_bits & fmt.exponent)
    subnormal = f(f"subnormal_{name}", field.eq(0))
    stored = (value & fmt.fraction) << (top - fmt.fraction_bits)
    raw = f(f"raw_{name}", stored | select(subnormal, 0, 1 << top))
    leading = clz(raw) if top == TOP else clz(raw) - (TOP - top)
    zeros = f(f"zeros_{name}", leading)
    significand = f(f"significand_{name}", raw << zeros)
    return significand, f(f"exponent_{name}", field + subnormal - zeros)


def rounded(f: Formula, fmt: FloatFormat, significand: Expr, exponent: Expr) -> Expr:
    """The magnitude bits nearest to a significand whose leading bit is bit 31, ties to even.

    `exponent` carries `OFFSET`. Below the normal range the significand moves right first; the carry
    of the rounding runs into the exponent field by itself, and what passes infinity is infinity.
    """
    tiny = f("tiny", exponent <= OFFSET)
    below = f("below", select(tiny, OFFSET + 1 - exponent, 0))
    shift = f("shift", smaller(below, TOP))
    moved = f("moved", significand >> shift)
    jammed = f("jammed", sticky(moved, shift, significand))
    field = f("field", select(tiny, 0, exponent - (OFFSET + 1)))
    return packed(f, fmt, jammed, field)


def packed(f: Formula, fmt: FloatFormat, significand: Expr, field: Expr, *, bounded: bool = False) -> Expr:
    """Rounds away all but the bits that fit above `TOP - fraction_bits`, and puts `field` in front.

    `field` is the exponent field less one, because a hidden bit adds one to it. `bounded` says that
    the result cannot pass infinity.
    """
    spare = TOP - fmt.fraction_bits
    kept = f("kept", significand >> spare)
    rest = f("rest", significand & ((1 << spare) - 1))
    up = f("up", rest + (kept & 1) > (1 << (spare - 1)))
    whole = f("whole", (field << fmt.fraction_bits) + kept + up)
    return whole if bounded else f("finite", smaller(whole, fmt.infinity))
