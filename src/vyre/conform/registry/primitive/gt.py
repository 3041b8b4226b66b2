"""`Gt`: 1 when above, else 0; unsigned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import MAX, alternate, binary, c, denied, law1, law2, law3
from vyre.conform.registry.classes import ORDER
from vyre.conform.registry.ids import AND, LT
from vyre.conform.spec.law import Bounded, Commutative, SelfInverse, ap
from vyre.conform.spec.term import Equation
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    return d.ult(b, a)


SPEC = binary(
    BinaryOp.Gt,
    cpu_fn,
    laws=(SelfInverse(0), Bounded(0, 1)),
    properties=(
        law2("(a > b) = (b < a)", lambda f, a, b: Equation(f(a, b), ap(LT, b, a))),
        law3(
            "transitive",
            lambda f, a, b, z: Equation(c(1), f(a, z), precondition=ap(AND, f(a, b), f(b, z))),
        ),
        law1("nothing is above 2^32 - 1", lambda f, a: Equation(f(a, c(MAX)), c(0))),
    ),
    non_laws=denied("own", Commutative()),
    classes=ORDER,
    alternates=(alternate("b < a", lambda x: x[1] < x[0]),),
)
