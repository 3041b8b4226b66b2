"""`LogicalNot`: 1 for 0, else 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import alternate, c, denied, law1, unary
from vyre.conform.registry.classes import NONZERO, ZERO
from vyre.conform.registry.ids import EQ, LOGICAL_AND, LOGICAL_OR, NE
from vyre.conform.spec.law import Bounded, DeMorgan, Idempotent, Involution, ap
from vyre.conform.spec.term import Equation
from vyre.ir.operators import UnaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V) -> V:
    return d.eq(a, d.const(0))


SPEC = unary(
    UnaryOp.LogicalNot,
    cpu_fn,
    laws=(Bounded(0, 1), DeMorgan(LOGICAL_AND, LOGICAL_OR)),
    properties=(
        DeMorgan(LOGICAL_OR, LOGICAL_AND),
        law1("not a = (a = 0)", lambda f, a: Equation(f(a), ap(EQ, a, c(0)))),
        law1("not not not a = not a", lambda f, a: Equation(f(f(f(a))), f(a))),
        law1("not not a = (a != 0)", lambda f, a: Equation(f(f(a)), ap(NE, a, c(0)))),
    ),
    non_laws=denied("own", Involution(), Idempotent()),
    classes=(ZERO, NONZERO),
    alternates=(alternate("a = 0", lambda x: x[0].eq(0)),),
)
