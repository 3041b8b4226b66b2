"""Atomic `And`: the common bits are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import atomic, law2
from vyre.conform.registry.classes import BITS
from vyre.conform.registry.ids import AND
from vyre.conform.spec.law import ap
from vyre.conform.spec.term import Apply, Equation
from vyre.ir.operators import AtomicOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V

ID = "atomic.and"


def cpu_fn(d: Domain[V], old: V, value: V) -> tuple[V, V]:
    return d.and_(old, value), old


SPEC = atomic(
    AtomicOp.And,
    ID,
    cpu_fn,
    "Stores the bits set in both.",
    properties=(
        law2("gives the value before", lambda f, a, b: Equation(f(a, b), a)),
        law2("stores the common bits", lambda f, a, b: Equation(Apply(ID, (a, b)), ap(AND, a, b))),
    ),
    classes=BITS,
)
