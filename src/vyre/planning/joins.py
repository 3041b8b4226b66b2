"""How two elements are joined in a reduction or a scan, and the bits that stand for nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.graph.nodes import Joining
from vyre.ir.expr import BinOp, Cast, Expr, LitU32, Select, UnOp
from vyre.ir.float_formats import FORMATS
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.planning.numbers import literal

if TYPE_CHECKING:
    from vyre.ir.types import DataType as Type

T = DataType
_FLOAT = {
    Joining.Add: BinaryOp.FAdd,
    Joining.Mul: BinaryOp.FMul,
    Joining.FMin: BinaryOp.FMin,
    Joining.FMax: BinaryOp.FMax,
}
_INTEGER = {
    Joining.Add: BinaryOp.Add,
    Joining.Mul: BinaryOp.Mul,
    Joining.And: BinaryOp.BitAnd,
    Joining.Or: BinaryOp.BitOr,
    Joining.Xor: BinaryOp.BitXor,
}
LEAST = (Joining.Min, Joining.ArgMin)
MOVES = (Joining.Min, Joining.Max, Joining.ArgMin, Joining.ArgMax)
"""Those that choose one of the elements and keep its bits."""


@dataclass(frozen=True, slots=True)
class Join:
    """One way to join elements. `kind` is the type in which they are joined, `element` that of the source."""

    joining: Joining
    kind: Type
    element: Type

    @property
    def ordered(self) -> bool:
        """Whether the order shows in the bits."""
        return self.kind.is_float and self.joining in (Joining.Add, Joining.Mul)

    def of(self, first: Expr, second: Expr) -> Expr:
        """Two values joined; names, because they may appear twice."""
        if self.joining in MOVES:
            return Select(self.beats(second, first), second, first)
        return BinOp((_FLOAT if self.kind.is_float else _INTEGER)[self.joining], first, second)

    def beats(self, later: Expr, earlier: Expr) -> Expr:
        """Whether the later of two values is the one that is chosen: never among equals."""
        if self.kind.is_float:
            # A NaN compares as false: it is greater than every number, and the first of several stays.
            least = self.joining in LEAST
            stays = BinOp(BinaryOp.FGe if least else BinaryOp.FLe, later, earlier)
            return (stays | UnOp(UnaryOp.FIsNaN, later if least else earlier)).eq(0)
        below = BinaryOp.Lt if self.joining in LEAST else BinaryOp.Gt
        return BinOp(below, self._ranked(later), self._ranked(earlier))

    def _ranked(self, value: Expr) -> Expr:
        """A word whose order as U32 is that of the value."""
        match self.kind:
            case T.I32:
                return Cast(T.U32, value) ^ LitU32(0x8000_0000)
            case T.Bool:
                return Cast(T.U32, value)
            case _:
                return value

    def filling(self) -> Expr:
        """What changes nothing when it is joined behind another value, but a NaN to the canonical one."""
        if self.kind.is_float and self.joining is not Joining.Max:
            words = FORMATS[self.kind]
            bits = {Joining.Add: words.sign, Joining.Mul: words.one}.get(self.joining, words.nan)
            return literal(self.kind, bits)
        return self.empty()

    def empty(self) -> Expr:
        """What nothing joined gives (decision 9)."""
        if self.kind.is_float:
            words = FORMATS[self.kind]
            match self.joining:
                case Joining.Add:
                    bits = 0
                case Joining.Mul:
                    bits = words.one
                case Joining.FMin | Joining.Min:
                    bits = words.infinity
                case _:
                    bits = words.sign | words.infinity
            return literal(self.kind, bits)
        if self.joining in MOVES:
            return literal(self.element, _extreme(self.element, greatest=self.joining in LEAST))
        bits = {Joining.Mul: 1, Joining.And: 0xFFFF_FFFF}.get(self.joining, 0)
        return literal(self.kind, bits)


def _extreme(element: DataType, *, greatest: bool) -> int:
    """The bits of the greatest or the least number of an integer element."""
    if element is T.Bool:
        return int(greatest)
    signed = element in (T.I32, T.I16, T.I8)
    if greatest:
        return (1 << (element.bits - signed)) - 1
    return 1 << (element.bits - 1) if signed else 0
