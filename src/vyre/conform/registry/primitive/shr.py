"""`Shr`: a shift right by the low 5 bits of the amount, zeros moving in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import AMOUNTS, alternate, binary, c, denied, law1, law2
from vyre.conform.registry.classes import SHIFT
from vyre.conform.registry.ids import AND, DIV
from vyre.conform.spec.law import Commutative, Identity, LeftAbsorbing, Monotone, RightIdentity, ap
from vyre.conform.spec.term import Equation, Relation
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    return d.shr(a, b)


SPEC = binary(
    BinaryOp.Shr,
    cpu_fn,
    properties=(
        RightIdentity(0),
        RightIdentity(32),
        LeftAbsorbing(0),
        Monotone(),
        law2("a >> b = a >> (b & 31)", lambda f, a, b: Equation(f(a, b), f(a, ap(AND, b, c(31))))),
        law2("a >> b <= a", lambda f, a, b: Equation(f(a, b), a, Relation.Le)),
        law1("a >> 1 = a / 2", lambda f, a: Equation(f(a, c(1)), ap(DIV, a, c(2)))),
    ),
    non_laws=denied("000/Shr", Commutative(), Identity(0)),
    classes=SHIFT,
    right=AMOUNTS,
    alternates=(alternate("a >> (b & 31)", lambda x: x[0] >> (x[1] & 31)),),
)
