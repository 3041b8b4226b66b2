"""What a rewrite rule is: data over the language's own expressions.

A pattern is an expression whose variables are metavariables. `x y z u v w` stand for any expression of
the types the rule lists, `c d` for literals only. The replacement may compute with the literals
(`x << ctz(c)`); the condition is an expression over them that must not be zero. So one language says
what a rule matches, when it holds and what it gives, and one translation of that language proves it.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir.types import VALUE_TYPES, DataType
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Types = tuple[DataType, ...]
Head = tuple[object, object]

CONSTANTS = frozenset({"c", "d"})
"""The metavariables that stand for literals."""

WORDS = (DataType.U32, DataType.I32)
CONDITIONS = (DataType.U32, DataType.Bool)
VALUES = VALUE_TYPES


class Proof(Enum):
    """Which kind of argument decides a rule for all inputs; the tests carry it out."""

    Bits = "bit-vectors"
    Integers = "bit-vectors as integers"
    Cases = "one proof for each power of two"


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` may become `replacement` where `when` holds. Names are unique."""

    name: str
    pattern: e.Expr
    replacement: e.Expr
    when: e.Expr | None = None
    types: Mapping[str, Types] = field(default_factory=dict[str, Types])
    """The types each metavariable may have; U32 where none is given."""
    proof: Proof = Proof.Bits

    def types_of(self, name: str) -> Types:
        """The types a metavariable may have; U32 unless the rule says otherwise."""
        return self.types.get(name, (DataType.U32,))

    @property
    def keeps_order(self) -> bool:
        """True when every metavariable is evaluated as often as before and in the same order.

        Only such a rule may be applied to operands that contain an atomic (decision 1).
        """
        return list(metavariables(self.pattern)) == list(metavariables(self.replacement))


def metavariables(root: e.Expr) -> Iterator[str]:
    """The metavariables for expressions, occurrence by occurrence, in evaluation order."""
    stack = [root]
    while stack:
        expr = stack.pop()
        if isinstance(expr, e.Var) and expr.name not in CONSTANTS:
            yield expr.name
        stack.extend(reversed(expr.children))


def head(expr: e.Expr) -> Head | None:
    """What must agree for a pattern node to match; None for nodes no pattern is made of."""
    match expr:
        case e.BinOp(op=op):
            return e.BinOp, op
        case e.UnOp(op=op):
            return e.UnOp, op
        case e.Select():
            return e.Select, None
        case e.Cast(target=target):
            return e.Cast, target
        case e.Lane(index=index):
            return e.Lane, index
        case e.MakeVec(type=t):
            return e.MakeVec, t
        case _:
            return None


def node_cost(expr: e.Expr) -> int:
    """What one node adds to the measure that every rule lowers; rewriting ends because of it."""
    match expr:
        case e.BinOp(op=op):
            return op.row.cost
        case e.UnOp(op=op):
            return op.row.cost
        case e.Select():
            return 6
        case e.Cast():
            return 3
        case e.Lane():
            return 2
        case e.MakeVec():
            return 4
        case _:
            return 1


def pattern_cost(root: e.Expr) -> int:
    """The measure of a pattern; what is computed from literals alone counts as one literal."""
    if not any(True for _ in metavariables(root)):
        return 1
    return node_cost(root) + sum(pattern_cost(child) for child in root.children)
