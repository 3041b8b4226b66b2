"""The two sides of a law: applications of named ops to variables and constants.

One representation serves all uses. `evaluate` runs a term over any `Domain` with the ops' own definitions;
`conform/spec/program.py` turns it into programs for a backend. Terms name ops by id, so that a term over
a changed definition is the same term with another look-up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from vyre.errors import OpError
from vyre.ir.types import DataType
from vyre.semantics.words import fit, mask_of, to_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vyre.conform.spec.op import OpSpec
    from vyre.semantics.domain import Domain, V

NAMES = "abcdefgh"

Lookup = Callable[[str], "OpSpec"]
"""Gives the spec of an op id; raises `OpError` for an unknown one."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An arbitrary value of a type; `index` is its place among the variables of the law."""

    index: int
    type: DataType = DataType.U32

    def __str__(self) -> str:
        return NAMES[self.index]


@dataclass(frozen=True, slots=True)
class Constant:
    bits: int
    type: DataType = DataType.U32

    def __str__(self) -> str:
        return str(self.bits) if self.bits < 1024 else f"0x{self.bits:X}"


@dataclass(frozen=True, slots=True)
class Apply:
    """One op on arguments; `result` picks one result where an op has several (atomics)."""

    op: str
    args: tuple[Term, ...]
    result: int = 0

    def __str__(self) -> str:
        mark = f"[{self.result}]" if self.result else ""
        return f"{short_name(self.op)}{mark}({', '.join(map(str, self.args))})"


Term = Variable | Constant | Apply


class Relation(Enum):
    """How the left side stands to the right side; the orders are unsigned, on single words."""

    Eq = "="
    Le = "<="
    Lt = "<"


@dataclass(frozen=True, slots=True)
class Equation:
    """`lhs relation rhs` for all values of the variables for which `precondition` is not zero.

    The op under test is applied on the left; the right side holds it only where a law has it there.
    """

    lhs: Term
    rhs: Term
    relation: Relation = Relation.Eq
    precondition: Term | None = None

    def __str__(self) -> str:
        condition = f"{self.precondition} => " if self.precondition else ""
        return f"{condition}{self.lhs} {self.relation.value} {self.rhs}"

    @property
    def terms(self) -> tuple[Term, ...]:
        return (self.lhs, self.rhs) if self.precondition is None else (self.lhs, self.rhs, self.precondition)


def short_name(op_id: str) -> str:
    """`primitive.bitwise.and` is `bitwise.and` in a formula, because `and` alone is two ops."""
    return op_id.removeprefix("primitive.")


def subterms(term: Term) -> Iterator[Term]:
    """Every term inside, arguments before the application."""
    if isinstance(term, Apply):
        for arg in term.args:
            yield from subterms(arg)
    yield term


def variables(equations: Sequence[Equation]) -> tuple[Variable, ...]:
    """The variables of the equations, by index."""
    found = {v.index: v for e in equations for t in e.terms for v in subterms(t) if isinstance(v, Variable)}
    return tuple(found[k] for k in sorted(found))


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
