"""Laws of comparisons, classes, minimum and maximum, and what NaN breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.float_.vocabulary import Laws, Vocabulary, all_of, denied, true
from vyre.conform.registry.ids import LOGICAL_NOT, OR
from vyre.conform.spec.float_names import name_of
from vyre.conform.spec.law import (
    Associative,
    Bounded,
    Commutative,
    Idempotent,
    LatticeAbsorption,
    SelfInverse,
    Trichotomy,
    ap,
)
from vyre.conform.spec.term import Equation

if TYPE_CHECKING:
    from collections.abc import Callable


def _extreme(other: str) -> Callable[[Vocabulary], Laws]:
    def made(v: Vocabulary) -> Laws:
        return Laws(
            laws=(Commutative(), Associative()),
            properties=(
                v.law1("itself, if a number", lambda f, a: Equation(f(a, a), a, precondition=v.number(a))),
                v.law1("a number beats NaN", lambda f, a: Equation(f(a, v.nan), a, precondition=v.number(a))),
                v.law2(
                    "absorbs the other, for numbers",
                    lambda f, a, b: Equation(
                        f(a, v(other, a, b)), a, precondition=all_of(v.number(a), v.number(b))
                    ),
                ),
            ),
            non_laws=denied(Idempotent(), LatticeAbsorption(name_of(other, v.of))),
        )

    return made


def _eq(v: Vocabulary) -> Laws:
    return Laws(
        laws=(Commutative(), Bounded(0, 1)),
        properties=(v.law1("reflexive for numbers", lambda f, a: true(f(a, a), v.number(a))),),
        non_laws=denied(SelfInverse(1)),
    )


def _ne(v: Vocabulary) -> Laws:
    return Laws(
        laws=(Commutative(), Bounded(0, 1)),
        properties=(
            v.law2("the negation of eq", lambda f, a, b: Equation(f(a, b), ap(LOGICAL_NOT, v("eq", a, b)))),
        ),
        non_laws=denied(SelfInverse(0)),
    )


def _lt(v: Vocabulary) -> Laws:
    return Laws(
        laws=(SelfInverse(0), Bounded(0, 1)),
        properties=(
            v.law2("gt swapped", lambda f, a, b: Equation(f(a, b), v("gt", b, a))),
            v.law3("transitive", lambda f, a, b, c: true(f(a, c), all_of(f(a, b), f(b, c)))),
        ),
        non_laws=denied(
            Trichotomy(name_of("eq", v.of), name_of("gt", v.of)),
            v.law2(
                "what is not less is at least",
                lambda f, a, b: Equation(ap(LOGICAL_NOT, f(a, b)), v("ge", a, b)),
            ),
        ),
    )


def _gt(v: Vocabulary) -> Laws:
    return Laws(laws=(SelfInverse(0), Bounded(0, 1)))


def _le(v: Vocabulary) -> Laws:
    return Laws(
        laws=(Bounded(0, 1),),
        properties=(
            v.law2("lt or eq", lambda f, a, b: Equation(f(a, b), ap(OR, v("lt", a, b), v("eq", a, b)))),
            v.law2("ge swapped", lambda f, a, b: Equation(f(a, b), v("ge", b, a))),
        ),
        non_laws=denied(SelfInverse(1)),
    )


def _ge(v: Vocabulary) -> Laws:
    return Laws(laws=(Bounded(0, 1),), non_laws=denied(SelfInverse(1)))


def _is_nan(v: Vocabulary) -> Laws:
    return Laws(
        laws=(Bounded(0, 1),),
        properties=(v.law1("not equal to itself", lambda f, a: Equation(f(a), v("ne", a, a))),),
    )


def _is_inf(v: Vocabulary) -> Laws:
    return Laws(
        laws=(Bounded(0, 1),),
        properties=(v.law1("the sign does not matter", lambda f, a: Equation(f(v("neg", a)), f(a))),),
    )


ORDER: dict[str, Callable[[Vocabulary], Laws]] = {
    "eq": _eq,
    "ne": _ne,
    "lt": _lt,
    "gt": _gt,
    "le": _le,
    "ge": _ge,
    "is_nan": _is_nan,
    "is_inf": _is_inf,
    "min": _extreme("max"),
    "max": _extreme("min"),
}
