"""Atomic `Or`: the union of bits is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import atomic, law2
from vyre.conform.registry.classes import BITS
from vyre.conform.registry.ids import OR
from vyre.conform.spec.law import ap
from vyre.conform.spec.term import Apply, Equation
from vyre.ir.operators import AtomicOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V

ID = "atomic.or"


def cpu_fn(d: Domain[V], old: V, value: V) -> tuple[V, V]:
    return d.or_(old, value), old


SPEC = atomic(
    AtomicOp.Or,
    ID,
    cpu_fn,
    "Stores the bits set in either.",
    properties=(
        law2("gives the value before", lambda f, a, b: Equation(f(a, b), a)),
        law2("stores the union", lambda f, a, b: Equation(Apply(ID, (a, b)), ap(OR, a, b))),
    ),
    classes=BITS,
)
