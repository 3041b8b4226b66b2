"""Atomic `Xor`: the differing bits are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import atomic, law2
from vyre.conform.registry.classes import BITS
from vyre.conform.registry.ids import XOR
from vyre.conform.spec.law import ap
from vyre.conform.spec.term import Apply, Equation
from vyre.ir.operators import AtomicOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V

ID = "atomic.xor"


def cpu_fn(d: Domain[V], old: V, value: V) -> tuple[V, V]:
    return d.xor(old, value), old


SPEC = atomic(
    AtomicOp.Xor,
    ID,
    cpu_fn,
    "Stores the bits that differ.",
    properties=(
        law2("gives the value before", lambda f, a, b: Equation(f(a, b), a)),
        law2("stores the difference", lambda f, a, b: Equation(Apply(ID, (a, b)), ap(XOR, a, b))),
    ),
    classes=BITS,
)
