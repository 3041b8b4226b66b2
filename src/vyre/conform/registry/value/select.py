"""`Select`: the first value where the condition is not zero, else the second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import U32, c, class3, law2, law3
from vyre.conform.registry.ids import EQ, NE
from vyre.conform.spec.edges import EDGES
from vyre.conform.spec.law import ap
from vyre.conform.spec.op import ExpressionForm, OpSpec
from vyre.conform.spec.term import Equation
from vyre.ir.expr import Select
from vyre.ir.signature import OpSignature

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], condition: V, if_true: V, if_false: V) -> V:
    return d.ite(condition, if_true, if_false)


SPEC = OpSpec(
    "value.select",
    OpSignature((U32, U32, U32), U32),
    cpu_fn,
    ExpressionForm(lambda x: Select(*x)),
    "The first value where the condition is not 0, else the second.",
    properties=(
        law2("select(a, b, b) = b", lambda f, a, b: Equation(f(a, b, b), b)),
        law2("select(0, a, b) = b", lambda f, a, b: Equation(f(c(0), a, b), b)),
        law3(
            "a != 0 => select(a, b, c) = b",
            lambda f, a, b, z: Equation(f(a, b, z), b, precondition=ap(NE, a, c(0))),
        ),
        law3(
            "select(a, b, c) = select(a = 0, c, b)",
            lambda f, a, b, z: Equation(f(a, b, z), f(ap(EQ, a, c(0)), z, b)),
        ),
    ),
    classes=(
        class3("condition 0", lambda d, a, b, z: d.eq(a, d.const(0)), lambda d, a, b, z: (d.const(0), b, z)),
        class3("condition 1", lambda d, a, b, z: d.eq(a, d.const(1)), lambda d, a, b, z: (d.const(1), b, z)),
        class3(
            "condition over 1",
            lambda d, a, b, z: d.ult(d.const(1), a),
            lambda d, a, b, z: (d.or_(a, d.const(2)), b, z),
        ),
    ),
    boundaries=(EDGES, EDGES, EDGES),
)
