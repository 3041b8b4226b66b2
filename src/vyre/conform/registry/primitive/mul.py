"""`Mul`: the low 32 bits of the product."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import MAX, binary, c, class2, denied, law1
from vyre.conform.registry.classes import is_zero
from vyre.conform.registry.ids import ADD, NEGATE, SUB
from vyre.conform.spec.law import (
    Absorbing,
    Associative,
    Commutative,
    DistributiveOver,
    Identity,
    ZeroProduct,
    ap,
)
from vyre.conform.spec.term import Equation
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    return d.mul(a, b)


SPEC = binary(
    BinaryOp.Mul,
    cpu_fn,
    laws=(Commutative(), Associative(), Identity(1), Absorbing(0), ZeroProduct(holds=False)),
    properties=(
        DistributiveOver(ADD),
        DistributiveOver(SUB),
        law1("a * 2 = a + a", lambda f, a: Equation(f(a, c(2)), ap(ADD, a, a))),
        law1("a * -1 = -a", lambda f, a: Equation(f(a, c(MAX)), ap(NEGATE, a))),
    ),
    non_laws=denied("000/Mul", ZeroProduct(holds=True)),
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
