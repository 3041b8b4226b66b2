"""`Lane` and `MakeVec`, one spec per type and lane: lane k is word k."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import MAX, TOP, U32
from vyre.conform.spec.law import Custom, ap
from vyre.conform.spec.op import EquivalenceClass, ExpressionForm, OpSpec
from vyre.conform.spec.term import Equation
from vyre.ir.expr import Expr, Lane, MakeVec
from vyre.ir.signature import OpSignature
from vyre.ir.types import LANE_TYPES, DataType

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.registry.build import Func
    from vyre.conform.spec.term import Term
    from vyre.semantics.domain import Domain, V

_EDGES = (0, 1, TOP, MAX)


def make_id(of: DataType) -> str:
    return f"value.make_vec.{of.value.lower()}"


def lane_id(of: DataType, index: int) -> str:
    return f"value.lane.{of.value.lower()}.{index}"


def _words(d: Domain[V], *words: V) -> tuple[V, ...]:
    return words


def _picked(index: int) -> Callable[..., object]:
    def cpu_fn(d: Domain[V], *words: V) -> V:
        return words[index]

    return cpu_fn


def distinct_class(count: int) -> EquivalenceClass:
    """Every lane another value: the inputs that show a swap."""

    def contains(d: Domain[V], *words: V) -> V:
        true = d.const(1)
        for k in range(count):
            for j in range(k):
                true = d.and_(true, d.ne(words[k], words[j]))
        return true

    def sample(d: Domain[V], *words: V) -> tuple[V, ...]:
        mask = d.const(MAX - 3)
        return tuple(d.or_(d.and_(word, mask), d.const(k)) for k, word in enumerate(words))

    return EquivalenceClass("lanes differ", contains, sample)


def any_class(name: str = "any value") -> EquivalenceClass:
    def contains(d: Domain[V], *words: V) -> V:
        return d.const(1)

    return EquivalenceClass(name, contains, _words)


def _lane(of: DataType, index: int) -> OpSpec:
    def build(operands: tuple[Expr, ...]) -> Expr:
        return Lane(operands[0], index)

    def made(f: Func, *lanes: Term) -> Equation:
        return Equation(f(ap(make_id(of), *lanes)), lanes[index])

    name = f"lane {index} of what was made is what went in"
    return OpSpec(
        lane_id(of, index),
        OpSignature((of,), U32),
        _picked(index),
        ExpressionForm(build),
        f"Lane {index} of a {of.value}.",
        properties=(Custom(name, made, (U32,) * of.lanes),),
        classes=(any_class(), distinct_class(of.lanes)),
        boundaries=(_EDGES,) * of.lanes,
    )


def _make(of: DataType) -> OpSpec:
    def build(operands: tuple[Expr, ...]) -> Expr:
        return MakeVec(of, operands)

    def whole(f: Func, value: Term) -> Equation:
        return Equation(f(*(ap(lane_id(of, k), value) for k in range(of.lanes))), value)

    return OpSpec(
        make_id(of),
        OpSignature((U32,) * of.lanes, of),
        _words,
        ExpressionForm(build),
        f"A {of.value} from its lanes.",
        properties=(Custom("making from the lanes gives the value", whole, (of,)),),
        classes=(any_class(), distinct_class(of.lanes)),
        boundaries=(_EDGES,) * of.lanes,
    )


def specs() -> list[OpSpec]:
    types = [t for t in DataType if t in LANE_TYPES]
    return [
        *(_lane(t, k) for t in types for k in range(t.lanes)),
        *(_make(t) for t in types),
    ]
