"""What only 64 bits have: products, rotations, bytes in reverse, and numbers with a sign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.registry.build import TOP, c
from vyre.conform.registry.ids import SUB
from vyre.conform.registry.library import limbs
from vyre.conform.registry.library.entry import U32, U64, Promise, about
from vyre.conform.registry.library.wide import moving, of_one, of_two, order, shifts
from vyre.conform.registry.value.lanes import lane_id, make_id
from vyre.conform.spec.law import (
    Absorbing,
    Associative,
    Commutative,
    Idempotent,
    Identity,
    Involution,
    LatticeAbsorption,
    ap,
)
from vyre.conform.spec.term import Constant, Equation
from vyre.semantics.operators import mul_hi

if TYPE_CHECKING:
    from vyre.conform.registry.library.limbs import Limbs
    from vyre.conform.spec.law import Custom
    from vyre.semantics.domain import Domain

    D = Domain[Any]

_ADD, _ROTL, _ROTR = (f"wide.u64.{n}" for n in ("add", "rotl", "rotr"))
_ZERO = Constant(0, U64)


def _mul(d: D, a: Limbs, b: Limbs) -> Limbs:
    """The three products that reach the low 64 bits."""
    crossed = d.add(d.mul(a[1], b[0]), d.mul(a[0], b[1]))
    return d.mul(a[0], b[0]), d.add(crossed, mul_hi(d, a[0], b[0]))


def _arithmetic(d: D, low: Any, high: Any, amount: Any) -> Limbs:
    return limbs.shr(d, (low, high), amount, limbs.sign(d, (low, high)))


def _turned(d: D, a: Limbs, left: Any, right: Any) -> Limbs:
    """What a shift loses, a shift by the rest of 64 brings back."""
    out, back = limbs.shl(d, a, left), limbs.shr(d, a, right, d.const(0))
    return tuple(d.or_(x, y) for x, y in zip(out, back, strict=True))


def _rotl(d: D, low: Any, high: Any, amount: Any) -> Limbs:
    return _turned(d, (low, high), amount, d.sub(d.const(64), amount))


def _rotr(d: D, low: Any, high: Any, amount: Any) -> Limbs:
    return _turned(d, (low, high), d.sub(d.const(64), amount), amount)


def _swap(d: D, a: Limbs) -> Limbs:
    return tuple(limbs.swapped(d, word) for word in reversed(a))


def _below(d: D, a: Limbs, b: Limbs) -> Any:
    """Flipping the highest bit maps the order with signs onto the one without."""
    top = d.const(TOP)
    return limbs.below(d, (a[0], d.xor(a[1], top)), (b[0], d.xor(b[1], top)))


def _neg(d: D, a: Limbs) -> Limbs:
    return limbs.sub(d, (d.const(0), d.const(0)), a)


def _abs(d: D, a: Limbs) -> Limbs:
    return limbs.choose(d, limbs.sign(d, a), _neg(d, a), a)


def _lesser(d: D, a: Limbs, b: Limbs) -> Limbs:
    return limbs.choose(d, _below(d, b, a), b, a)


def _greater(d: D, a: Limbs, b: Limbs) -> Limbs:
    return limbs.choose(d, _below(d, b, a), a, b)


_UNMOVED, _MASKED, _NOTHING = moving(U64)


def _undone(name: str) -> Custom:
    return about("turned back is the value", (U64, U32), lambda f, a, b: Equation(f(ap(name, a, b), b), a))


def _minus_if(a: Any) -> Any:
    return ap(SUB, c(0), ap("wide.i64.lt", a, _ZERO))


PAIRS = {
    "wide.u64.mul": Promise(of_two(_mul), (Commutative(), Identity(1), Absorbing(0))),
    **{f"wide.i64.{name}": made for name, made in order("wide.i64", U64, _below).items()},
    "wide.i64.min": Promise(
        of_two(_lesser),
        (Commutative(), Associative(), Idempotent(), Identity((1 << 63) - 1), Absorbing(1 << 63)),
        (LatticeAbsorption("wide.i64.max"),),
    ),
    "wide.i64.max": Promise(
        of_two(_greater),
        (Commutative(), Associative(), Idempotent(), Identity(1 << 63), Absorbing((1 << 63) - 1)),
        (LatticeAbsorption("wide.i64.min"),),
    ),
}
"""Of two operands of 64 bits, by id."""

SHIFTS = {
    **{f"wide.u64.{name}": made for name, made in shifts("wide.u64", U64).items()},
    "wide.u64.rotl": Promise(
        _rotl,
        (),
        (
            _UNMOVED,
            _undone(_ROTR),
            about(
                "by 32 the words change places",
                (U64,),
                lambda f, a: Equation(
                    f(a, c(32)), ap(make_id(U64), ap(lane_id(U64, 1), a), ap(lane_id(U64, 0), a))
                ),
            ),
        ),
    ),
    "wide.u64.rotr": Promise(
        _rotr,
        (),
        (
            _UNMOVED,
            _undone(_ROTL),
            about(
                "to the right is to the left by -b",
                (U64, U32),
                lambda f, a, b: Equation(f(a, b), ap(_ROTL, a, ap(SUB, c(0), b))),
            ),
        ),
    ),
    "wide.i64.shr": Promise(
        _arithmetic,
        (),
        (
            _UNMOVED,
            _MASKED,
            _NOTHING,
            about(
                "by 63 is 0, or -1 below zero",
                (U64,),
                lambda f, a: Equation(f(a, c(63)), ap(make_id(U64), _minus_if(a), _minus_if(a))),
            ),
        ),
    ),
}
"""Of 64 bits and an amount, by id."""


SINGLES = {
    "wide.u64.swap": Promise(
        of_one(_swap),
        (Involution(),),
        (
            about(
                "the high word in reverse is the low one",
                (U64,),
                lambda f, a: Equation(ap(lane_id(U64, 0), f(a)), ap("bytes.swap", ap(lane_id(U64, 1), a))),
            ),
        ),
    ),
    "wide.i64.neg": Promise(
        of_one(_neg),
        (Involution(),),
        (about("with the number it is 0", (U64,), lambda f, a: Equation(ap(_ADD, f(a), a), _ZERO)),),
    ),
    "wide.i64.abs": Promise(
        of_one(_abs),
        (Idempotent(),),
        (
            about(
                "the sign does not matter",
                (U64,),
                lambda f, a: Equation(f(ap("wide.i64.neg", a)), f(a)),
            ),
            about(
                "the greater of both",
                (U64,),
                lambda f, a: Equation(f(a), ap("wide.i64.max", a, ap("wide.i64.neg", a))),
            ),
        ),
    ),
}
"""Of 64 bits, by id."""
