"""`And`: 1 when neither is 0, else 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import alternate, binary, c, denied, law1
from vyre.conform.registry.classes import TRUTH
from vyre.conform.registry.ids import LE, NE
from vyre.conform.spec.law import Absorbing, Associative, Bounded, Commutative, Idempotent, Identity, ap
from vyre.conform.spec.term import Equation
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    zero = d.const(0)
    return d.and_(d.ne(a, zero), d.ne(b, zero))


SPEC = binary(
    BinaryOp.And,
    cpu_fn,
    properties=(
        Commutative(),
        Associative(),
        Absorbing(0),
        Bounded(0, 1),
        law1("a and 1 = (a != 0)", lambda f, a: Equation(f(a, c(1)), ap(NE, a, c(0)))),
        law1("a <= 1 => a and 1 = a", lambda f, a: Equation(f(a, c(1)), a, precondition=ap(LE, a, c(1)))),
        law1("a <= 1 => a and a = a", lambda f, a: Equation(f(a, a), a, precondition=ap(LE, a, c(1)))),
    ),
    non_laws=denied("000/And", Idempotent(), Identity(1)),
    classes=TRUTH,
    alternates=(alternate("(a != 0) & (b != 0)", lambda x: x[0].ne(0) & x[1].ne(0)),),
)
