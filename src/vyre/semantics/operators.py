"""What each integer operator means, written once as steps on u32 words of any `Domain`.

    BINARY, UNARY     the definition of every operator
    select            what `Select` gives

Arithmetic is modulo 2^32, division and remainder by zero are 0, shift amounts count modulo 32, and
comparisons and logic give 0 or 1. The bits do not depend on the sign, so operators that take I32 as well
have one definition. Specs, proofs and runs on arrays all read these; the reference interpreter does not,
because it is what they are compared with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.ir.operators import BinaryOp, UnaryOp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.semantics.domain import Domain, V

    Unary = Callable[[Domain[Any], Any], Any]
    Binary = Callable[[Domain[Any], Any, Any], Any]

_HALVINGS = (4, 3, 2, 1, 0)
_SWAPS = ((1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0F0F_0F0F), (8, 0x00FF_00FF), (16, 0xFFFF))


def add(d: Domain[V], a: V, b: V) -> V:
    return d.add(a, b)


def sub(d: Domain[V], a: V, b: V) -> V:
    return d.sub(a, b)


def mul(d: Domain[V], a: V, b: V) -> V:
    return d.mul(a, b)


def div(d: Domain[V], a: V, b: V) -> V:
    return d.udiv(a, b)


def mod(d: Domain[V], a: V, b: V) -> V:
    return d.urem(a, b)


def bit_and(d: Domain[V], a: V, b: V) -> V:
    return d.and_(a, b)


def bit_or(d: Domain[V], a: V, b: V) -> V:
    return d.or_(a, b)


def bit_xor(d: Domain[V], a: V, b: V) -> V:
    return d.xor(a, b)


def shl(d: Domain[V], a: V, b: V) -> V:
    return d.shl(a, b)


def shr(d: Domain[V], a: V, b: V) -> V:
    return d.shr(a, b)


def eq(d: Domain[V], a: V, b: V) -> V:
    return d.eq(a, b)


def ne(d: Domain[V], a: V, b: V) -> V:
    return d.ne(a, b)


def lt(d: Domain[V], a: V, b: V) -> V:
    return d.ult(a, b)


def gt(d: Domain[V], a: V, b: V) -> V:
    return d.ult(b, a)


def le(d: Domain[V], a: V, b: V) -> V:
    return d.ule(a, b)


def ge(d: Domain[V], a: V, b: V) -> V:
    return d.ule(b, a)


def logical_and(d: Domain[V], a: V, b: V) -> V:
    zero = d.const(0)
    return d.and_(d.ne(a, zero), d.ne(b, zero))


def logical_or(d: Domain[V], a: V, b: V) -> V:
    zero = d.const(0)
    return d.or_(d.ne(a, zero), d.ne(b, zero))


def mul_hi(d: Domain[V], a: V, b: V) -> V:
    """The high 32 bits of the product, from four products of halves."""
    low = d.const(0xFFFF)
    half = d.const(16)
    a0, a1 = d.and_(a, low), d.shr(a, half)
    b0, b1 = d.and_(b, low), d.shr(b, half)
    left, right = d.mul(a1, b0), d.mul(a0, b1)
    middle = d.add(d.shr(d.mul(a0, b0), half), d.add(d.and_(left, low), d.and_(right, low)))
    upper = d.add(d.mul(a1, b1), d.add(d.shr(left, half), d.shr(right, half)))
    return d.add(upper, d.shr(middle, half))


def negate(d: Domain[V], a: V) -> V:
    return d.add(d.not_(a), d.const(1))


def bit_not(d: Domain[V], a: V) -> V:
    return d.not_(a)


def logical_not(d: Domain[V], a: V) -> V:
    return d.eq(a, d.const(0))


def popcount(d: Domain[V], a: V) -> V:
    """Neighbours are added: bits to pairs, pairs to fours, and so on."""
    pairs = d.sub(a, d.and_(d.shr(a, d.const(1)), d.const(0x5555_5555)))
    threes = d.const(0x3333_3333)
    fours = d.add(d.and_(pairs, threes), d.and_(d.shr(pairs, d.const(2)), threes))
    bytes_ = d.and_(d.add(fours, d.shr(fours, d.const(4))), d.const(0x0F0F_0F0F))
    halves = d.add(bytes_, d.shr(bytes_, d.const(8)))
    return d.and_(d.add(halves, d.shr(halves, d.const(16))), d.const(63))


def clz(d: Domain[V], a: V) -> V:
    """By halving: where the upper half is empty, count it and move the lower half up."""
    zero = d.const(0)
    count = zero
    rest = a
    for power in _HALVINGS:
        step = 1 << power
        by = d.shl(d.eq(d.shr(rest, d.const(32 - step)), zero), d.const(power))
        count = d.add(count, by)
        rest = d.shl(rest, by)
    return d.ite(a, count, d.const(32))


def ctz(d: Domain[V], a: V) -> V:
    """By halving: where the lower half is empty, count it and move the upper half down."""
    zero = d.const(0)
    count = zero
    rest = a
    for power in _HALVINGS:
        step = 1 << power
        by = d.shl(d.eq(d.and_(rest, d.const((1 << step) - 1)), zero), d.const(power))
        count = d.add(count, by)
        rest = d.shr(rest, by)
    return d.ite(a, count, d.const(32))


def reverse_bits(d: Domain[V], a: V) -> V:
    """Neighbours are swapped: bits, pairs, fours, bytes, halves."""
    x = a
    for step, mask in _SWAPS:
        by, low = d.const(step), d.const(mask)
        x = d.or_(d.shl(d.and_(x, low), by), d.and_(d.shr(x, by), low))
    return x


def select(d: Domain[V], condition: V, a: tuple[V, ...], b: tuple[V, ...]) -> tuple[V, ...]:
    """A whole value of as many words as its type has: `a` where the condition is not zero, else `b`."""
    return tuple([d.ite(condition, x, y) for x, y in zip(a, b, strict=True)])


BINARY: Mapping[BinaryOp, Binary] = {
    BinaryOp.Add: add,
    BinaryOp.Sub: sub,
    BinaryOp.Mul: mul,
    BinaryOp.Div: div,
    BinaryOp.Mod: mod,
    BinaryOp.BitAnd: bit_and,
    BinaryOp.BitOr: bit_or,
    BinaryOp.BitXor: bit_xor,
    BinaryOp.Shl: shl,
    BinaryOp.Shr: shr,
    BinaryOp.Eq: eq,
    BinaryOp.Ne: ne,
    BinaryOp.Lt: lt,
    BinaryOp.Gt: gt,
    BinaryOp.Le: le,
    BinaryOp.Ge: ge,
    BinaryOp.And: logical_and,
    BinaryOp.Or: logical_or,
    BinaryOp.MulHi: mul_hi,
}

UNARY: Mapping[UnaryOp, Unary] = {
    UnaryOp.Negate: negate,
    UnaryOp.BitNot: bit_not,
    UnaryOp.LogicalNot: logical_not,
    UnaryOp.Popcount: popcount,
    UnaryOp.Clz: clz,
    UnaryOp.Ctz: ctz,
    UnaryOp.ReverseBits: reverse_bits,
}
