"""`Le`: 1 when at most the other, else 0; unsigned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import alternate, binary, c, denied, law1, law2, law3
from vyre.conform.registry.classes import ORDER
from vyre.conform.registry.ids import AND, LT, SUB
from vyre.conform.spec.law import Bounded, Commutative, SelfInverse, ap
from vyre.conform.spec.term import Equation
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    return d.ule(a, b)


SPEC = binary(
    BinaryOp.Le,
    cpu_fn,
    laws=(SelfInverse(1), Bounded(0, 1)),
    properties=(
        law2("(a <= b) = 1 - (b < a)", lambda f, a, b: Equation(f(a, b), ap(SUB, c(1), ap(LT, b, a)))),
        law3(
            "transitive",
            lambda f, a, b, z: Equation(c(1), f(a, z), precondition=ap(AND, f(a, b), f(b, z))),
        ),
        law2("antisymmetric", lambda f, a, b: Equation(a, b, precondition=ap(AND, f(a, b), f(b, a)))),
        law1("0 is at most everything", lambda f, a: Equation(f(c(0), a), c(1))),
    ),
    non_laws=denied("own", Commutative()),
    classes=ORDER,
    alternates=(alternate("1 - (b < a)", lambda x: 1 - (x[1] < x[0])),),
)
