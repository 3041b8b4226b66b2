"""`Add`: the sum modulo 2^32."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import TOP, alternate, binary, class2, denied
from vyre.conform.registry.ids import MUL, SUB
from vyre.conform.spec.law import Associative, Commutative, DistributiveOver, Idempotent, Identity, InverseOf
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V, b: V) -> V:
    return d.add(a, b)


SPEC = binary(
    BinaryOp.Add,
    cpu_fn,
    laws=(Commutative(), Associative(), Identity(0)),
    properties=(InverseOf(SUB),),
    non_laws=denied("own", Idempotent(), DistributiveOver(MUL)),
    classes=(
        class2(
            "no carry",
            lambda d, a, b: d.ule(a, d.add(a, b)),
            lambda d, a, b: (d.shr(a, d.const(1)), d.shr(b, d.const(1))),
        ),
        class2(
            "carry",
            lambda d, a, b: d.ult(d.add(a, b), a),
            lambda d, a, b: (d.or_(a, d.const(TOP)), d.or_(b, d.const(TOP))),
        ),
    ),
    alternates=(alternate("a - -b", lambda x: x[0] - -x[1]),),
)
