"""`BitAnd`: the bits set in both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import MAX, alternate, binary, c, law1, law2
from vyre.conform.registry.classes import BITS
from vyre.conform.registry.ids import NOT, OR, XOR
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
    return d.and_(a, b)


SPEC = binary(
    BinaryOp.BitAnd,
    cpu_fn,
    laws=(
        Commutative(),
        Associative(),
        Identity(MAX),
        Idempotent(),
        Absorbing(0),
        DistributiveOver(OR),
    ),
    properties=(
        LatticeAbsorption(OR),
        DistributiveOver(XOR),
        law1("a & ~a = 0", lambda f, a: Equation(f(a, ap(NOT, a)), c(0))),
        law2("a & b <= a", lambda f, a, b: Equation(f(a, b), a, Relation.Le)),
    ),
    classes=BITS,
    alternates=(alternate("~(~a | ~b)", lambda x: ~(~x[0] | ~x[1])),),
)
