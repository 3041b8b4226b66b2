"""`BitXor`: the bits that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import MAX, alternate, binary, c, denied, law1, law2
from vyre.conform.registry.classes import BITS
from vyre.conform.registry.ids import AND, NOT, OR, SUB, XOR
from vyre.conform.spec.law import (
    Associative,
    Commutative,
    DistributiveOver,
    Identity,
    InverseOf,
    SelfInverse,
    ap,
)
from vyre.conform.spec.term import Equation
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    return d.xor(a, b)


SPEC = binary(
    BinaryOp.BitXor,
    cpu_fn,
    laws=(Commutative(), Associative(), Identity(0), SelfInverse(0)),
    properties=(
        InverseOf(XOR),
        law1("a ^ ~a = 2^32 - 1", lambda f, a: Equation(f(a, ap(NOT, a)), c(MAX))),
        law2(
            "a ^ b = (a | b) - (a & b)",
            lambda f, a, b: Equation(f(a, b), ap(SUB, ap(OR, a, b), ap(AND, a, b))),
        ),
    ),
    non_laws=denied("000/BitXor", DistributiveOver(AND), DistributiveOver(OR)),
    classes=BITS,
    alternates=(alternate("(a | b) & ~(a & b)", lambda x: (x[0] | x[1]) & ~(x[0] & x[1])),),
)
