"""Specs for every row of the cast table (decision 6), each by its rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.registry.cast import float_casts as floats
from vyre.conform.registry.cast.cast_inputs import boundaries, classes
from vyre.conform.registry.cast.names import cast_id
from vyre.conform.registry.cast.properties import properties
from vyre.conform.spec.op import ExpressionForm, OpSpec
from vyre.ir.expr import Cast, Expr
from vyre.ir.signature import OpSignature
from vyre.ir.types import DataType
from vyre.ir.typing import CAST_TABLE
from vyre.semantics.casts import FLOAT_RULES, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.typing import CastRule
    from vyre.semantics.domain import Domain, V

T = DataType


_FLOATS: dict[tuple[DataType, DataType], Callable[..., Any]] = {
    (T.F16, T.F32): floats.half_to_single,
    (T.F32, T.F16): floats.single_to_half,
    (T.BF16, T.F32): floats.brain_to_single,
    (T.F32, T.BF16): floats.single_to_brain,
    (T.F32, T.F64): floats.single_to_double,
    (T.F64, T.F32): floats.double_to_single,
}


def _definition(source: DataType, target: DataType, rule: CastRule) -> Callable[..., Any]:
    if rule in FLOAT_RULES:
        return _FLOATS[source, target]

    def cpu_fn(d: Domain[V], *words: V) -> tuple[V, ...]:
        return cast(d, rule, target, words)

    return cpu_fn


def _spec(source: DataType, target: DataType, rule: CastRule) -> OpSpec:
    def build(operands: tuple[Expr, ...]) -> Expr:
        return Cast(target, operands[0])

    return OpSpec(
        cast_id(source, target),
        OpSignature((source,), target),
        _definition(source, target, rule),
        ExpressionForm(build),
        f"{source.value} to {target.value}: {rule.value}.",
        properties=properties(source, target, rule),
        classes=classes(source, rule),
        boundaries=boundaries(source),
    )


def specs() -> list[OpSpec]:
    """One spec per pair that a program can write; a Bytes value never stands in an expression."""
    return [_spec(s, t, rule) for (s, t), rule in CAST_TABLE.items() if DataType.Bytes not in (s, t)]
