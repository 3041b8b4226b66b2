"""`Negate`: two's complement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import alternate, c, denied, law1, law2, unary
from vyre.conform.registry.classes import HIGH, NONZERO, ZERO
from vyre.conform.registry.ids import ADD, SUB
from vyre.conform.spec.law import Idempotent, Involution, Monotone, ap
from vyre.conform.spec.term import Equation
from vyre.ir.operators import UnaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V) -> V:
    return d.add(d.not_(a), d.const(1))


SPEC = unary(
    UnaryOp.Negate,
    cpu_fn,
    laws=(Involution(),),
    properties=(
        law1("a + -a = 0", lambda f, a: Equation(ap(ADD, a, f(a)), c(0))),
        law1("-a = 0 - a", lambda f, a: Equation(f(a), ap(SUB, c(0), a))),
        law2("-(a + b) = -a + -b", lambda f, a, b: Equation(f(ap(ADD, a, b)), ap(ADD, f(a), f(b)))),
    ),
    non_laws=denied("own", Idempotent(), Monotone()),
    classes=(ZERO, HIGH, NONZERO),
    alternates=(alternate("0 - a", lambda x: 0 - x[0]),),
)
