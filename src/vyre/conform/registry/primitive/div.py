"""`Div`: the quotient, rounded down; 0 for a divisor of 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import binary, c, denied, law1, law2
from vyre.conform.registry.classes import DIVISION
from vyre.conform.registry.ids import ADD, LT, MOD, MUL, NE
from vyre.conform.spec.law import (
    Absorbing,
    Associative,
    Commutative,
    Identity,
    LeftAbsorbing,
    Monotone,
    RightAbsorbing,
    RightIdentity,
    ap,
)
from vyre.conform.spec.term import Equation, Relation
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    return d.udiv(a, b)


SPEC = binary(
    BinaryOp.Div,
    cpu_fn,
    properties=(
        RightIdentity(1),
        LeftAbsorbing(0),
        RightAbsorbing(0),
        Absorbing(0),
        Monotone(),
        law1("a / a = (a != 0)", lambda f, a: Equation(f(a, a), ap(NE, a, c(0)))),
        law2("a / b <= a", lambda f, a, b: Equation(f(a, b), a, Relation.Le)),
        law2("a < b => a / b = 0", lambda f, a, b: Equation(f(a, b), c(0), precondition=ap(LT, a, b))),
        law2(
            "b != 0 => a = a / b * b + a % b",
            lambda f, a, b: Equation(
                ap(ADD, ap(MUL, f(a, b), b), ap(MOD, a, b)), a, precondition=ap(NE, b, c(0))
            ),
        ),
    ),
    non_laws=denied("000/Div", Commutative(), Associative(), Identity(1)),
    classes=DIVISION,
)
