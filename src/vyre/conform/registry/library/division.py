"""Division of wide integers, products of four words, common divisors, and arithmetic with a modulus."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.conform.registry.build import MAX, TOP, c, law0, law2
from vyre.conform.registry.ids import MOD, NE
from vyre.conform.registry.library import quotients
from vyre.conform.registry.library.entry import U32, U64, U128, Promise, about, entry
from vyre.conform.registry.library.operands import FEW, negative, pair, whole, zero
from vyre.conform.registry.library.wide import of_two
from vyre.conform.registry.value.lanes import lane_id, make_id
from vyre.conform.spec.edges import EDGES
from vyre.conform.spec.law import (
    Absorbing,
    Commutative,
    Idempotent,
    Identity,
    RightAbsorbing,
    RightIdentity,
    SelfInverse,
    ap,
)
from vyre.conform.spec.term import Constant, Equation, Relation

if TYPE_CHECKING:
    from vyre.conform.spec.law import Custom
    from vyre.conform.spec.op import OpSpec
    from vyre.conform.spec.term import Term
    from vyre.ir.types import DataType


def _quotient(prefix: str, of: DataType) -> Promise:
    by_two = about(
        "by 2 is a shift by 1",
        (of,),
        lambda f, a: Equation(f(a, Constant(2, of)), ap(f"{prefix}.shr", a, c(1))),
    )
    return Promise(of_two(quotients.quotient), (RightAbsorbing(0), RightIdentity(1)), (by_two,))


def _remainder(prefix: str, of: DataType) -> Promise:
    by_two = about(
        "by 2 is the lowest bit",
        (of,),
        lambda f, a: Equation(f(a, Constant(2, of)), ap(f"{prefix}.and", a, Constant(1, of))),
    )
    return Promise(of_two(quotients.remainder), (RightAbsorbing(0), SelfInverse(0)), (by_two,))


def _order(promise: Promise, *laws: Custom) -> Promise:
    """The promise with laws that take solvers minutes of four words and seconds of two."""
    return replace(promise, properties=(*promise.properties, *laws))


_LT, _LE, _SOME, _NOTHING = "wide.u64.lt", "wide.u64.le", "wide.u64.ne", Constant(0, U64)
_WIDE = {
    "wide.u64.div": _order(
        _quotient("wide.u64", U64),
        about("not above a", (U64, U64), lambda f, a, b: Equation(ap(_LE, f(a, b), a), c(1))),
        about(
            "0 where a is below b",
            (U64, U64),
            lambda f, a, b: Equation(f(a, b), _NOTHING, precondition=ap(_LT, a, b)),
        ),
    ),
    "wide.u64.mod": _order(
        _remainder("wide.u64", U64),
        about(
            "below b",
            (U64, U64),
            lambda f, a, b: Equation(ap(_LT, f(a, b), b), c(1), precondition=ap(_SOME, b, _NOTHING)),
        ),
        about(
            "divided by b is 0",
            (U64, U64),
            lambda f, a, b: Equation(ap("wide.u64.div", f(a, b), b), _NOTHING),
        ),
    ),
}


def _i(value: int) -> Constant:
    return Constant(value & (1 << 64) - 1, U64)


_NEG = "wide.i64.neg"
_SIGNED = {
    "wide.i64.div": Promise(
        of_two(quotients.signed_quotient),
        (RightAbsorbing(0), RightIdentity(1)),
        (
            about("by -1 is the opposite", (U64,), lambda f, a: Equation(f(a, _i(-1)), ap(_NEG, a))),
            law0("7 / -2 = -3", lambda f: Equation(f(_i(7), _i(-2)), _i(-3))),
            law0("-2^63 / -1 wraps", lambda f: Equation(f(_i(-1 << 63), _i(-1)), _i(-1 << 63))),
        ),
    ),
    "wide.i64.mod": Promise(
        of_two(quotients.signed_remainder),
        (RightAbsorbing(0), SelfInverse(0)),
        (
            about("by 1 is 0", (U64,), lambda f, a: Equation(f(a, _i(1)), _i(0))),
            law0("-7 mod 2 = -1", lambda f: Equation(f(_i(-7), _i(2)), _i(-1))),
            law0("7 mod -2 = 1", lambda f: Equation(f(_i(7), _i(-2)), _i(1))),
        ),
    ),
}

_MUL_128 = Promise(
    of_two(quotients.product),
    (Commutative(), Identity(1), Absorbing(0)),
    (
        about(
            "by 2 is the sum with itself",
            (U128,),
            lambda f, a: Equation(f(a, Constant(2, U128)), ap("wide.u128.add", a, a)),
        ),
        about(
            "by 2^32 the words move by one",
            (U128,),
            lambda f, a: Equation(
                f(a, Constant(1 << 32, U128)),
                ap(make_id(U128), c(0), *(ap(lane_id(U128, k), a) for k in range(3))),
            ),
        ),
    ),
)


_GCD = Promise(
    quotients.gcd,
    (Identity(0), Absorbing(1), Idempotent()),
    (
        law0("of 48 and 180 is 12", lambda f: Equation(f(c(48), c(180)), c(12))),
        law0("of 180 and 48 is 12", lambda f: Equation(f(c(180), c(48)), c(12))),
        # The 46th and 47th Fibonacci numbers: no words take more turns.
        law0("the longest way ends", lambda f: Equation(f(c(1836311903), c(2971215073)), c(1))),
    ),
)


def _not_zero(m: Term) -> Term:
    return ap(NE, m, c(0))


_OF_MODULUS = {
    "integer.mul_mod": Promise(
        quotients.mul_mod,
        (),
        (
            about("commutative", (U32, U32, U32), lambda f, a, b, m: Equation(f(a, b, m), f(b, a, m))),
            about(
                "below the modulus",
                (U32, U32, U32),
                lambda f, a, b, m: Equation(f(a, b, m), m, Relation.Lt, _not_zero(m)),
            ),
            law2("by 1 is the remainder", lambda f, a, m: Equation(f(a, c(1), m), ap(MOD, a, m))),
            law2("without a modulus it is 0", lambda f, a, b: Equation(f(a, b, c(0)), c(0))),
        ),
    ),
    "integer.pow_mod": Promise(
        quotients.pow_mod,
        (),
        (
            law2("to the power 0 is 1", lambda f, a, m: Equation(f(a, c(0), m), ap(MOD, c(1), m))),
            law2("modulo 1 it is 0", lambda f, a, b: Equation(f(a, b, c(1)), c(0))),
            law2("without a modulus it is 0", lambda f, a, b: Equation(f(a, b, c(0)), c(0))),
            law0("3^200 modulo 13 is 9", lambda f: Equation(f(c(3), c(200), c(13)), c(9))),
            law0(
                "2^(2^32 - 6) modulo 2^32 - 5 is 1",
                lambda f: Equation(f(c(2), c(MAX - 5), c(MAX - 4)), c(1)),
            ),
        ),
    ),
}


def specs() -> list[OpSpec]:
    few, corners = (0, 1, 2, 3, 0xFFFF, 0x10001, TOP, MAX), (0, 1, TOP, MAX)
    signs = (*pair(), negative(1), negative(3))
    return [
        entry("integer.gcd", _GCD, pair(), (EDGES, EDGES)),
        *(entry(i, p, (whole(), zero(1)), (few,) * 3) for i, p in _OF_MODULUS.items()),
        *(entry(i, p, signs, (FEW,) * 4) for i, p in _WIDE.items()),
        entry("wide.u128.div", _quotient("wide.u128", U128), pair(), (corners,) * 8),
        entry("wide.u128.mod", _remainder("wide.u128", U128), pair(), (corners,) * 8),
        entry("wide.u128.mul", _MUL_128, pair(), (corners,) * 8),
        *(entry(i, p, signs, (FEW,) * 4) for i, p in _SIGNED.items()),
    ]
