"""`Shl`: a shift left by the low 5 bits of the amount."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import AMOUNTS, alternate, binary, c, denied, law1, law2
from vyre.conform.registry.classes import SHIFT
from vyre.conform.registry.ids import ADD, AND, MUL
from vyre.conform.spec.law import Commutative, Identity, LeftAbsorbing, RightIdentity, ap
from vyre.conform.spec.term import Equation
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    return d.shl(a, b)


SPEC = binary(
    BinaryOp.Shl,
    cpu_fn,
    properties=(
        RightIdentity(0),
        RightIdentity(32),
        LeftAbsorbing(0),
        law2("a << b = a << (b & 31)", lambda f, a, b: Equation(f(a, b), f(a, ap(AND, b, c(31))))),
        law1("a << 1 = a + a", lambda f, a: Equation(f(a, c(1)), ap(ADD, a, a))),
        law2("a << b = a * (1 << b)", lambda f, a, b: Equation(f(a, b), ap(MUL, a, f(c(1), b)))),
    ),
    non_laws=denied("000/Shl", Commutative(), Identity(0)),
    classes=SHIFT,
    right=AMOUNTS,
    alternates=(alternate("a << (b & 31)", lambda x: x[0] << (x[1] & 31)),),
)
