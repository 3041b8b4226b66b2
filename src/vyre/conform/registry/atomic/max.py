"""Atomic `Max`: the greater is stored; unsigned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import atomic, c, law2
from vyre.conform.registry.classes import ORDER
from vyre.conform.registry.ids import EQ, OR
from vyre.conform.spec.law import ap
from vyre.conform.spec.term import Apply, Equation, Relation
from vyre.ir.operators import AtomicOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V

ID = "atomic.max"


def cpu_fn(d: Domain[V], old: V, value: V) -> tuple[V, V]:
    return d.ite(d.ult(old, value), value, old), old


SPEC = atomic(
    AtomicOp.Max,
    ID,
    cpu_fn,
    "Stores the greater, unsigned.",
    properties=(
        law2("gives the value before", lambda f, a, b: Equation(f(a, b), a)),
        law2(
            "stores at least either",
            lambda f, a, b: (
                Equation(a, Apply(ID, (a, b)), Relation.Le),
                Equation(b, Apply(ID, (a, b)), Relation.Le),
            ),
        ),
        law2(
            "stores one of the two",
            lambda f, a, b: Equation(
                c(1), ap(OR, ap(EQ, Apply(ID, (a, b)), a), ap(EQ, Apply(ID, (a, b)), b))
            ),
        ),
    ),
    classes=ORDER,
)
