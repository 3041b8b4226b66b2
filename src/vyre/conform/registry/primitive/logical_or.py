"""`Or`: 0 when both are 0, else 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import alternate, binary, c, denied, law1
from vyre.conform.registry.classes import TRUTH
from vyre.conform.registry.ids import LE, NE
from vyre.conform.spec.law import Absorbing, Associative, Bounded, Commutative, Idempotent, Identity, ap
from vyre.conform.spec.op import Erratum
from vyre.conform.spec.term import Equation
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    zero = d.const(0)
    return d.or_(d.ne(a, zero), d.ne(b, zero))


SPEC = binary(
    BinaryOp.Or,
    cpu_fn,
    properties=(
        Commutative(),
        Associative(),
        Bounded(0, 1),
        law1("a or 0 = (a != 0)", lambda f, a: Equation(f(a, c(0)), ap(NE, a, c(0)))),
        law1("a <= 1 => a or 0 = a", lambda f, a: Equation(f(a, c(0)), a, precondition=ap(LE, a, c(1)))),
        law1("a <= 1 => a or a = a", lambda f, a: Equation(f(a, a), a, precondition=ap(LE, a, c(1)))),
    ),
    non_laws=denied("000/Or", Idempotent(), Identity(0)),
    errata=(
        Erratum(
            Absorbing(1),
            "000/Or",
            "The documents deny an absorbing element. 1 is one: 1 or a = a or 1 = 1 for every a.",
        ),
    ),
    classes=TRUTH,
    alternates=(alternate("(a | b) != 0", lambda x: (x[0] | x[1]).ne(0)),),
)
