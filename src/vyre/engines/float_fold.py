"""What the two float reductions share: the operation, its types, and the words that stand for nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.ir.expr import BinOp, Expr
from vyre.ir.float_formats import STRICT_FORMATS
from vyre.ir.operators import BinaryOp, ReduceOp

if TYPE_CHECKING:
    from vyre.ir.types import DataType

_OPERATOR = {
    ReduceOp.Add: BinaryOp.FAdd,
    ReduceOp.Mul: BinaryOp.FMul,
    ReduceOp.Min: BinaryOp.FMin,
    ReduceOp.Max: BinaryOp.FMax,
}


@dataclass(frozen=True, slots=True)
class Fold:
    """An operation over a float type."""

    op: ReduceOp
    element: DataType

    def __post_init__(self) -> None:
        if self.element not in STRICT_FORMATS:
            raise VyreError(
                f"no engine reduces {self.element.value}.",
                fix=f"use one of {', '.join(t.value for t in STRICT_FORMATS)}.",
            )


@lru_cache(maxsize=64)
def fold_named(op: str, element: DataType) -> Fold:
    """The fold by add, mul, min or max. Raises `VyreError` for another name."""
    found = {o.value.lower(): o for o in ReduceOp}.get(op)
    if found is None:
        raise VyreError(f"no float reduction is called {op!r}.", fix="use add, mul, min or max.")
    return Fold(found, element)


def join(fold: Fold, left: Expr, right: Expr) -> Expr:
    return BinOp(_OPERATOR[fold.op], left, right)


def filling(fold: Fold) -> int:
    """Bits that change no value they are joined with."""
    words = STRICT_FORMATS[fold.element]
    match fold.op:
        case ReduceOp.Add:
            return words.sign
        case ReduceOp.Mul:
            return words.one
        case ReduceOp.Min | ReduceOp.Max:
            return words.nan


def empty_bits(fold: Fold) -> int:
    """The result over nothing (decision 9)."""
    words = STRICT_FORMATS[fold.element]
    match fold.op:
        case ReduceOp.Add:
            return 0
        case ReduceOp.Mul:
            return words.one
        case ReduceOp.Min:
            return words.infinity
        case ReduceOp.Max:
            return words.sign | words.infinity
