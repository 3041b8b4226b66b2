"""`Eq`: 1 when equal, else 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import alternate, binary, c, denied, law2, law3
from vyre.conform.registry.classes import ORDER
from vyre.conform.registry.ids import AND, LOGICAL_NOT, NE, SUB, XOR
from vyre.conform.spec.law import Associative, Bounded, Commutative, SelfInverse, ap
from vyre.conform.spec.term import Equation
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    return d.eq(a, b)


SPEC = binary(
    BinaryOp.Eq,
    cpu_fn,
    laws=(Commutative(), SelfInverse(1), Bounded(0, 1)),
    properties=(
        law2("(a = b) = 1 - (a != b)", lambda f, a, b: Equation(f(a, b), ap(SUB, c(1), ap(NE, a, b)))),
        law2("(a = b) = not (a ^ b)", lambda f, a, b: Equation(f(a, b), ap(LOGICAL_NOT, ap(XOR, a, b)))),
        law3(
            "transitive",
            lambda f, a, b, z: Equation(c(1), f(a, z), precondition=ap(AND, f(a, b), f(b, z))),
        ),
    ),
    non_laws=denied("own", Associative()),
    classes=ORDER,
    alternates=(alternate("1 - (a != b)", lambda x: 1 - x[0].ne(x[1])),),
)
