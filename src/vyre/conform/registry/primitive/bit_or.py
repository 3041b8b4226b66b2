"""`BitOr`: the bits set in either."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import MAX, alternate, binary, c, denied, law1, law2
from vyre.conform.registry.classes import BITS
from vyre.conform.registry.ids import ADD, AND, NOT, XOR
from vyre.conform.spec.law import (
    Absorbing,
    Associative,
    Commutative,
    DistributiveOver,
    Idempotent,
    Identity,
    LatticeAbsorption,
    ap,
)
from vyre.conform.spec.term import Equation, Relation
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    return d.or_(a, b)


SPEC = binary(
    BinaryOp.BitOr,
    cpu_fn,
    laws=(
        Commutative(),
        Associative(),
        Identity(0),
        Idempotent(),
        Absorbing(MAX),
        DistributiveOver(AND),
    ),
    properties=(
        LatticeAbsorption(AND),
        law1("a | ~a = 2^32 - 1", lambda f, a: Equation(f(a, ap(NOT, a)), c(MAX))),
        law2("a <= a | b", lambda f, a, b: Equation(a, f(a, b), Relation.Le)),
        law2(
            "a | b = (a ^ b) + (a & b)",
            lambda f, a, b: Equation(f(a, b), ap(ADD, ap(XOR, a, b), ap(AND, a, b))),
        ),
    ),
    non_laws=denied("own", DistributiveOver(XOR)),
    classes=BITS,
    alternates=(alternate("~(~a & ~b)", lambda x: ~(~x[0] & ~x[1])),),
)
