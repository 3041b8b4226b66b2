"""Atomic `Add`: the sum is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import atomic, law2
from vyre.conform.registry.classes import ORDER
from vyre.conform.registry.ids import ADD
from vyre.conform.spec.law import ap
from vyre.conform.spec.term import Apply, Equation
from vyre.ir.operators import AtomicOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V

ID = "atomic.add"


def cpu_fn(d: Domain[V], old: V, value: V) -> tuple[V, V]:
    return d.add(old, value), old


SPEC = atomic(
    AtomicOp.Add,
    ID,
    cpu_fn,
    "Stores the sum modulo 2^32.",
    properties=(
        law2("gives the value before", lambda f, a, b: Equation(f(a, b), a)),
        law2("stores the sum", lambda f, a, b: Equation(Apply(ID, (a, b)), ap(ADD, a, b))),
    ),
    classes=ORDER,
)
