"""`Ne`: 1 when different, else 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import alternate, binary, c, denied, law2
from vyre.conform.registry.classes import ORDER
from vyre.conform.registry.ids import ADD, EQ, GT, LT, SUB
from vyre.conform.spec.law import Associative, Bounded, Commutative, SelfInverse, ap
from vyre.conform.spec.term import Equation
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    return d.ne(a, b)


SPEC = binary(
    BinaryOp.Ne,
    cpu_fn,
    laws=(Commutative(), SelfInverse(0), Bounded(0, 1)),
    properties=(
        law2("(a != b) = 1 - (a = b)", lambda f, a, b: Equation(f(a, b), ap(SUB, c(1), ap(EQ, a, b)))),
        law2(
            "(a != b) = (a < b) + (a > b)",
            lambda f, a, b: Equation(f(a, b), ap(ADD, ap(LT, a, b), ap(GT, a, b))),
        ),
    ),
    non_laws=denied("own", Associative()),
    classes=ORDER,
    alternates=(alternate("1 - (a = b)", lambda x: 1 - x[0].eq(x[1])),),
)
