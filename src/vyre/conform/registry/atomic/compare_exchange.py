"""Atomic `CompareExchange`: the value is stored where the old one is the expected one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import atomic, class3, law3
from vyre.conform.registry.ids import EQ, NE
from vyre.conform.spec.law import ap
from vyre.conform.spec.term import Apply, Equation
from vyre.ir.operators import AtomicOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V

ID = "atomic.compare_exchange"


def cpu_fn(d: Domain[V], old: V, value: V, expected: V) -> tuple[V, V]:
    return d.ite(d.eq(old, expected), value, old), old


SPEC = atomic(
    AtomicOp.CompareExchange,
    ID,
    cpu_fn,
    "Stores the value where the old one is the expected one.",
    properties=(
        law3("gives the value before", lambda f, a, b, x: Equation(f(a, b, x), a)),
        law3(
            "stores the value on a match",
            lambda f, a, b, x: Equation(Apply(ID, (a, b, x)), b, precondition=ap(EQ, a, x)),
        ),
        law3(
            "stores nothing on a mismatch",
            lambda f, a, b, x: Equation(Apply(ID, (a, b, x)), a, precondition=ap(NE, a, x)),
        ),
    ),
    classes=(
        class3("match", lambda d, a, b, x: d.eq(a, x), lambda d, a, b, x: (a, b, a)),
        class3(
            "mismatch",
            lambda d, a, b, x: d.ne(a, x),
            lambda d, a, b, x: (a, b, d.ite(d.eq(a, x), d.not_(x), x)),
        ),
        class3(
            "match, and the value is what was there",
            lambda d, a, b, x: d.and_(d.eq(a, x), d.eq(a, b)),
            lambda d, a, b, x: (a, a, a),
        ),
    ),
)
