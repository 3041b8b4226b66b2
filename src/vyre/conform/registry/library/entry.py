"""The row of a table: an op of the library by its id, what it means, and what it promises."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, overload

from vyre.conform.spec.law import Custom
from vyre.conform.spec.op import ExpressionForm, OpSpec
from vyre.ir.expr import Call, Expr
from vyre.ir.types import DataType
from vyre.ops import standard_ops

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.conform.registry.build import Claim, Func
    from vyre.conform.spec.law import AlgebraicLaw
    from vyre.conform.spec.op import EquivalenceClass, NonLaw
    from vyre.conform.spec.term import Term
    from vyre.ir.op import Op

U32, I32, U64, U128 = DataType.U32, DataType.I32, DataType.U64, DataType.U128


@dataclass(frozen=True, slots=True)
class Promise:
    """What is declared of one op: `laws` are of the kinds that have a name, `properties` of its own."""

    cpu_fn: Callable[..., Any]
    laws: tuple[AlgebraicLaw, ...] = ()
    properties: tuple[AlgebraicLaw, ...] = ()
    non_laws: tuple[NonLaw, ...] = ()


@cache
def _library() -> Mapping[str, Op]:
    return {op.id: op for op in standard_ops()}


def entry(
    op_id: str,
    promise: Promise,
    classes: tuple[EquivalenceClass, ...],
    boundaries: tuple[tuple[int, ...], ...],
) -> OpSpec:
    """The spec of an op of the library, with its signature and its sentence."""
    op = _library()[op_id]

    def build(operands: tuple[Expr, ...]) -> Expr:
        return Call(op_id, operands)

    return OpSpec(
        op_id,
        op.signature,
        promise.cpu_fn,
        ExpressionForm(build),
        op.doc.replace("`", ""),
        laws=promise.laws,
        properties=promise.properties,
        non_laws=promise.non_laws,
        classes=classes,
        boundaries=boundaries,
    )


@overload
def about(name: str, types: tuple[DataType], predicate: Callable[[Func, Term], Claim]) -> Custom: ...
@overload
def about(
    name: str, types: tuple[DataType, DataType], predicate: Callable[[Func, Term, Term], Claim]
) -> Custom: ...
@overload
def about(
    name: str,
    types: tuple[DataType, DataType, DataType],
    predicate: Callable[[Func, Term, Term, Term], Claim],
) -> Custom: ...
@overload
def about(
    name: str,
    types: tuple[DataType, DataType, DataType, DataType],
    predicate: Callable[[Func, Term, Term, Term, Term], Claim],
) -> Custom: ...
def about(name: str, types: tuple[DataType, ...], predicate: Callable[..., Claim]) -> Custom:
    """A law of values of these types."""
    return Custom(name, predicate, types)
