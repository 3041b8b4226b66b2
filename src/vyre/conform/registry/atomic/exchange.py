"""Atomic `Exchange`: the value is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import atomic, law2
from vyre.conform.registry.classes import ORDER
from vyre.conform.spec.term import Apply, Equation
from vyre.ir.operators import AtomicOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V

ID = "atomic.exchange"


def cpu_fn(d: Domain[V], old: V, value: V) -> tuple[V, V]:
    return value, old


SPEC = atomic(
    AtomicOp.Exchange,
    ID,
    cpu_fn,
    "Stores the value.",
    properties=(
        law2("gives the value before", lambda f, a, b: Equation(f(a, b), a)),
        law2("stores the value", lambda f, a, b: Equation(Apply(ID, (a, b)), b)),
    ),
    classes=ORDER,
)
