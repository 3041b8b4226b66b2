"""Rounding to integral values, and conversion to U32 and I32 on top of it (decision 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, Var, select
from vyre.ir.operators import RoundMode
from vyre.numeric.formula import Formula
from vyre.numeric.soft.parts import TOP

if TYPE_CHECKING:
    from vyre.ir.op import Op
    from vyre.numeric.soft.layout import Layout

_ROUNDINGS = {
    RoundMode.Floor: ("floor", "The largest integral value that is not above."),
    RoundMode.Ceil: ("ceil", "The smallest integral value that is not below."),
    RoundMode.Nearest: ("round", "The nearest integral value, ties to even."),
    RoundMode.Truncate: ("trunc", "The integral value next towards zero."),
}


def roundings(fmt: Layout) -> list[Op]:
    return [_rounding(fmt, mode) for mode in _ROUNDINGS]


def conversions(fmt: Layout) -> list[Op]:
    """To I32 and U32 in every mode: saturating, NaN gives 0."""
    return [_conversion(fmt, mode, signed=signed) for signed in (True, False) for mode in RoundMode]


def _rounding(fmt: Layout, mode: RoundMode) -> Op:
    name, doc = _ROUNDINGS[mode]
    f = Formula(f"{fmt.prefix}.{name}", "a", doc=doc)
    (a,) = f.params
    size = f("size", a & fmt.magnitude)
    sign = f("sign", a & fmt.sign)
    integral = _integral_size(f, fmt, mode, size, sign)
    return f.gives(select(size > fmt.infinity, fmt.nan, sign | integral))


def _integral_size(f: Formula, fmt: Layout, mode: RoundMode, size: Var, sign: Var) -> Var:
    """The magnitude rounded to an integer; a carry out of the fraction runs into the exponent."""
    unit_field = fmt.bias + fmt.fraction_bits
    field = f("field", size >> fmt.fraction_bits)
    fraction = f("fraction", size < fmt.one)
    places = f("places", select(fraction, fmt.fraction_bits, unit_field - field))
    mask = f("mask", (1 << places) - 1)
    match mode:
        case RoundMode.Floor:
            addend, away = select(sign, mask, 0), sign.ne(0) & size.ne(0)
        case RoundMode.Ceil:
            addend, away = select(sign, 0, mask), sign.eq(0) & size.ne(0)
        case RoundMode.Nearest:
            addend, away = (mask >> 1) + (size >> places & 1), size > fmt.one - fmt.hidden
        case RoundMode.Truncate:
            addend, away = None, None
    rounded = f("rounded", (size if addend is None else size + addend) & ~mask)
    below_one = 0 if away is None else select(away, fmt.one, 0)
    within = f("within", select(fraction, below_one, rounded))
    return f("integral", select(size >= (unit_field << fmt.fraction_bits), size, within))


def _conversion(fmt: Layout, mode: RoundMode, *, signed: bool) -> Op:
    target = "i32" if signed else "u32"
    f = Formula(
        f"{fmt.prefix}.to_{target}_{mode.value.lower()}",
        "a",
        doc=f"As {target.upper()}, {mode.value.lower()}; saturates, and NaN gives 0.",
    )
    (a,) = f.params
    size = f("size", a & fmt.magnitude)
    sign = f("sign", a & fmt.sign)
    integral = _integral_size(f, fmt, mode, size, sign)
    # The hidden bit goes to bit 31, over whatever part of the field was moved there.
    aligned = f("aligned", integral << (TOP - fmt.fraction_bits) | 1 << TOP)
    whole = f("whole", aligned >> (fmt.bias + TOP - (integral >> fmt.fraction_bits)))
    value = f("value", select(integral < fmt.one, 0, whole))
    return f.gives(select(size > fmt.infinity, 0, _saturated(f, fmt, value, integral, sign, signed=signed)))


def _saturated(f: Formula, fmt: Layout, value: Expr, integral: Expr, sign: Expr, *, signed: bool) -> Expr:
    limit = fmt.bias + (31 if signed else 32)
    # Finite F16 stays below 2^16, so there only infinity is out of range.
    limit = min(limit, fmt.exponent)
    beyond = f("beyond", integral >= (limit << fmt.fraction_bits))
    if not signed:
        return select(sign, 0, select(beyond, 0xFFFFFFFF, value))
    return select(sign, select(beyond, 1 << 31, -value), select(beyond, (1 << 31) - 1, value))
