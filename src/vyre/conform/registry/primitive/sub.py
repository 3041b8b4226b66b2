"""`Sub`: the difference modulo 2^32."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import alternate, binary, denied, law2
from vyre.conform.registry.classes import ORDER
from vyre.conform.registry.ids import ADD, NEGATE
from vyre.conform.spec.law import (
    Associative,
    Commutative,
    Identity,
    InverseOf,
    RightIdentity,
    SelfInverse,
    ap,
)
from vyre.conform.spec.term import Equation
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    return d.sub(a, b)


SPEC = binary(
    BinaryOp.Sub,
    cpu_fn,
    laws=(SelfInverse(0),),
    properties=(
        RightIdentity(0),
        InverseOf(ADD),
        law2("a - b = a + -b", lambda f, a, b: Equation(f(a, b), ap(ADD, a, ap(NEGATE, b)))),
        law2("a - b = -(b - a)", lambda f, a, b: Equation(f(a, b), ap(NEGATE, f(b, a)))),
    ),
    non_laws=denied("000/Sub", Commutative(), Associative(), Identity(0)),
    classes=ORDER,
    alternates=(alternate("a + ~b + 1", lambda x: x[0] + ~x[1] + 1),),
)
