"""Folds of a range in four chains, as statements of a program: what `approximate.py` is written with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import BinOp, Cast, Expr, Load, Operand, Var, lift, select
from vyre.ir.float_formats import STRICT_FORMATS
from vyre.ir.node import Let, Loop
from vyre.ir.types import DataType
from vyre.numeric.functions.script import Script
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.node import Node
    from vyre.ir.operators import BinaryOp
    from vyre.lower.names import NameSupply

CHAINS = 4
_INFINITY = 0x7F800000


class Block(Script):
    """Steps that become statements of a program, under names of its own."""

    def __init__(self, supply: NameSupply) -> None:
        super().__init__("lower.block", doc="")
        self._supply = supply

    def __call__(self, name: str, value: Operand) -> Var:
        fresh = Var(self._supply.fresh(name))
        self._body.append(Let(fresh.name, lift(value)))
        return fresh

    def add(self, node: Node) -> None:
        self._body.append(node)

    def assign_all(self, variables: Iterable[Var], values: Iterable[Expr]) -> None:
        for variable, value in zip(variables, values, strict=True):
            self.assign(variable, value)

    def loop(self, start: Operand, stop: Operand, body: Callable[[Block, Var], None]) -> None:
        inner, k = Block(self._supply), Var(self._supply.fresh("k"))
        body(inner, k)
        self.add(Loop(k.name, lift(start), lift(stop), inner.nodes))

    def branch(self) -> Block:
        """A block for the body of an `If`."""
        return Block(self._supply)

    @property
    def nodes(self) -> list[Node]:
        return self._body


@dataclass(frozen=True, slots=True)
class FoldedRange:
    """The elements that are folded."""

    buffer: str
    element: DataType
    start: Var
    stop: Var

    @property
    def some(self) -> Expr:
        return self.start < self.stop

    @property
    def layout(self) -> FloatFormat:
        return STRICT_FORMATS[self.element]

    def bits(self, s: Block, k: Expr) -> Expr:
        return s.let(Cast(DataType.U32, Load(self.buffer, k)), "bits")


def in_chains(s: Block, given: FoldedRange, step: Callable[[Block, int, Expr], None]) -> Var:
    """Every element goes to one of the chains, four neighbours to four of them; gives their number."""
    count = s("count", select(given.some, given.stop - given.start, 0))
    rounds = s("rounds", count >> 2)

    def four(inner: Block, k: Var) -> None:
        first = inner("first", given.start + (k << 2))
        for chain in range(CHAINS):
            step(inner, chain, Load(given.buffer, first + chain))

    s.loop(0, rounds, four)
    behind = select(given.some, given.start + (rounds << 2), given.stop)
    s.loop(behind, given.stop, lambda inner, k: step(inner, 0, Load(given.buffer, k)))
    return count


def rounds_alike(s: Block, near: Expr, element: DataType) -> Expr:
    """Whether all that rounds to a single rounds to the same half: where its neighbours do."""
    size = s("near", Cast(DataType.U32, near) & 0x7FFFFFFF)
    below = select(size > 0, size - 1, size)
    above = select(size < _INFINITY, size + 1, size)
    ends = [Cast(DataType.U32, Cast(element, Cast(DataType.F32, end))) for end in (below, above)]
    return ends[0].eq(ends[1])


def f(op: BinaryOp, a: Expr, b: Expr) -> Expr:
    return BinOp(op, a, b)
