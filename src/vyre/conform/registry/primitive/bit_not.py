"""`BitNot`: every bit flipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import MAX, alternate, c, denied, law1, unary
from vyre.conform.registry.classes import NONZERO, ONES, ZERO
from vyre.conform.registry.ids import AND, NEGATE, OR, SUB, XOR
from vyre.conform.spec.law import IDENTITY, Complement, DeMorgan, Idempotent, Involution, Monotone, ap
from vyre.conform.spec.term import Equation
from vyre.ir.operators import UnaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V) -> V:
    return d.not_(a)


SPEC = unary(
    UnaryOp.BitNot,
    cpu_fn,
    laws=(Involution(), DeMorgan(AND, OR), Complement(IDENTITY, MAX)),
    properties=(
        DeMorgan(OR, AND),
        law1("~a = a ^ (2^32 - 1)", lambda f, a: Equation(f(a), ap(XOR, a, c(MAX)))),
        law1("~a = -a - 1", lambda f, a: Equation(f(a), ap(SUB, ap(NEGATE, a), c(1)))),
    ),
    non_laws=denied("own", Idempotent(), Monotone()),
    classes=(ZERO, ONES, NONZERO),
    alternates=(alternate("a ^ (2^32 - 1)", lambda x: x[0] ^ MAX),),
)
