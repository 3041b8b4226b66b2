"""Add, sub and mul, branch-free, in 32-bit lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, mul_hi, select
from vyre.numeric.formula import Formula, clz, larger, smaller, sticky
from vyre.numeric.soft.parts import OFFSET, TOP, packed, rounded, unpack

if TYPE_CHECKING:
    from vyre.ir.op import Op
    from vyre.numeric.soft.layout import Layout


def add(fmt: Layout) -> Op:
    f = Formula(f"{fmt.prefix}.add", "a", "b", doc="The sum, rounded once to nearest, ties to even.")
    return _sum(f, fmt, *f.params)


def sub(fmt: Layout) -> Op:
    f = Formula(f"{fmt.prefix}.sub", "a", "b", doc="The difference, rounded once to nearest, ties to even.")
    a, b = f.params
    return _sum(f, fmt, a, f("negated", b ^ fmt.sign))


def _sum(f: Formula, fmt: Layout, a: Expr, b: Expr) -> Op:
    """Aligns the operand of smaller magnitude under the larger one.

    Seven or more bits lie below the significands, the last of them sticky, which is enough: an
    operand that loses bits is at least 8 places down, so the difference loses one leading bit at most.
    Sums below the normal range are exact, so there the left shift just stops early.
    """
    swap = f("swap", (a & fmt.magnitude) < (b & fmt.magnitude))
    x = f("x", select(swap, b, a))
    y = f("y", select(swap, a, b))
    size_x = f("size_x", x & fmt.magnitude)
    size_y = f("size_y", y & fmt.magnitude)
    exponent_x, significand_x = _aligned(f, fmt, size_x, "x")
    exponent_y, significand_y = _aligned(f, fmt, size_y, "y")
    distance = f("distance", smaller(exponent_x - exponent_y, TOP))
    moved = f("moved", significand_y >> distance)
    aligned = f("aligned", sticky(moved, distance, significand_y))
    opposite = f("opposite", (x ^ y) >> fmt.sign_shift)
    total = f("total", select(opposite, significand_x - aligned, significand_x + aligned))
    lift = f("lift", smaller(clz(total), exponent_x))
    finite = packed(f, fmt, f("lifted", total << lift), f("field", exponent_x - lift))
    nothing = f("nothing", total.eq(0))
    signed = f("signed", select(nothing, x & y, x) & fmt.sign)
    value = f("value", select(nothing, 0, finite))
    invalid = f("invalid", (size_x > fmt.infinity) | (size_y.eq(fmt.infinity) & opposite))
    special = f("special", select(invalid, fmt.nan, x))
    return f.gives(select(size_x >= fmt.infinity, special, signed | value))


def _aligned(f: Formula, fmt: Layout, size: Expr, name: str) -> tuple[Expr, Expr]:
    """The exponent field (1 for subnormals) and the significand with its hidden bit at bit 30."""
    field = f(f"field_{name}", size >> fmt.fraction_bits)
    subnormal = f(f"subnormal_{name}", field.eq(0))
    whole = size & fmt.fraction | select(subnormal, 0, fmt.hidden)
    significand = f(f"significand_{name}", whole << (TOP - 1 - fmt.fraction_bits))
    return f(f"exponent_{name}", field + subnormal), significand


def mul(fmt: Layout) -> Op:
    f = Formula(f"{fmt.prefix}.mul", "a", "b", doc="The product, rounded once to nearest, ties to even.")
    a, b = f.params
    size_a = f("size_a", a & fmt.magnitude)
    size_b = f("size_b", b & fmt.magnitude)
    top = TOP if fmt.width == 32 else 15
    significand_a, exponent_a = unpack(f, fmt, a, "a", top=top)
    significand_b, exponent_b = unpack(f, fmt, b, "b", top=top)
    if fmt.width == 32:
        low = f("low", significand_a * significand_b)
        product = f("product", mul_hi(significand_a, significand_b) | low.ne(0))
    else:
        product = f("product", significand_a * significand_b)
    carry = f("carry", product >> TOP)
    significand = f("significand", product << (carry ^ 1))
    exponent = f("exponent", exponent_a + exponent_b + carry + (OFFSET - fmt.bias))
    finite = rounded(f, fmt, significand, exponent)
    sign = f("sign", (a ^ b) & fmt.sign)
    most = f("most", larger(size_a, size_b))
    least = f("least", smaller(size_a, size_b))
    invalid = f("invalid", (most > fmt.infinity) | (most.eq(fmt.infinity) & least.eq(0)))
    special = f("special", select(invalid, fmt.nan, sign | fmt.infinity))
    value = f("value", select(least.eq(0), sign, sign | finite))
    return f.gives(select(most >= fmt.infinity, special, value))
