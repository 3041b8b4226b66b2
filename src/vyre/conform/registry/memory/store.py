"""`Store`: changes the one element at its index, in bounds; nothing anywhere out of bounds.

The definition says what becomes of the element at an arbitrary place `at`, so it covers the written
element, every other one, and buffers of every length at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.registry.build import MAX, TOP, U32, Func
from vyre.conform.registry.classes import ordered, swapped
from vyre.conform.registry.ids import GE, LT, NE
from vyre.conform.spec.law import Custom, ap
from vyre.conform.spec.op import EquivalenceClass, OpSpec, StoreForm
from vyre.conform.spec.term import Equation, Term
from vyre.ir.signature import OpSignature

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V

_EDGES = (0, 1, 31, 32, TOP, MAX)


def cpu_fn(d: Domain[V], index: V, length: V, at: V, old: V, value: V) -> V:
    written = d.and_(d.ult(index, length), d.eq(index, at))
    return d.ite(written, value, old)


def _written(f: Func, i: Term, n: Term, old: Term, value: Term) -> Equation:
    return Equation(f(i, n, i, old, value), value, precondition=ap(LT, i, n))


def _elsewhere(f: Func, i: Term, n: Term, at: Term, old: Term, value: Term) -> Equation:
    return Equation(f(i, n, at, old, value), old, precondition=ap(NE, i, at))


def _outside(f: Func, i: Term, n: Term, at: Term, old: Term, value: Term) -> Equation:
    return Equation(f(i, n, at, old, value), old, precondition=ap(GE, i, n))


def _read_back(f: Func, i: Term, n: Term, old: Term, value: Term) -> Equation:
    load = "memory.load.u32"
    return Equation(ap(load, i, n, f(i, n, i, old, value)), ap(load, i, n, value))


def _in_bounds(d: Domain[Any], i: Any, n: Any, at: Any, old: Any, value: Any) -> Any:
    return d.ult(i, n)


def _into_bounds(d: Domain[Any], i: Any, n: Any, at: Any, old: Any, value: Any) -> Any:
    low, high = ordered(d, i, n)
    return low, high, low, old, value


def _past(d: Domain[Any], i: Any, n: Any, at: Any, old: Any, value: Any) -> Any:
    return d.ule(n, i)


def _beyond(d: Domain[Any], i: Any, n: Any, at: Any, old: Any, value: Any) -> Any:
    high, low = swapped(d, i, n)
    return high, low, at, old, value


SPEC = OpSpec(
    "memory.store.u32",
    OpSignature((U32,) * 5, U32),
    cpu_fn,
    StoreForm(U32),
    "The element at `at` after a store; operands (index, length, at, old, value).",
    properties=(
        Custom("index < length => the value is there", _written),
        Custom("at != index => nothing changes there", _elsewhere),
        Custom("index >= length => nothing changes", _outside),
        Custom("a load gives what was stored", _read_back),
    ),
    classes=(
        EquivalenceClass("in bounds", _in_bounds, _into_bounds),
        EquivalenceClass("out of bounds", _past, _beyond),
    ),
    boundaries=(_EDGES,) * 5,
)
