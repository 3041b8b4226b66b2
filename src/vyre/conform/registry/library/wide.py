"""`wide.u64.*` and `wide.u128.*`: what integers of two and of four words have alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.registry.build import c
from vyre.conform.registry.ids import ADD, AND, POPCOUNT, SUB
from vyre.conform.registry.library import limbs
from vyre.conform.registry.library.entry import U32, Promise, about
from vyre.conform.registry.value.lanes import lane_id
from vyre.conform.spec.law import (
    Absorbing,
    Associative,
    Bounded,
    Commutative,
    DeMorgan,
    DistributiveOver,
    Idempotent,
    Identity,
    InverseOf,
    Involution,
    LatticeAbsorption,
    RightIdentity,
    SelfInverse,
    Trichotomy,
    ap,
)
from vyre.conform.spec.term import Constant, Equation, Relation, Term

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.registry.library.limbs import Limbs
    from vyre.conform.spec.law import Custom
    from vyre.ir.types import DataType
    from vyre.semantics.domain import Domain

    D = Domain[Any]
    OfTwo = Callable[[D, Limbs, Limbs], Any]
    OfOne = Callable[[D, Limbs], Any]


def of_two(function: OfTwo) -> Callable[..., Any]:
    def definition(d: D, *words: Any) -> Any:
        return function(d, *limbs.halves(words))

    return definition


def of_one(function: OfOne) -> Callable[..., Any]:
    def definition(d: D, *words: Any) -> Any:
        return function(d, words)

    return definition


def _lanes(step: str) -> Callable[..., Any]:
    """Word by word."""
    return of_two(lambda d, a, b: tuple(getattr(d, step)(x, y) for x, y in zip(a, b, strict=True)))


def _true_or_false(truth: Term) -> Term:
    return ap(SUB, c(1), truth)


def _summed(terms: list[Term]) -> Term:
    total = terms[0]
    for term in terms[1:]:
        total = ap(ADD, total, term)
    return total


def _lesser(d: D, a: Limbs, b: Limbs) -> Limbs:
    return limbs.choose(d, limbs.below(d, b, a), b, a)


def _greater(d: D, a: Limbs, b: Limbs) -> Limbs:
    return limbs.choose(d, limbs.below(d, b, a), a, b)


def order(prefix: str, of: DataType, below: OfTwo) -> dict[str, Promise]:
    """The four comparisons that an order has."""
    lt, gt, eq = (f"{prefix}.{name}" for name in ("lt", "gt", "eq"))
    kind = (of, of)
    equal = "wide.u64.eq" if prefix == "wide.i64" else eq
    return {
        "lt": Promise(of_two(below), (SelfInverse(0), Bounded(0, 1), Trichotomy(equal, gt))),
        "gt": Promise(
            of_two(lambda d, a, b: below(d, b, a)),
            (SelfInverse(0), Bounded(0, 1)),
            (about("above is below, swapped", kind, lambda f, a, b: Equation(f(a, b), ap(lt, b, a))),),
        ),
        "le": Promise(
            of_two(lambda d, a, b: d.xor(below(d, b, a), d.const(1))),
            (SelfInverse(1), Bounded(0, 1)),
            (
                about(
                    "at most is not above",
                    kind,
                    lambda f, a, b: Equation(f(a, b), _true_or_false(ap(gt, a, b))),
                ),
            ),
        ),
        "ge": Promise(
            of_two(lambda d, a, b: d.xor(below(d, a, b), d.const(1))),
            (SelfInverse(1), Bounded(0, 1)),
            (
                about(
                    "at least is not below",
                    kind,
                    lambda f, a, b: Equation(f(a, b), _true_or_false(ap(lt, a, b))),
                ),
            ),
        ),
    }


def pairs(prefix: str, of: DataType) -> dict[str, Promise]:
    """What both widths have of two operands."""
    add, sub, bit_and, bit_or, low, high = (
        f"{prefix}.{name}" for name in ("add", "sub", "and", "or", "min", "max")
    )
    ones = (1 << of.bits) - 1
    lattice = (Commutative(), Associative(), Idempotent())
    # The sum of four words is associative, too, but solvers take minutes to see it.
    grouped = (Associative(),) if of.lanes == 2 else ()
    return {
        "add": Promise(of_two(limbs.add), (Commutative(), *grouped, Identity(0)), (InverseOf(sub),)),
        "sub": Promise(of_two(limbs.sub), (SelfInverse(0), RightIdentity(0)), (InverseOf(add),)),
        "and": Promise(_lanes("and_"), (*lattice, Identity(ones), Absorbing(0)), (DistributiveOver(bit_or),)),
        "or": Promise(_lanes("or_"), (*lattice, Identity(0), Absorbing(ones)), (DistributiveOver(bit_and),)),
        "xor": Promise(_lanes("xor"), (Commutative(), Associative(), Identity(0), SelfInverse(0))),
        "eq": Promise(of_two(limbs.equal), (Commutative(), SelfInverse(1), Bounded(0, 1))),
        "ne": Promise(
            of_two(lambda d, a, b: d.xor(limbs.equal(d, a, b), d.const(1))),
            (Commutative(), SelfInverse(0), Bounded(0, 1)),
        ),
        **order(prefix, of, limbs.below),
        "min": Promise(of_two(_lesser), (*lattice, Identity(ones), Absorbing(0)), (LatticeAbsorption(high),)),
        "max": Promise(of_two(_greater), (*lattice, Identity(0), Absorbing(ones)), (LatticeAbsorption(low),)),
    }


def singles(prefix: str, of: DataType) -> dict[str, Promise]:
    """What both widths have of one operand."""
    bits = of.bits
    words = range(of.lanes)
    empty = about(
        "of no bit, all of them",
        (of,),
        lambda f, a: Equation(f(ap(f"{prefix}.and", a, ap(f"{prefix}.not", a))), c(bits)),
    )
    fewer = about(
        "an added bit leaves no more",
        (of, of),
        lambda f, a, b: Equation(f(ap(f"{prefix}.or", a, b)), f(a), Relation.Le),
    )
    return {
        "not": Promise(of_one(limbs.complement), (Involution(), DeMorgan(f"{prefix}.and", f"{prefix}.or"))),
        "popcount": Promise(
            of_one(limbs.popcount),
            (Bounded(0, bits),),
            (
                about(
                    "the sum of its words' bits",
                    (of,),
                    lambda f, a: Equation(
                        f(a), _summed([ap(POPCOUNT, ap(lane_id(of, k), a)) for k in words])
                    ),
                ),
            ),
        ),
        "clz": Promise(
            of_one(limbs.clz),
            (Bounded(0, bits),),
            (
                empty,
                fewer,
            ),
        ),
        "ctz": Promise(
            of_one(limbs.ctz),
            (Bounded(0, bits),),
            (
                empty,
                fewer,
            ),
        ),
    }


def moving(of: DataType) -> tuple[Custom, Custom, Custom]:
    """What every shift by an amount promises: by 0, beyond the width, and of 0."""
    counted, none = of.bits.bit_length() - 1, Constant(0, of)
    return (
        about("by 0 changes nothing", (of,), lambda f, a: Equation(f(a, c(0)), a)),
        about(
            f"only {counted} bits of b count",
            (of, U32),
            lambda f, a, b: Equation(f(a, b), f(a, ap(AND, b, c(of.bits - 1)))),
        ),
        about("0 stays 0", (U32,), lambda f, a: Equation(f(none, a), none)),
    )


def shifts(prefix: str, of: DataType) -> dict[str, Promise]:
    """What both widths have of a value and an amount."""

    def shl(d: D, *words: Any) -> Any:
        return limbs.shl(d, words[:-1], words[-1])

    def shr(d: D, *words: Any) -> Any:
        return limbs.shr(d, words[:-1], words[-1], d.const(0))

    left, add = f"{prefix}.shl", f"{prefix}.add"
    doubled = about("by 1 is the sum with itself", (of,), lambda f, a: Equation(f(a, c(1)), ap(add, a, a)))
    lost = about(
        "what was shifted out is gone for good",
        (of, U32),
        lambda f, a, b: Equation(f(ap(left, f(a, b), b), b), f(a, b)),
    )
    return {"shl": Promise(shl, (), (*moving(of), doubled)), "shr": Promise(shr, (), (*moving(of), lost))}
