"""The arithmetic of claims: what follows for the result of an operation from what is said of its operands.

Written for the checker alone, over Python's integers. An interval may come out empty: then its place is never
reached, and everything may be said of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.obligations.claims import Bounds

TOP = (1 << 32) - 1
_OPPOSITE = {
    BinaryOp.Lt: BinaryOp.Ge,
    BinaryOp.Le: BinaryOp.Gt,
    BinaryOp.Gt: BinaryOp.Le,
    BinaryOp.Ge: BinaryOp.Lt,
    BinaryOp.Eq: BinaryOp.Ne,
    BinaryOp.Ne: BinaryOp.Eq,
}
_MIRRORED = {BinaryOp.Gt: BinaryOp.Lt, BinaryOp.Ge: BinaryOp.Le}


@dataclass(frozen=True, slots=True)
class Known:
    """`lo <= value <= hi` and `value + rooms[b] <= length of b`."""

    lo: int = 0
    hi: int = TOP
    rooms: Mapping[str, int] = field(default_factory=dict[str, int])

    @classmethod
    def said(cls, bounds: Bounds) -> Known:
        return cls(bounds.lo, bounds.hi, dict(bounds.rooms))

    def also(self, other: Known) -> Known:
        """Both hold."""
        rooms = dict(self.rooms)
        for name, room in other.rooms.items():
            rooms[name] = max(room, rooms.get(name, room))
        return Known(max(self.lo, other.lo), min(self.hi, other.hi), rooms)

    def either(self, other: Known) -> Known:
        """One of them holds."""
        if self.lo > self.hi:
            return other
        if other.lo > other.hi:
            return self
        shared = self.rooms.keys() & other.rooms.keys()
        rooms = {name: min(self.rooms[name], other.rooms[name]) for name in shared}
        return Known(min(self.lo, other.lo), max(self.hi, other.hi), rooms)

    def implies(self, bounds: Bounds, lengths: Mapping[str, int]) -> bool:
        """Whether all that `bounds` says follows; `lengths` are those that the program declares."""
        hi = min([self.hi, *((lengths.get(b) or TOP) - room for b, room in self.rooms.items())])
        if self.lo > hi:
            return True
        rooms = all(self.rooms.get(name, -1) >= room >= 0 for name, room in bounds.rooms)
        return bounds.lo <= self.lo and hi <= bounds.hi and rooms


ANY = Known()
TRUTH = Known(0, 1)


def less_by(amount: int, of: Known) -> dict[str, int]:
    """Room below lengths of what is at least `amount` less."""
    return {name: room + amount for name, room in of.rooms.items() if room + amount >= 0}


def binary(op: BinaryOp, x: Known, y: Known) -> Known:
    """Any two operands within `x` and `y`."""
    match op:
        case BinaryOp.Add if x.hi + y.hi <= TOP:
            return Known(x.lo + y.lo, x.hi + y.hi, less_by(-y.hi, x)).also(Known(rooms=less_by(-x.hi, y)))
        case BinaryOp.Sub if y.hi <= x.lo:
            return Known(x.lo - y.hi, x.hi - y.lo, less_by(y.lo, x))
        case BinaryOp.Mul if x.hi * y.hi <= TOP:
            return Known(x.lo * y.lo, x.hi * y.hi)
        case BinaryOp.Mul:
            return _multiples(_power(x) * _power(y))
        case BinaryOp.Shl if y.hi < 32 and x.hi << y.hi <= TOP:
            return Known(x.lo << y.lo, x.hi << y.hi)
        case BinaryOp.Shl if y.hi < 32:
            return _multiples(1 << y.lo)
        case BinaryOp.Shr if y.hi < 32:
            return Known(x.lo >> y.hi, x.hi >> y.lo, x.rooms)
        case BinaryOp.Shr:
            return Known(0, x.hi, x.rooms)
        case BinaryOp.Div if y.lo:
            return Known(x.lo // y.hi, x.hi // y.lo, x.rooms)
        case BinaryOp.Div:
            return Known(0, x.hi, x.rooms)
        case BinaryOp.Mod if y.lo:
            return Known(0, min(x.hi, y.hi - 1), x.rooms).also(Known(rooms=less_by(1, y)))
        case BinaryOp.Mod:
            return Known(0, min(x.hi, y.hi), x.rooms).also(Known(rooms=y.rooms))
        case BinaryOp.MulHi:
            return Known((x.lo * y.lo) >> 32, (x.hi * y.hi) >> 32, x.rooms).also(
                Known(0, min(x.hi, y.hi), y.rooms)
            )
        case BinaryOp.BitAnd:
            return Known(0, min(x.hi, y.hi), x.rooms).also(Known(rooms=y.rooms))
        case BinaryOp.BitOr:
            return Known(max(x.lo, y.lo), _ones(max(x.hi, y.hi)))
        case BinaryOp.BitXor:
            return Known(0, _ones(max(x.hi, y.hi)))
        case _:
            return TRUTH if op in _OPPOSITE or op in (BinaryOp.And, BinaryOp.Or) else ANY


def unary(op: UnaryOp, x: Known) -> Known:
    match op:
        case UnaryOp.BitNot:
            return Known(TOP - x.hi, TOP - x.lo)
        case UnaryOp.Popcount:
            return Known(min(x.lo, 1), x.hi.bit_length())
        case UnaryOp.Clz:
            return Known(32 - x.hi.bit_length(), 32 - x.lo.bit_length())
        case UnaryOp.Ctz:
            return Known(0, 31 if x.lo else 32)
        case UnaryOp.LogicalNot | UnaryOp.FIsNaN | UnaryOp.FIsInf:
            return TRUTH
        case _:
            return ANY


def truth(x: Known) -> Known:
    """1 where a value is not zero."""
    return Known(1, 1) if x.lo else Known(0, 0) if x.hi == 0 else TRUTH


def from_length(buffer: str, taken: int, y: Known) -> Known:
    """`(length - taken) - y`, where y leaves at least as much room."""
    rest = y.rooms.get(buffer, -1) - taken
    if rest < 0:
        return ANY
    return Known(min(rest, TOP), TOP - taken - y.lo, {buffer: taken + y.lo})


def counted(start: Known, stop: Known) -> Known:
    """A value that is at least `start` and less than `stop`."""
    return Known(start.lo, stop.hi - 1, less_by(1, stop))


def compared(op: BinaryOp, outcome: bool, x: Known, y: Known) -> tuple[Known, Known]:
    """Both sides of a comparison once its outcome is known."""
    if not outcome:
        op = _OPPOSITE[op]
    if op in _MIRRORED:
        y, x = compared(_MIRRORED[op], True, y, x)
        return x, y
    match op:
        case BinaryOp.Lt:
            return x.also(Known(0, y.hi - 1, less_by(1, y))), y.also(Known(x.lo + 1))
        case BinaryOp.Le:
            return x.also(Known(0, y.hi, y.rooms)), y.also(Known(x.lo))
        case BinaryOp.Eq:
            return x.also(y), y.also(x)
        case _:
            return _without(x, y), _without(y, x)


def unequal_to_length(x: Known, buffer: str) -> Known:
    """At most a length and not equal to it is less."""
    return x.also(Known(rooms={buffer: 1})) if x.rooms.get(buffer, -1) >= 0 else x


def _without(x: Known, y: Known) -> Known:
    if y.lo != y.hi:
        return x
    return Known(x.lo + (x.lo == y.lo), x.hi - (x.hi == y.lo), x.rooms)


def _power(x: Known) -> int:
    """A power of two that divides the value."""
    return x.lo & -x.lo if x.lo == x.hi else 1


def _multiples(power: int) -> Known:
    """What stays a multiple of a power of two when it wraps; zero is one of every power."""
    return Known(0, TOP + 1 - power if 0 < power <= TOP else 0)


def _ones(hi: int) -> int:
    return (1 << hi.bit_length()) - 1
