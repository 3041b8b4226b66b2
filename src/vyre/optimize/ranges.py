"""What is known of a u32: an interval, and how much room it leaves below the lengths of buffers.

The abstract values of the bounds analysis and the meaning of every operation on them. All of it is sound for
wrapping arithmetic: where a sum may wrap, nothing is known of it. Signed numbers are their bits.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir.limits import U32_MAX
from vyre.ir.operators import INTEGER_COMPARE_OPS, LOGICAL_BINARY_OPS, BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_T = DataType
_WORDS = (_T.U32, _T.I32, _T.Bool)
Rooms = tuple[tuple[str, int], ...]
"""Buffers, sorted by name, each with a number that is not negative."""


@dataclass(frozen=True, slots=True)
class Range:
    """`lo <= value <= hi`, and `value + room <= length` for each buffer in `rooms`.

    A room of one or more means that the value is an index in bounds; a room of zero that it is at most the
    length. A range with `lo > hi` cannot occur: contradictory facts mean that the place is never reached, and
    there every claim is true.
    """

    lo: int = 0
    hi: int = U32_MAX
    rooms: Rooms = ()

    def room(self, buffer: str) -> int:
        """The room that is known below the length of a buffer; -1 where nothing is."""
        return next((room for name, room in self.rooms if name == buffer), -1)

    def meet(self, other: Range) -> Range:
        """What is known when both are."""
        lo, hi = max(self.lo, other.lo), min(self.hi, other.hi)
        return Range(lo, max(lo, hi), _larger(self.rooms, other.rooms))

    def join(self, other: Range) -> Range:
        """What is known when one of them is, and nobody knows which."""
        return Range(min(self.lo, other.lo), max(self.hi, other.hi), _smaller(self.rooms, other.rooms))

    def less(self, amount: int) -> Range:
        """What is known of `x` where this is known of `x + amount`, which did not wrap."""
        lo = max(self.lo - amount, 0)
        return Range(lo, max(self.hi - amount, lo), _moved(self.rooms, amount))

    def below(self) -> Range:
        """What is known of everything that is less than this."""
        return Range(0, max(self.hi - 1, 0), _moved(self.rooms, 1))


def _larger(a: Rooms, b: Rooms) -> Rooms:
    if not a or not b or a == b:
        return a or b
    found = dict(a)
    for name, room in b:
        found[name] = max(room, found.get(name, 0))
    return tuple(sorted(found.items()))


def _smaller(a: Rooms, b: Rooms) -> Rooms:
    known = dict(b)
    return tuple((name, min(room, known[name])) for name, room in a if name in known)


def _moved(rooms: Rooms, by: int) -> Rooms:
    return tuple((name, room + by) for name, room in rooms if room + by >= 0)


ANY = Range()
_TRUTH = Range(0, 1)


def exactly(value: int) -> Range:
    return Range(value, value)


def _up_to(hi: int, *bounds: Range) -> Range:
    """A value that is at most `hi` and at most each of `bounds`."""
    return Range(0, min(hi, *(b.hi for b in bounds)), reduce(_larger, (b.rooms for b in bounds)))


def compared(op: BinaryOp, truth: bool, a: Range, b: Range) -> tuple[Range, Range]:
    """What the outcome of a comparison tells about its two sides."""
    match op, truth:
        case (BinaryOp.Lt, True) | (BinaryOp.Ge, False):
            return _less(a, b)
        case (BinaryOp.Gt, True) | (BinaryOp.Le, False):
            b, a = _less(b, a)
            return a, b
        case (BinaryOp.Le, True) | (BinaryOp.Gt, False):
            return _less_or_equal(a, b)
        case (BinaryOp.Ge, True) | (BinaryOp.Lt, False):
            b, a = _less_or_equal(b, a)
            return a, b
        case (BinaryOp.Eq, True) | (BinaryOp.Ne, False):
            both = a.meet(b)
            return both, both
        case _:
            return _apart(a, b), _apart(b, a)


def _less(a: Range, b: Range) -> tuple[Range, Range]:
    return a.meet(b.below()), b.meet(Range(min(a.lo + 1, U32_MAX)))


def _less_or_equal(a: Range, b: Range) -> tuple[Range, Range]:
    return a.meet(Range(0, b.hi, b.rooms)), b.meet(Range(a.lo))


def _apart(a: Range, b: Range) -> Range:
    """`a` where it is not equal to `b`."""
    if b.lo != b.hi:
        return a
    lo = a.lo + 1 if a.lo == b.lo and a.lo < a.hi else a.lo
    hi = a.hi - 1 if a.hi == b.lo and a.hi > a.lo else a.hi
    return Range(lo, hi, a.rooms)


class Transfer:
    """The range of one node from those of its operands; counts and sizes come from the program.

    `narrow` names the buffers whose elements are loaded without a sign from fewer bits than a word has.
    """

    def __init__(
        self,
        counts: Mapping[str, int],
        workgroup_size: tuple[int, int, int],
        narrow: Mapping[str, int] | None = None,
    ) -> None:
        self._counts = counts
        self._size = workgroup_size
        self._narrow = narrow or {}

    def tighten(self, value: Range) -> Range:
        """Room below a length bounds the number too: a length is the declared count, or any u32."""
        hi = value.hi
        for name, room in value.rooms:
            hi = min(hi, (self._counts.get(name) or U32_MAX) - room)
        return value if hi == value.hi else Range(value.lo, max(hi, value.lo), value.rooms)

    def of(self, expr: e.Expr, operands: tuple[Range, ...], types: tuple[DataType, ...]) -> Range:
        match expr:
            case e.LitU32(value=value) | e.LitI32(value=value):
                return exactly(value & U32_MAX)
            case e.LitBool(value=value):
                return exactly(int(value))
            case e.BufLen(buffer=buffer):
                count = self._counts.get(buffer, 0)
                return Range(count, count or U32_MAX, ((buffer, 0),))
            case e.Load(buffer=buffer) if buffer in self._narrow:
                return Range(0, (1 << self._narrow[buffer]) - 1)
            case e.LocalId(axis=axis) if axis < 3:
                return Range(0, self._size[axis] - 1)
            case e.BinOp(op=op, left=left) if op in _BINARY:
                found = _BINARY[op](*operands)
                return found.meet(_from_length(left, operands[1])) if op is BinaryOp.Sub else found
            case e.BinOp(op=op) if op in INTEGER_COMPARE_OPS or op in LOGICAL_BINARY_OPS:
                return _TRUTH
            case e.UnOp(op=op):
                return _unary(op, operands[0])
            case e.Cast(target=target) if target in _WORDS and types[0] in _WORDS:
                return _to_bool(operands[0]) if target is _T.Bool else operands[0]
            case _:
                return ANY


def _from_length(left: e.Expr, y: Range) -> Range:
    """`len(b) - y` and `len(b) - c - y`, which do not wrap where y leaves that room."""
    match left:
        case e.BufLen(buffer=b):
            taken = 0
        case e.BinOp(op=BinaryOp.Sub, left=e.BufLen(buffer=b), right=e.LitU32(value=taken)):
            pass
        case _:
            return ANY
    rest = min(y.room(b) - taken, U32_MAX)
    return Range(rest, U32_MAX - taken - y.lo, ((b, taken + y.lo),)) if rest >= 0 else ANY


def _add(a: Range, b: Range) -> Range:
    if a.hi + b.hi > U32_MAX:
        return ANY
    return Range(a.lo + b.lo, a.hi + b.hi, _larger(_moved(a.rooms, -b.hi), _moved(b.rooms, -a.hi)))


def _sub(a: Range, b: Range) -> Range:
    return Range(a.lo - b.hi, a.hi - b.lo, _moved(a.rooms, b.lo)) if a.lo >= b.hi else ANY


def _mul(a: Range, b: Range) -> Range:
    if a.hi * b.hi <= U32_MAX:
        return Range(a.lo * b.lo, a.hi * b.hi)
    return _multiple(_factor(a) * _factor(b))


def _factor(a: Range) -> int:
    """A power of two that divides the value."""
    return a.lo & -a.lo if a.lo == a.hi else 1


def _multiple(factor: int) -> Range:
    """Multiples of a power of two: these stay multiples when they wrap, so the greatest one is known."""
    return Range(0, max(U32_MAX + 1 - factor, 0))


def _div(a: Range, b: Range) -> Range:
    smaller = _up_to(a.hi // max(b.lo, 1), a)
    return smaller.meet(Range(a.lo // b.hi)) if b.lo > 0 else smaller


def _mod(a: Range, b: Range) -> Range:
    rest = _up_to(U32_MAX, a)
    if b.lo == 0:  # x % 0 is 0, which is not below an empty buffer
        return rest.meet(Range(0, b.hi, b.rooms))
    return rest.meet(b.below())


def _and(a: Range, b: Range) -> Range:
    return _up_to(U32_MAX, a, b)


def _or(a: Range, b: Range) -> Range:
    return Range(max(a.lo, b.lo), (1 << max(a.hi, b.hi).bit_length()) - 1)


def _xor(a: Range, b: Range) -> Range:
    return Range(0, (1 << max(a.hi, b.hi).bit_length()) - 1)


def _shl(a: Range, b: Range) -> Range:
    if b.hi > 31:
        return ANY
    return Range(a.lo << b.lo, a.hi << b.hi) if a.hi << b.hi <= U32_MAX else _multiple(1 << b.lo)


def _shr(a: Range, b: Range) -> Range:
    if b.hi > 31:
        return _up_to(a.hi, a)
    return _up_to(a.hi >> b.lo, a).meet(Range(a.lo >> b.hi))


def _mul_hi(a: Range, b: Range) -> Range:
    return _up_to(a.hi * b.hi >> 32, a, b).meet(Range(a.lo * b.lo >> 32))


_BINARY: dict[BinaryOp, Callable[[Range, Range], Range]] = {
    BinaryOp.Add: _add,
    BinaryOp.Sub: _sub,
    BinaryOp.Mul: _mul,
    BinaryOp.Div: _div,
    BinaryOp.Mod: _mod,
    BinaryOp.BitAnd: _and,
    BinaryOp.BitOr: _or,
    BinaryOp.BitXor: _xor,
    BinaryOp.Shl: _shl,
    BinaryOp.Shr: _shr,
    BinaryOp.MulHi: _mul_hi,
}


def _unary(op: UnaryOp, a: Range) -> Range:
    match op:
        case UnaryOp.BitNot:
            return Range(U32_MAX - a.hi, U32_MAX - a.lo)
        case UnaryOp.LogicalNot | UnaryOp.FIsNaN | UnaryOp.FIsInf:
            return _TRUTH
        case UnaryOp.Popcount:
            return Range(int(a.lo > 0), a.hi.bit_length())
        case UnaryOp.Clz:
            return Range(32 - a.hi.bit_length(), 32 - a.lo.bit_length())
        case UnaryOp.Ctz:
            return Range(0, 31 if a.lo > 0 else 32)
        case _:
            return ANY


def _to_bool(a: Range) -> Range:
    return exactly(1) if a.lo > 0 else exactly(0) if a.hi == 0 else _TRUTH
