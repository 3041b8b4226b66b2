"""`signed.*`: what depends on the sign of an I32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.registry.build import MAX, TOP, c, law0
from vyre.conform.registry.cast.names import cast_id
from vyre.conform.registry.ids import ADD, AND, EQ, MUL, OR, SHL, SUB
from vyre.conform.registry.library.entry import I32, U32, Promise, about, entry
from vyre.conform.registry.library.operands import AMOUNTS, beyond, negative, pair, whole, zero
from vyre.conform.spec.edges import EDGES
from vyre.conform.spec.law import (
    Absorbing,
    Associative,
    Bounded,
    Commutative,
    DistributiveOver,
    Idempotent,
    Identity,
    LatticeAbsorption,
    LeftAbsorbing,
    RightAbsorbing,
    RightIdentity,
    SelfInverse,
    ap,
)
from vyre.conform.spec.term import Constant, Equation, Term

if TYPE_CHECKING:
    from vyre.conform.spec.op import OpSpec
    from vyre.semantics.domain import Domain

    D = Domain[Any]

PREFIX = "signed."
MIN, GREATEST, DIV, MOD, LE, LT, GT = (f"{PREFIX}{n}" for n in ("min", "max", "div", "mod", "le", "lt", "gt"))


def below(d: D, a: Any, b: Any) -> Any:
    """The signs decide where they differ, else the words."""
    differ = d.shr(d.xor(a, b), d.const(31))
    return d.ite(differ, d.shr(a, d.const(31)), d.ult(a, b))


def at_most(d: D, a: Any, b: Any) -> Any:
    return d.or_(below(d, a, b), d.eq(a, b))


def above(d: D, a: Any, b: Any) -> Any:
    return below(d, b, a)


def at_least(d: D, a: Any, b: Any) -> Any:
    return at_most(d, b, a)


def lesser(d: D, a: Any, b: Any) -> Any:
    return d.ite(at_most(d, a, b), a, b)


def greater(d: D, a: Any, b: Any) -> Any:
    return d.ite(at_most(d, a, b), b, a)


def clamp(d: D, x: Any, low: Any, high: Any) -> Any:
    return lesser(d, greater(d, x, low), high)


def is_negative(d: D, a: Any) -> Any:
    return d.shr(a, d.const(31))


def magnitude(d: D, a: Any) -> Any:
    return d.ite(is_negative(d, a), d.sub(d.const(0), a), a)


def _with_sign(d: D, minus: Any, size: Any) -> Any:
    return d.ite(minus, d.sub(d.const(0), size), size)


def div(d: D, a: Any, b: Any) -> Any:
    size = d.udiv(magnitude(d, a), magnitude(d, b))
    return _with_sign(d, is_negative(d, d.xor(a, b)), size)


def mod(d: D, a: Any, b: Any) -> Any:
    return _with_sign(d, is_negative(d, a), d.urem(magnitude(d, a), magnitude(d, b)))


def shl(d: D, a: Any, amount: Any) -> Any:
    return d.shl(a, amount)


def shr(d: D, a: Any, amount: Any) -> Any:
    """The ones that move in are those that a word of ones would lose."""
    moved = d.not_(d.shr(d.const(MAX), amount))
    return d.or_(d.shr(a, amount), d.ite(is_negative(d, a), moved, d.const(0)))


def sign(d: D, a: Any) -> Any:
    return d.ite(is_negative(d, a), d.const(MAX), d.ne(a, d.const(0)))


def _limited(d: D, a: Any, plain: Any, over: Any) -> Any:
    limit = d.ite(is_negative(d, a), d.const(TOP), d.const(TOP - 1))
    return d.ite(over, limit, plain)


def add_sat(d: D, a: Any, b: Any) -> Any:
    """Past the range where both have one sign and the sum has the other."""
    total = d.add(a, b)
    return _limited(d, a, total, is_negative(d, d.and_(d.not_(d.xor(a, b)), d.xor(a, total))))


def sub_sat(d: D, a: Any, b: Any) -> Any:
    rest = d.sub(a, b)
    return _limited(d, a, rest, is_negative(d, d.and_(d.xor(a, b), d.xor(a, rest))))


def _i(value: int) -> Constant:
    return Constant(value & MAX, I32)


def _word(a: Term) -> Term:
    return ap(cast_id(I32, U32), a)


def _number(a: Term) -> Term:
    return ap(cast_id(U32, I32), a)


def _opposite(a: Term) -> Term:
    return _number(ap(SUB, c(0), _word(a)))


def _not(truth: Term) -> Term:
    return ap(SUB, c(1), truth)


_ORDERED = (Bounded(0, 1),)
_PAIRS = {
    "div": Promise(
        div,
        (RightAbsorbing(0), LeftAbsorbing(0), RightIdentity(1)),
        (
            law0("7 / -2 = -3", lambda f: Equation(f(_i(7), _i(-2)), _i(-3))),
            law0("-2^31 / -1 wraps", lambda f: Equation(f(_i(-TOP), _i(-1)), _i(-TOP))),
        ),
    ),
    "mod": Promise(
        mod,
        (LeftAbsorbing(0), RightAbsorbing(0), SelfInverse(0)),
        (
            about("by 1 is 0", (I32,), lambda f, a: Equation(f(a, _i(1)), _i(0))),
            law0("-7 mod 2 = -1", lambda f: Equation(f(_i(-7), _i(2)), _i(-1))),
            law0("7 mod -2 = 1", lambda f: Equation(f(_i(7), _i(-2)), _i(1))),
        ),
    ),
    "lt": Promise(
        below,
        (SelfInverse(0), *_ORDERED),
        (
            about(
                "exactly one of below, equal and above",
                (I32, I32),
                lambda f, a, b: Equation(
                    ap(ADD, f(a, b), ap(ADD, ap(GT, a, b), ap(EQ, _word(a), _word(b)))), c(1)
                ),
            ),
        ),
    ),
    "gt": Promise(
        above,
        (SelfInverse(0), *_ORDERED),
        (about("above is below, swapped", (I32, I32), lambda f, a, b: Equation(f(a, b), ap(LT, b, a))),),
    ),
    "le": Promise(
        at_most,
        (SelfInverse(1), *_ORDERED),
        (about("at most is not above", (I32, I32), lambda f, a, b: Equation(f(a, b), _not(ap(GT, a, b)))),),
    ),
    "ge": Promise(
        at_least,
        (SelfInverse(1), *_ORDERED),
        (about("at least is not below", (I32, I32), lambda f, a, b: Equation(f(a, b), _not(ap(LT, a, b)))),),
    ),
    "min": Promise(
        lesser,
        (Commutative(), Associative(), Idempotent(), Identity(TOP - 1), Absorbing(TOP)),
        (LatticeAbsorption(GREATEST), DistributiveOver(GREATEST)),
    ),
    "max": Promise(
        greater,
        (Commutative(), Associative(), Idempotent(), Identity(TOP), Absorbing(TOP - 1)),
        (LatticeAbsorption(MIN), DistributiveOver(MIN)),
    ),
    "add_sat": Promise(
        add_sat,
        (Commutative(), Identity(0)),
        (
            about(
                "what is not negative does not lower",
                (I32, I32),
                lambda f, a, b: Equation(ap(LE, a, f(a, b)), c(1), precondition=ap(LE, _i(0), b)),
            ),
        ),
    ),
    "sub_sat": Promise(
        sub_sat,
        (SelfInverse(0), RightIdentity(0)),
        (
            about(
                "below zero as the order says",
                (I32, I32),
                lambda f, a, b: Equation(ap(LT, f(a, b), _i(0)), ap(LT, a, b)),
            ),
        ),
    ),
}

_SHIFTS = {
    "shl": Promise(
        shl,
        (),
        (
            about("by 0 changes nothing", (I32,), lambda f, a: Equation(f(a, c(0)), a)),
            about(
                "the sign makes no difference",
                (I32, U32),
                lambda f, a, b: Equation(_word(f(a, b)), ap(SHL, _word(a), b)),
            ),
        ),
    ),
    "shr": Promise(
        shr,
        (),
        (
            about("by 0 changes nothing", (I32,), lambda f, a: Equation(f(a, c(0)), a)),
            about(
                "only 5 bits of b count",
                (I32, U32),
                lambda f, a, b: Equation(f(a, b), f(a, ap(AND, b, c(31)))),
            ),
            about(
                "by 31 is all ones or none",
                (I32,),
                lambda f, a: Equation(_word(f(a, c(31))), ap(SUB, c(0), ap(LT, a, _i(0)))),
            ),
            about(
                "one after the other",
                (I32, U32),
                lambda f, a, b: Equation(
                    f(f(a, ap(AND, b, c(15))), c(16)), f(a, ap(OR, ap(AND, b, c(15)), c(16)))
                ),
            ),
        ),
    ),
}

_SINGLES = {
    "abs": Promise(
        magnitude,
        (Idempotent(),),
        (
            about(
                "the sign does not matter",
                (I32,),
                lambda f, a: Equation(f(_opposite(a)), f(a)),
            ),
            about("the greater of both", (I32,), lambda f, a: Equation(f(a), ap(GREATEST, a, _opposite(a)))),
        ),
    ),
    "sign": Promise(
        sign,
        (Idempotent(),),
        (
            about(
                "times the magnitude is the number",
                (I32,),
                lambda f, a: Equation(ap(MUL, _word(f(a)), _word(ap(f"{PREFIX}abs", a))), _word(a)),
            ),
        ),
    ),
}


_CLAMP = Promise(
    clamp,
    (),
    (
        about(
            "not above high",
            (I32, I32, I32),
            lambda f, x, low, high: Equation(ap(LE, f(x, low, high), high), c(1)),
        ),
        about(
            "not below low",
            (I32, I32, I32),
            lambda f, x, low, high: Equation(
                ap(LE, low, f(x, low, high)), c(1), precondition=ap(LE, low, high)
            ),
        ),
        about(
            "twice is once",
            (I32, I32, I32),
            lambda f, x, low, high: Equation(f(f(x, low, high), low, high), f(x, low, high)),
        ),
    ),
)


def specs() -> list[OpSpec]:
    pairs = (*pair(), negative(0), negative(1))
    few = (0, 1, 2, 31, 0xFFFF, TOP - 1, TOP, MAX)
    shifted = (whole(), negative(0), beyond(1, 32))
    return [
        *(entry(f"{PREFIX}{name}", p, pairs, (EDGES, EDGES)) for name, p in _PAIRS.items()),
        *(entry(f"{PREFIX}{name}", p, shifted, (EDGES, AMOUNTS)) for name, p in _SHIFTS.items()),
        *(
            entry(f"{PREFIX}{name}", p, (whole(), zero(1), negative(0)), (EDGES,))
            for name, p in _SINGLES.items()
        ),
        entry(f"{PREFIX}clamp", _CLAMP, (whole(), negative(0)), (few,) * 3),
    ]
