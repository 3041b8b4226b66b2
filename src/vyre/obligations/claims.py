"""Witnesses of bounds: what is said of an expression at a place of the program, and why.

A claim says `lo <= value <= hi` and, for each buffer in `rooms`, `value + room <= length`. Its rule names the
kind of step that leads to it from its premises. Nothing is decided here: this is the data that an analysis
hands over and `check.py` verifies.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Protocol

from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.ir.operators import BinaryOp

BEFORE = -1
Place = tuple[int, int]
"""The number of a statement, and `BEFORE` for where its own expressions are evaluated, or the number of the
branch that was taken (0 for `then` and the body of a loop, 1 for `orelse`)."""

Told = tuple["BinaryOp | None", "Expr", "Expr | None", bool]
"""A comparison and its outcome; without an operator, an expression that is zero or not."""


class Bounds(Protocol):
    """What is said of a u32."""

    @property
    def lo(self) -> int: ...
    @property
    def hi(self) -> int: ...
    @property
    def rooms(self) -> tuple[tuple[str, int], ...]: ...


class Rule(Enum):
    """Why a claim holds."""

    NODE = "from the claims of the operands"
    SELECT = "from condition, both arms and, if it is a comparison, its two sides"
    LET = "the variable was bound to the value of the premise and is never assigned"
    ASSIGNED = "each value that may have been assigned last has a premise"
    LOOP = "the variable of a loop from its start and its stop"
    TOLD = "by the outcome of a condition, from the claims of both sides"
    SUM = "x, from `x + literal` and from what is known of x, which does not wrap"
    MEET = "two claims of the same expression"


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """`says` holds of `expr` whenever `place` is reached, with the values that variables have there."""

    expr: Expr
    place: Place
    says: Bounds
    rule: Rule
    premises: tuple[Claim, ...] = ()
    told: Told | None = None
