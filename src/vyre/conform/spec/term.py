"""The two sides of a law: applications of named ops to variables and constants.

One representation serves all uses. `evaluate` runs a term over any `Domain` with the ops' own definitions;
`conform/spec/program.py` turns it into programs for a backend. Terms name ops by id, so that a term over
a changed definition is the same term with another look-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


NAMES = "abcdefgh"


@dataclass(frozen=True, slots=True)
class Variable:
    """An arbitrary value of a type; `index` is its place among the variables of the law."""

    index: int
    type: DataType = DataType.U32

    def __str__(self) -> str:
        return NAMES[self.index] if self.index < len(NAMES) else f"x{self.index}"


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
