"""`Clz`: zero bits above the highest set bit, by halving."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import TOP, c, denied, law0, law1, law2, unary
from vyre.conform.registry.classes import HIGH, NONZERO, SINGLE, ZERO
from vyre.conform.registry.ids import CTZ, LE, NE, REVERSE, SHL
from vyre.conform.spec.law import Bounded, Involution, Monotone, ap
from vyre.conform.spec.term import Equation, Relation
from vyre.ir.operators import UnaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V) -> V:
    zero = d.const(0)
    count = zero
    rest = a
    for power in (4, 3, 2, 1, 0):
        step = 1 << power
        by = d.shl(d.eq(d.shr(rest, d.const(32 - step)), zero), d.const(power))
        count = d.add(count, by)
        rest = d.shl(rest, by)
    return d.ite(a, count, d.const(32))


SPEC = unary(
    UnaryOp.Clz,
    cpu_fn,
    laws=(Bounded(0, 32),),
    properties=(
        law1("clz(a) = ctz(reverse(a))", lambda f, a: Equation(f(a), ap(CTZ, ap(REVERSE, a)))),
        law0("clz(0) = 32", lambda f: Equation(f(c(0)), c(32))),
        law1(
            "a != 0 => a << clz(a) >= 2^31",
            lambda f, a: Equation(c(TOP), ap(SHL, a, f(a)), Relation.Le, ap(NE, a, c(0))),
        ),
        law2(
            "a <= b => clz(b) <= clz(a)",
            lambda f, a, b: Equation(f(b), f(a), Relation.Le, ap(LE, a, b)),
        ),
    ),
    non_laws=denied("own", Monotone(), Involution()),
    classes=(ZERO, HIGH, SINGLE, NONZERO),
)
