"""`Lt`: 1 when below, else 0; unsigned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import alternate, binary, c, denied, law1, law2, law3
from vyre.conform.registry.classes import ORDER
from vyre.conform.registry.ids import AND, EQ, GT
from vyre.conform.spec.law import Bounded, Commutative, SelfInverse, Trichotomy, ap
from vyre.conform.spec.term import Equation
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    return d.ult(a, b)


SPEC = binary(
    BinaryOp.Lt,
    cpu_fn,
    laws=(SelfInverse(0), Bounded(0, 1)),
    properties=(
        Trichotomy(EQ, GT),
        law3(
            "transitive",
            lambda f, a, b, z: Equation(c(1), f(a, z), precondition=ap(AND, f(a, b), f(b, z))),
        ),
        law2("asymmetric", lambda f, a, b: Equation(f(b, a), c(0), precondition=f(a, b))),
        law1("nothing is below 0", lambda f, a: Equation(f(a, c(0)), c(0))),
    ),
    non_laws=denied("000/Lt", Commutative()),
    classes=ORDER,
    alternates=(alternate("b > a", lambda x: x[1] > x[0]),),
)
