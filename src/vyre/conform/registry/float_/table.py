"""The specs of all strict float operations but the casts, which have their own.

F64 has laws too, and no functions; where a device has no doubles, its operations are refused.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.conform.oracle.floats import doubles
from vyre.conform.oracle.floats.operations import operations
from vyre.conform.registry.float_.conversion import conversion_laws
from vyre.conform.registry.float_.float_inputs import boundaries, classes
from vyre.conform.registry.float_.laws import Laws, laws_of
from vyre.conform.registry.float_.theory import cpu_fn, provable
from vyre.conform.spec.float_names import convert_id, name_of, short
from vyre.conform.spec.op import ExpressionForm, OpSpec
from vyre.ir.signature import OpSignature

if TYPE_CHECKING:
    from vyre.conform.oracle.floats.operations import Operation
    from vyre.ir.expr import Expr


def _laws(operation: Operation) -> Laws:
    op = operation.name.split()[0]
    if op == "Convert":
        return conversion_laws(operation.source, operation.result)
    return laws_of(short(op), operation.source) if provable(operation) else Laws()


def _spec(operation: Operation) -> OpSpec:
    op, *kinds = operation.name.split()
    converts = op == "Convert"
    op_id = convert_id(kinds) if converts else name_of(short(op), operation.source)
    found = _laws(operation)

    def build(operands: tuple[Expr, ...]) -> Expr:
        return operation.build(*operands)

    return OpSpec(
        op_id,
        OpSignature((operation.source,) * operation.arity, operation.result),
        cpu_fn(operation),
        ExpressionForm(build),
        f"{operation.name}, exact to the bit.",
        laws=found.laws,
        properties=found.properties,
        non_laws=found.non_laws,
        classes=classes(operation.source, operation.arity),
        boundaries=boundaries(operation.source, operation.arity),
    )


@cache
def specs() -> tuple[OpSpec, ...]:
    """F32, F16, BF16, then the conversions; F64 last."""
    found = [*operations(), *doubles.operations()]
    return tuple(_spec(o) for o in found if not o.name.startswith("Cast "))
