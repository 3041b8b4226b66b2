"""`Clz`: zero bits above the highest set bit, by halving."""

from __future__ import annotations

from vyre.conform.registry.build import TOP, c, denied, law0, law1, law2, unary
from vyre.conform.registry.classes import HIGH, NONZERO, SINGLE, ZERO
from vyre.conform.registry.ids import CTZ, LE, NE, REVERSE, SHL
from vyre.conform.spec.law import Bounded, Involution, Monotone, ap
from vyre.conform.spec.term import Equation, Relation
from vyre.ir.operators import UnaryOp

SPEC = unary(
    UnaryOp.Clz,
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
