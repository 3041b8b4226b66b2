"""Conversion from U32 and I32, and between the three formats (decision 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, select
from vyre.numeric.formula import Formula, clz
from vyre.numeric.soft.layout import BF16, F16, F32
from vyre.numeric.soft.parts import OFFSET, TOP, packed, rounded

if TYPE_CHECKING:
    from vyre.ir.op import Op
    from vyre.numeric.soft.layout import Layout


def from_u32(fmt: Layout) -> Op:
    f = Formula(f"{fmt.prefix}.from_u32", "a", doc="The nearest value to a U32, ties to even.")
    return f.gives(_nearest(f, fmt, f.params[0]))


def from_i32(fmt: Layout) -> Op:
    f = Formula(f"{fmt.prefix}.from_i32", "a", doc="The nearest value to an I32, ties to even.")
    (a,) = f.params
    negative = f("negative", a >> TOP)
    size = f("size", select(negative, -a, a))
    return f.gives(negative << fmt.sign_shift | _nearest(f, fmt, size))


def _nearest(f: Formula, fmt: Layout, size: Expr) -> Expr:
    zeros = f("zeros", clz(size))
    significand = f("significand", size << zeros)
    field = f("field", fmt.bias + TOP - 1 - zeros)
    whole = packed(f, fmt, significand, field, bounded=fmt.bias > TOP)
    return f("nearest", select(size.eq(0), 0, whole))


def narrowings() -> list[Op]:
    return [_to_f16(), _to_bf16()]


def _to_f16() -> Op:
    f = Formula(f"{F32.prefix}.to_f16", "a", doc="The nearest F16, ties to even; NaN becomes canonical.")
    (a,) = f.params
    size = f("size", a & F32.magnitude)
    sign = f("sign", a >> (F32.sign_shift - F16.sign_shift) & F16.sign)
    significand = f("significand", a << (TOP - F32.fraction_bits) | 1 << TOP)
    # Subnormals keep a false hidden bit: they are far below half of the smallest F16 either way.
    exponent = f("exponent", (size >> F32.fraction_bits) + (OFFSET + F16.bias - F32.bias))
    finite = rounded(f, F16, significand, exponent)
    return f.gives(select(size > F32.infinity, F16.nan, sign | finite))


def _to_bf16() -> Op:
    f = Formula(f"{F32.prefix}.to_bf16", "a", doc="The nearest BF16, ties to even; NaN becomes canonical.")
    (a,) = f.params
    odd = f("odd", a >> 16 & 1)
    nearest = f("nearest", a + 0x7FFF + odd >> 16)
    return f.gives(select((a & F32.magnitude) > F32.infinity, BF16.nan, nearest))


def widenings() -> list[Op]:
    return [_from_f16(), _from_bf16()]


def _from_f16() -> Op:
    f = Formula(f"{F16.prefix}.to_f32", "a", doc="The same value in F32; NaN becomes canonical.")
    (a,) = f.params
    size = f("size", a & F16.magnitude)
    sign = f("sign", (a & F16.sign) << (F32.sign_shift - F16.sign_shift))
    gap = F32.fraction_bits - F16.fraction_bits
    rebias = (F32.bias - F16.bias) << F32.fraction_bits
    normal = f("normal", (size << gap) + rebias)
    zeros = f("zeros", clz(size) - (TOP - F16.fraction_bits))
    # Moved so that its leading bit lands on the lowest bit of the field, which it adds one to.
    lifted = f("lifted", (size << zeros << gap) + rebias - (zeros << F32.fraction_bits))
    subnormal = f("subnormal", select(size.eq(0), 0, lifted))
    finite = f("finite", select(size < F16.hidden, subnormal, normal))
    special = f("special", select(size > F16.infinity, F32.nan, sign | F32.infinity))
    return f.gives(select(size >= F16.infinity, special, sign | finite))


def _from_bf16() -> Op:
    f = Formula(f"{BF16.prefix}.to_f32", "a", doc="The same value in F32; NaN becomes canonical.")
    (a,) = f.params
    return f.gives(select((a & BF16.magnitude) > BF16.infinity, F32.nan, a << 16))


def from_bits(fmt: Layout) -> Op:
    """The cast of a U32 to a 16-bit format keeps the low half."""
    f = Formula(f"{fmt.prefix}.from_bits", "a", doc="The low 16 bits.")
    return f.gives(f.params[0] & 0xFFFF)
