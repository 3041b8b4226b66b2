"""`Load`: the element in bounds, 0 out of bounds; a Bool is normalised (decision 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import U32, c, class3, law3
from vyre.conform.registry.classes import ordered, swapped
from vyre.conform.registry.ids import GE, LT, NE
from vyre.conform.spec.edges import EDGES
from vyre.conform.spec.law import Bounded, ap
from vyre.conform.spec.op import LoadForm, OpSpec
from vyre.conform.spec.term import Equation
from vyre.ir.signature import OpSignature
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], index: V, length: V, element: V) -> V:
    return d.ite(d.ult(index, length), element, d.const(0))


def bool_cpu_fn(d: Domain[V], index: V, length: V, element: V) -> V:
    return d.ite(d.ult(index, length), d.ne(element, d.const(0)), d.const(0))


CLASSES = (
    class3("in bounds", lambda d, i, n, x: d.ult(i, n), lambda d, i, n, x: (*ordered(d, i, n), x)),
    class3("one past the end", lambda d, i, n, x: d.eq(i, n), lambda d, i, n, x: (n, n, x)),
    class3("out of bounds", lambda d, i, n, x: d.ule(n, i), lambda d, i, n, x: (*swapped(d, i, n), x)),
    class3("empty buffer", lambda d, i, n, x: d.eq(n, d.const(0)), lambda d, i, n, x: (i, d.const(0), x)),
)
OUT_OF_BOUNDS = law3(
    "index >= length => 0", lambda f, i, n, x: Equation(f(i, n, x), c(0), precondition=ap(GE, i, n))
)

SPEC = OpSpec(
    "memory.load.u32",
    OpSignature((U32, U32, U32), U32),
    cpu_fn,
    LoadForm(U32),
    "The element at an index, 0 out of bounds; operands (index, length, element).",
    properties=(
        OUT_OF_BOUNDS,
        law3(
            "index < length => the element",
            lambda f, i, n, x: Equation(f(i, n, x), x, precondition=ap(LT, i, n)),
        ),
    ),
    classes=CLASSES,
    boundaries=(EDGES, EDGES, EDGES),
)

BOOL_SPEC = OpSpec(
    "memory.load.bool",
    OpSignature((U32, U32, U32), DataType.Bool),
    bool_cpu_fn,
    LoadForm(DataType.Bool),
    "A Bool at an index, any element but 0 read as 1; operands (index, length, element).",
    laws=(Bounded(0, 1),),
    properties=(
        law3(
            "index < length => (element != 0)",
            lambda f, i, n, x: Equation(f(i, n, x), ap(NE, x, c(0)), precondition=ap(LT, i, n)),
        ),
        law3(
            "index >= length => 0", lambda f, i, n, x: Equation(f(i, n, x), c(0), precondition=ap(GE, i, n))
        ),
    ),
    classes=CLASSES,
    boundaries=(EDGES, EDGES, EDGES),
)
