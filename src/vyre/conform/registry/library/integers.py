"""`integer.*`: everyday functions of U32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.registry.build import MAX, TOP, c, law0, law1, law2, law3
from vyre.conform.registry.ids import ADD, AND, EQ, LE, LT, MUL, OR, POPCOUNT, SHL, SHR, SUB
from vyre.conform.registry.library.entry import U32, Promise, about, entry
from vyre.conform.registry.library.operands import AMOUNTS, FEW, ONE_WORD, beyond, pair, whole, zero
from vyre.conform.spec.edges import EDGES
from vyre.conform.spec.law import (
    Absorbing,
    Associative,
    Bounded,
    Commutative,
    DistributiveOver,
    Idempotent,
    Identity,
    InverseOf,
    LatticeAbsorption,
    LeftAbsorbing,
    Monotone,
    RightIdentity,
    SelfInverse,
    ap,
)
from vyre.conform.spec.term import Equation, Relation

if TYPE_CHECKING:
    from vyre.conform.spec.op import OpSpec
    from vyre.semantics.domain import Domain

    D = Domain[Any]

PREFIX = "integer."
MIN, GREATEST, ROTL, ROTR = (f"{PREFIX}{name}" for name in ("min", "max", "rotl", "rotr"))
ADD_SAT, SUB_SAT, EXTRACT = (f"{PREFIX}{name}" for name in ("add_sat", "sub_sat", "extract_bits"))


def lesser(d: D, a: Any, b: Any) -> Any:
    return d.ite(d.ule(a, b), a, b)


def greater(d: D, a: Any, b: Any) -> Any:
    return d.ite(d.ule(a, b), b, a)


def clamp(d: D, x: Any, low: Any, high: Any) -> Any:
    return lesser(d, greater(d, x, low), high)


def abs_diff(d: D, a: Any, b: Any) -> Any:
    return d.sub(greater(d, a, b), lesser(d, a, b))


def rotl(d: D, a: Any, amount: Any) -> Any:
    """What leaves above comes in below, in two steps, as a shift by 32 would be one by 0."""
    k = d.and_(amount, d.const(31))
    return d.or_(d.shl(a, k), d.shr(d.shr(a, d.const(1)), d.sub(d.const(31), k)))


def rotr(d: D, a: Any, amount: Any) -> Any:
    k = d.and_(amount, d.const(31))
    return d.or_(d.shr(a, k), d.shl(d.shl(a, d.const(1)), d.sub(d.const(31), k)))


def is_power_of_two(d: D, a: Any) -> Any:
    return d.and_(d.ne(a, d.const(0)), d.eq(d.and_(a, d.sub(a, d.const(1))), d.const(0)))


def next_power_of_two(d: D, a: Any) -> Any:
    """One more than all ones below the highest bit of a - 1."""
    below = d.sub(a, d.const(1))
    for k in range(5):
        below = d.or_(below, d.shr(below, d.const(1 << k)))
    return d.ite(a, d.add(below, d.const(1)), d.const(1))


def isqrt(d: D, a: Any) -> Any:
    """Digit by digit without a product: what is left is compared with twice the root so far and the digit."""
    left, root = a, d.const(0)
    for k in range(15, -1, -1):
        tried = d.add(root, d.const(1 << 2 * k))
        fits = d.ule(tried, left)
        left = d.ite(fits, d.sub(left, tried), left)
        half = d.shr(root, d.const(1))
        root = d.ite(fits, d.add(half, d.const(1 << 2 * k)), half)
    return root


def add_sat(d: D, a: Any, b: Any) -> Any:
    """At most as much is added as there is room for."""
    return d.add(lesser(d, a, d.not_(b)), b)


def sub_sat(d: D, a: Any, b: Any) -> Any:
    return d.sub(greater(d, a, b), b)


def _ones(d: D, count: Any) -> Any:
    """As many ones; all of them from 32 on."""
    some = d.sub(d.shl(d.const(1), count), d.const(1))
    return d.ite(d.ult(d.const(31), count), d.const(MAX), some)


def _unless_past(d: D, offset: Any, value: Any) -> Any:
    return d.ite(d.ult(d.const(31), offset), d.const(0), value)


def extract_bits(d: D, a: Any, offset: Any, count: Any) -> Any:
    return d.and_(_unless_past(d, offset, d.shr(a, offset)), _ones(d, count))


def insert_bits(d: D, a: Any, bits: Any, offset: Any, count: Any) -> Any:
    place = _unless_past(d, offset, d.shl(_ones(d, count), offset))
    return d.or_(d.and_(a, d.not_(place)), d.and_(d.shl(bits, offset), place))


def _minus(b: Any) -> Any:
    return ap(SUB, c(0), b)


def _past(offset: Any, count: Any) -> Any:
    """The field reaches bit 32 or beyond."""
    return ap(OR, ap(LE, c(32), offset), ap(LE, ap(SUB, c(32), offset), count))


_PAIRS = {
    "min": Promise(
        lesser,
        (Commutative(), Associative(), Idempotent(), Identity(MAX), Absorbing(0), Monotone()),
        (LatticeAbsorption(GREATEST), DistributiveOver(GREATEST)),
    ),
    "max": Promise(
        greater,
        (Commutative(), Associative(), Idempotent(), Identity(0), Absorbing(MAX), Monotone()),
        (LatticeAbsorption(MIN), DistributiveOver(MIN)),
    ),
    "abs_diff": Promise(
        abs_diff,
        (Commutative(), Identity(0), SelfInverse(0)),
        (
            law2(
                "|a - b| = max(a, b) - min(a, b)",
                lambda f, a, b: Equation(f(a, b), ap(SUB, ap(GREATEST, a, b), ap(MIN, a, b))),
            ),
        ),
    ),
    "add_sat": Promise(
        add_sat,
        (Commutative(), Associative(), Identity(0), Absorbing(MAX), Monotone()),
        (law2("b <= add_sat(a, b)", lambda f, a, b: Equation(b, f(a, b), Relation.Le)),),
    ),
    "sub_sat": Promise(
        sub_sat,
        (RightIdentity(0), SelfInverse(0), LeftAbsorbing(0), Monotone()),
        (
            law2(
                "b + sub_sat(a, b) = max(a, b)",
                lambda f, a, b: Equation(ap(ADD, f(a, b), b), ap(GREATEST, a, b)),
            ),
        ),
    ),
}

_ROTATIONS = {
    "rotl": Promise(
        rotl,
        (RightIdentity(0), LeftAbsorbing(0), InverseOf(ROTR)),
        (
            law2("only 5 bits of b count", lambda f, a, b: Equation(f(a, b), f(a, ap(AND, b, c(31))))),
            law1(
                "by 1, the highest bit is the lowest",
                lambda f, a: Equation(f(a, c(1)), ap(OR, ap(SHL, a, c(1)), ap(SHR, a, c(31)))),
            ),
        ),
    ),
    "rotr": Promise(
        rotr,
        (RightIdentity(0), LeftAbsorbing(0), InverseOf(ROTL)),
        (
            law2(
                "to the right is to the left by -b", lambda f, a, b: Equation(f(a, b), ap(ROTL, a, _minus(b)))
            ),
            law1(
                "by 1, the lowest bit is the highest",
                lambda f, a: Equation(f(a, c(1)), ap(OR, ap(SHR, a, c(1)), ap(SHL, a, c(31)))),
            ),
        ),
    ),
}


_SINGLES = {
    "is_power_of_two": Promise(
        is_power_of_two,
        (Bounded(0, 1),),
        (
            law1("one bit is set", lambda f, a: Equation(f(a), ap(EQ, ap(POPCOUNT, a), c(1)))),
            law1("1 << a is one", lambda f, a: Equation(f(ap(SHL, c(1), a)), c(1))),
        ),
    ),
    "next_power_of_two": Promise(
        next_power_of_two,
        (),
        (
            law1(
                "a power of two, or 0",
                lambda f, a: Equation(ap(AND, f(a), ap(SUB, f(a), c(1))), c(0)),
            ),
            law1("not below", lambda f, a: Equation(a, f(a), Relation.Le, ap(LE, a, c(TOP)))),
            law1(
                "half of it is below",
                lambda f, a: Equation(ap(SHR, f(a), c(1)), a, Relation.Lt, ap(LT, c(1), a)),
            ),
            law1("1 << a is its own", lambda f, a: Equation(f(ap(SHL, c(1), a)), ap(SHL, c(1), a))),
        ),
    ),
    "isqrt": Promise(
        isqrt,
        (Bounded(0, 0xFFFF),),
        (
            law0("the root of 2^32 - 1 is 65535", lambda f: Equation(f(c(MAX)), c(0xFFFF))),
            law1(
                "undoes a square",
                lambda f, a: Equation(
                    f(ap(MUL, ap(AND, a, c(0xFF)), ap(AND, a, c(0xFF)))), ap(AND, a, c(0xFF))
                ),
            ),
        ),
    ),
}

_OTHERS = {
    "clamp": Promise(
        clamp,
        (Monotone(),),
        (
            law3("not above high", lambda f, x, low, high: Equation(f(x, low, high), high, Relation.Le)),
            law3(
                "not below low",
                lambda f, x, low, high: Equation(low, f(x, low, high), Relation.Le, ap(LE, low, high)),
            ),
            law3(
                "twice is once",
                lambda f, x, low, high: Equation(f(f(x, low, high), low, high), f(x, low, high)),
            ),
        ),
    ),
    "extract_bits": Promise(
        extract_bits,
        (),
        (
            law1("32 bits from 0 on are the word", lambda f, a: Equation(f(a, c(0), c(32)), a)),
            law2("no bits are 0", lambda f, a, b: Equation(f(a, b, c(0)), c(0))),
            law2("past bit 31 is 0", lambda f, a, b: Equation(f(a, ap(OR, b, c(32)), b), c(0))),
            law3(
                "what is past the word adds nothing",
                lambda f, a, b, z: Equation(f(a, b, z), f(a, b, c(32)), precondition=_past(b, z)),
            ),
        ),
    ),
    "insert_bits": Promise(
        insert_bits,
        (),
        (
            about(
                "what was put in is found there",
                (U32, U32, U32, U32),
                lambda f, a, b, offset, count: Equation(
                    ap(EXTRACT, f(a, b, offset, count), offset, count),
                    ap(EXTRACT, ap(SHL, b, offset), offset, count),
                    precondition=ap(LE, offset, c(31)),
                ),
            ),
            about(
                "putting back what was there changes nothing",
                (U32, U32, U32),
                lambda f, a, offset, count: Equation(f(a, ap(EXTRACT, a, offset, count), offset, count), a),
            ),
            law2("no bits change nothing", lambda f, a, b: Equation(f(a, b, b, c(0)), a)),
        ),
    ),
}


def specs() -> list[OpSpec]:
    turned = (whole(), zero(1), beyond(1, 32))
    few = (0, 1, 2, 31, 0xFFFF, TOP - 1, TOP, MAX)
    fields = (0, 1, 8, 31, 32, 33, MAX)
    return [
        *(entry(f"{PREFIX}{name}", p, pair(), (EDGES, EDGES)) for name, p in _PAIRS.items()),
        *(entry(f"{PREFIX}{name}", p, turned, (EDGES, AMOUNTS)) for name, p in _ROTATIONS.items()),
        *(entry(f"{PREFIX}{name}", p, (whole(), zero(1)), (ONE_WORD,)) for name, p in _SINGLES.items()),
        entry(f"{PREFIX}clamp", _OTHERS["clamp"], (whole(), zero(1)), (few,) * 3),
        entry(
            f"{PREFIX}extract_bits",
            _OTHERS["extract_bits"],
            (whole(), beyond(1, 32), beyond(2, 32)),
            (FEW, fields, fields),
        ),
        entry(
            f"{PREFIX}insert_bits",
            _OTHERS["insert_bits"],
            (whole(), beyond(2, 32), beyond(3, 32)),
            (FEW, FEW, fields, fields),
        ),
    ]
