"""`MulHi`: the high 32 bits of the product, from four products of halves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import MAX, TOP, binary, c, class2, denied, law1
from vyre.conform.registry.classes import is_zero
from vyre.conform.registry.ids import NE, SHR, SUB
from vyre.conform.spec.law import Absorbing, Commutative, Idempotent, ap
from vyre.conform.spec.term import Equation
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    low = d.const(0xFFFF)
    half = d.const(16)
    a0, a1 = d.and_(a, low), d.shr(a, half)
    b0, b1 = d.and_(b, low), d.shr(b, half)
    left, right = d.mul(a1, b0), d.mul(a0, b1)
    middle = d.add(d.shr(d.mul(a0, b0), half), d.add(d.and_(left, low), d.and_(right, low)))
    upper = d.add(d.mul(a1, b1), d.add(d.shr(left, half), d.shr(right, half)))
    return d.add(upper, d.shr(middle, half))


SPEC = binary(
    BinaryOp.MulHi,
    cpu_fn,
    properties=(
        Commutative(),
        Absorbing(0),
        law1("mul_hi(a, 1) = 0", lambda f, a: Equation(f(a, c(1)), c(0))),
        law1("mul_hi(a, 2^31) = a >> 1", lambda f, a: Equation(f(a, c(TOP)), ap(SHR, a, c(1)))),
        law1("mul_hi(a, 2^16) = a >> 16", lambda f, a: Equation(f(a, c(0x10000)), ap(SHR, a, c(16)))),
        law1(
            "mul_hi(a, 2^32 - 1) = a - (a != 0)",
            lambda f, a: Equation(f(a, c(MAX)), ap(SUB, a, ap(NE, a, c(0)))),
        ),
    ),
    non_laws=denied("own", Idempotent()),
    classes=(
        class2(
            "a factor is 0",
            lambda d, a, b: d.or_(is_zero(d, a), is_zero(d, b)),
            lambda d, a, b: (
                d.ite(d.and_(b, d.const(1)), a, d.const(0)),
                d.ite(d.and_(b, d.const(1)), d.const(0), b),
            ),
        ),
        class2(
            "factors below 2^16",
            lambda d, a, b: d.ult(d.or_(a, b), d.const(1 << 16)),
            lambda d, a, b: (d.and_(a, d.const(0xFFFF)), d.and_(b, d.const(0xFFFF))),
        ),
        class2(
            "a factor of 2^16 or more",
            lambda d, a, b: d.ule(d.const(1 << 16), d.or_(a, b)),
            lambda d, a, b: (d.or_(a, d.const(1 << 16)), b),
        ),
    ),
)
