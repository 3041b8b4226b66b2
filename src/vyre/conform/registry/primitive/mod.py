"""`Mod`: the remainder of the division; 0 for a divisor of 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import alternate, binary, c, denied, law1, law2
from vyre.conform.registry.classes import DIVISION
from vyre.conform.registry.ids import NE
from vyre.conform.spec.law import (
    Absorbing,
    Associative,
    Commutative,
    Idempotent,
    LeftAbsorbing,
    RightAbsorbing,
    SelfInverse,
    ap,
)
from vyre.conform.spec.term import Equation, Relation
from vyre.ir.expr import LitU32, Select
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    return d.urem(a, b)


SPEC = binary(
    BinaryOp.Mod,
    cpu_fn,
    laws=(SelfInverse(0),),
    properties=(
        LeftAbsorbing(0),
        RightAbsorbing(0),
        Absorbing(0),
        law1("a % 1 = 0", lambda f, a: Equation(f(a, c(1)), c(0))),
        law2("a % b <= a", lambda f, a, b: Equation(f(a, b), a, Relation.Le)),
        law2(
            "b != 0 => a % b < b",
            lambda f, a, b: Equation(f(a, b), b, Relation.Lt, ap(NE, b, c(0))),
        ),
        law2("a % b % b = a % b", lambda f, a, b: Equation(f(f(a, b), b), f(a, b))),
    ),
    non_laws=denied("own", Commutative(), Associative(), Idempotent()),
    classes=DIVISION,
    alternates=(alternate("a - a / b * b", lambda x: Select(x[1], x[0] - x[0] // x[1] * x[1], LitU32(0))),),
)
