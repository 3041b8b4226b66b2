"""`Ctz`: zero bits below the lowest set bit, by halving."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import c, denied, law0, law1, unary
from vyre.conform.registry.classes import NONZERO, ODD, SINGLE, ZERO
from vyre.conform.registry.ids import AND, CLZ, NE, NOT, POPCOUNT, REVERSE, SHR, SUB
from vyre.conform.spec.law import Bounded, Involution, Monotone, ap
from vyre.conform.spec.term import Equation
from vyre.ir.operators import UnaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V) -> V:
    zero = d.const(0)
    count = zero
    rest = a
    for power in (4, 3, 2, 1, 0):
        step = 1 << power
        by = d.shl(d.eq(d.and_(rest, d.const((1 << step) - 1)), zero), d.const(power))
        count = d.add(count, by)
        rest = d.shr(rest, by)
    return d.ite(a, count, d.const(32))


SPEC = unary(
    UnaryOp.Ctz,
    cpu_fn,
    laws=(Bounded(0, 32),),
    properties=(
        law1("ctz(a) = clz(reverse(a))", lambda f, a: Equation(f(a), ap(CLZ, ap(REVERSE, a)))),
        law0("ctz(0) = 32", lambda f: Equation(f(c(0)), c(32))),
        law1(
            "a != 0 => (a >> ctz(a)) & 1 = 1",
            lambda f, a: Equation(ap(AND, ap(SHR, a, f(a)), c(1)), c(1), precondition=ap(NE, a, c(0))),
        ),
        law1(
            "ctz(a) = popcount(~a & (a - 1))",
            lambda f, a: Equation(f(a), ap(POPCOUNT, ap(AND, ap(NOT, a), ap(SUB, a, c(1))))),
        ),
    ),
    non_laws=denied("own", Monotone(), Involution()),
    classes=(ZERO, ODD, SINGLE, NONZERO),
)
