"""The value of a term over any `Domain`, by the ops' own definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vyre.conform.spec.term import Apply, Constant, Equation, Relation, Term, Variable
from vyre.errors import OpError
from vyre.semantics.words import fit, mask_of, to_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.spec.op import OpSpec
    from vyre.ir.types import DataType
    from vyre.semantics.domain import Domain, V

Lookup = Callable[[str], "OpSpec"]
"""Gives the spec of an op id; raises `OpError` for an unknown one."""


def type_of(term: Term, lookup: Lookup) -> DataType:
    match term:
        case Variable(type=of) | Constant(type=of):
            return of
        case Apply(op=op, result=result):
            return lookup(op).outputs[result]


def evaluate(term: Term, d: Domain[V], values: Sequence[Sequence[V]], lookup: Lookup) -> tuple[V, ...]:
    """The words of a term. `values[k]` are the words of variable k, cut to its type before use."""
    match term:
        case Variable(index=index, type=of):
            return tuple(fit(d, word, mask_of(of)) for word in values[index])
        case Constant(bits=bits, type=of):
            return tuple(d.const(word) for word in to_words(of, bits))
        case Apply(op=op, args=args, result=result):
            spec = lookup(op)
            words = [word for arg in args for word in evaluate(arg, d, values, lookup)]
            return spec.apply(d, *words)[result]


def holds(equation: Equation, d: Domain[V], values: Sequence[Sequence[V]], lookup: Lookup) -> V:
    """A word that is not zero exactly where the equation is satisfied."""
    left = evaluate(equation.lhs, d, values, lookup)
    right = evaluate(equation.rhs, d, values, lookup)
    true = _related(equation.relation, d, left, right)
    if equation.precondition is None:
        return true
    (condition,) = evaluate(equation.precondition, d, values, lookup)
    return d.ite(condition, true, d.const(1))


def _related(relation: Relation, d: Domain[V], left: tuple[V, ...], right: tuple[V, ...]) -> V:
    if len(left) != len(right) or (relation is not Relation.Eq and len(left) != 1):
        raise OpError(
            f"a side of {len(left)} words is compared with one of {len(right)} by {relation.value}.",
            fix="compare values of one type, and order single words only.",
        )
    match relation:
        case Relation.Eq:
            true = d.eq(left[0], right[0])
            for a, b in zip(left[1:], right[1:], strict=True):
                true = d.and_(true, d.eq(a, b))
            return true
        case Relation.Le:
            return d.ule(left[0], right[0])
        case Relation.Lt:
            return d.ult(left[0], right[0])
