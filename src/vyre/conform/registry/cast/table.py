"""Specs for every row of the cast table (decision 6), each by its rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.registry.cast import float_casts as floats
from vyre.conform.registry.cast.cast_inputs import boundaries, classes
from vyre.conform.registry.cast.names import cast_id
from vyre.conform.registry.cast.properties import properties
from vyre.conform.spec.op import ExpressionForm, OpSpec
from vyre.conform.spec.words import word_count
from vyre.ir.expr import Cast, Expr
from vyre.ir.signature import OpSignature
from vyre.ir.types import DataType
from vyre.ir.typing import CAST_TABLE, CastRule

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.semantics.domain import Domain

T = DataType


def _kept(d: Domain[Any], *words: Any) -> Any:
    return words


def _truth(d: Domain[Any], *words: Any) -> Any:
    every = words[0]
    for word in words[1:]:
        every = d.or_(every, word)
    return d.ne(every, d.const(0))


def _extended(target: DataType, *, signed: bool) -> Callable[..., Any]:
    def cpu_fn(d: Domain[Any], *words: Any) -> Any:
        sign = d.sub(d.const(0), d.shr(words[0], d.const(31))) if signed else d.const(0)
        return (*words, *(sign,) * (word_count(target) - len(words)))

    return cpu_fn


def _splat(target: DataType) -> Callable[..., Any]:
    def cpu_fn(d: Domain[Any], word: Any) -> Any:
        return (word,) * word_count(target)

    return cpu_fn


def _lowest(target: DataType) -> Callable[..., Any]:
    def cpu_fn(d: Domain[Any], *words: Any) -> Any:
        return words[: word_count(target)]

    return cpu_fn


def _low_half(d: Domain[Any], word: Any) -> Any:
    return d.and_(word, d.const(0xFFFF))


_FLOATS: dict[tuple[DataType, DataType], Callable[..., Any]] = {
    (T.F16, T.F32): floats.half_to_single,
    (T.F32, T.F16): floats.single_to_half,
    (T.BF16, T.F32): floats.brain_to_single,
    (T.F32, T.BF16): floats.single_to_brain,
    (T.F32, T.F64): floats.single_to_double,
    (T.F64, T.F32): floats.double_to_single,
}


def _definition(source: DataType, target: DataType, rule: CastRule) -> Callable[..., Any]:
    match rule:
        case CastRule.Identity | CastRule.Bitcast | CastRule.FromBool | CastRule.ZeroExtendHalf:
            return _kept
        case CastRule.ToBool:
            return _truth
        case CastRule.ZeroExtend | CastRule.SignExtend:
            return _extended(target, signed=rule is CastRule.SignExtend)
        case CastRule.Splat:
            return _splat(target)
        case CastRule.LowLanes:
            return _lowest(target)
        case CastRule.LowHalf:
            return _low_half
        case CastRule.Widen | CastRule.Round:
            return _FLOATS[source, target]


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
