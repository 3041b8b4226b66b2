"""Laws of arithmetic, signs and rounding to integers, and what of real numbers does not survive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.float_.vocabulary import Func, Laws, Vocabulary, all_of, denied, true
from vyre.conform.spec.float_names import name_of
from vyre.conform.spec.law import (
    Absorbing,
    Associative,
    Commutative,
    DistributiveOver,
    Idempotent,
    Identity,
    Involution,
    SelfInverse,
)
from vyre.conform.spec.term import Equation

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.spec.term import Term


def _add(v: Vocabulary) -> Laws:
    return Laws(
        laws=(Commutative(),),
        properties=(
            v.law1(
                "-0 changes no number",
                lambda f, a: Equation(f(a, v.minus_zero), a, precondition=v.number(a)),
            ),
            v.law1("a + a is 2 a", lambda f, a: Equation(f(a, a), v("mul", a, v.two))),
            v.law2(
                "what is not negative does not lower",
                lambda f, a, b: true(v("le", a, f(a, b)), all_of(v("le", v.zero, b), v.number(f(a, b)))),
            ),
        ),
        non_laws=denied(
            Associative(),
            Identity(0),
            v.law2(
                "a sum can be taken apart",
                lambda f, a, b: Equation(
                    v("sub", f(a, b), b),
                    a,
                    precondition=all_of(v("ne", a, v.zero), v.finite(a), v.finite(f(a, b))),
                ),
            ),
        ),
    )


def _sub(v: Vocabulary) -> Laws:
    def sterbenz(f: Func, a: Term, b: Term) -> Equation:
        near = all_of(v("le", v("mul", b, v.half), a), v("le", a, v("mul", b, v.two)), v("lt", v.zero, a))
        # As a comparison, not of bits: solvers are twice as fast, and nothing here is zero or NaN.
        return true(v("eq", v("add", f(a, b), b), a), all_of(near, v.finite(a), v.finite(b)))

    return Laws(
        properties=(
            v.law1("a - a is +0", lambda f, a: Equation(f(a, a), v.zero, precondition=v.finite(a))),
            v.law1("+0 changes no number", lambda f, a: Equation(f(a, v.zero), a, precondition=v.number(a))),
            v.law2(
                "subtraction adds the opposite",
                lambda f, a, b: Equation(f(a, b), v("add", a, v("neg", b))),
            ),
            v.law2("Sterbenz: exact for close operands", sterbenz),
        ),
        non_laws=denied(
            SelfInverse(0),
            v.law2(
                "always opposite",
                lambda f, a, b: Equation(v("neg", f(a, b)), f(b, a), precondition=v.number(f(a, b))),
            ),
        ),
    )


def _mul(v: Vocabulary) -> Laws:
    return Laws(
        laws=(Commutative(),),
        properties=(
            v.law1("1 changes no number", lambda f, a: Equation(f(a, v.one), a, precondition=v.number(a))),
            v.law1(
                "-1 is negation",
                lambda f, a: Equation(f(a, v.minus_one), v("neg", a), precondition=v.number(a)),
            ),
            v.law1("half is division by 2", lambda f, a: Equation(f(a, v.half), v("div", a, v.two))),
            v.law2(
                "signs factor out",
                lambda f, a, b: Equation(
                    f(v("neg", a), b), v("neg", f(a, b)), precondition=v.number(f(a, b))
                ),
            ),
            v.law2(
                "a factor from 1 on does not lower",
                lambda f, a, b: true(
                    v("le", a, f(a, b)), all_of(v("le", v.zero, a), v("le", v.one, b), v.number(f(a, b)))
                ),
            ),
            v.law1("a square is not negative", lambda f, a: true(v("le", v.zero, f(a, a)), v.number(a))),
        ),
        non_laws=denied(
            Associative(),
            Absorbing(0),
            DistributiveOver(name_of("add", v.of)),
            v.law2(
                "a product can be taken apart",
                lambda f, a, b: Equation(
                    v("div", f(a, b), b),
                    a,
                    precondition=all_of(
                        v("ne", f(a, b), v.zero), v.finite(f(a, b)), v("ne", b, v.zero), v.finite(b)
                    ),
                ),
            ),
        ),
    )


def _div(v: Vocabulary) -> Laws:
    return Laws(
        properties=(
            v.law1("1 changes no number", lambda f, a: Equation(f(a, v.one), a, precondition=v.number(a))),
            v.law1(
                "a / a is 1",
                lambda f, a: Equation(f(a, a), v.one, precondition=all_of(v.finite(a), v("ne", a, v.zero))),
            ),
        ),
        non_laws=denied(
            SelfInverse(v.one.bits),
            v.law2(
                "division multiplies by the reciprocal",
                lambda f, a, b: Equation(f(a, b), v("mul", a, f(v.one, b))),
            ),
        ),
    )


def _fma(v: Vocabulary) -> Laws:
    return Laws(
        properties=(
            v.law3("factors commute", lambda f, a, b, c: Equation(f(a, b, c), f(b, a, c))),
            v.law2(
                "plus -0 is multiplication",
                lambda f, a, b: Equation(f(a, b, v.minus_zero), v("mul", a, b)),
            ),
        ),
        non_laws=denied(
            v.law3(
                "fused is multiplied, then added",
                lambda f, a, b, c: Equation(
                    f(a, b, c), v("add", v("mul", a, b), c), precondition=v.finite(f(a, b, c))
                ),
            ),
        ),
    )


def _sqrt(v: Vocabulary) -> Laws:
    return Laws(
        properties=(
            v.law1("not negative", lambda f, a: true(v("le", v.zero, f(a)), v.number(f(a)))),
            v.law1(
                "not above its operand, from 1 on", lambda f, a: true(v("le", f(a), a), v("le", v.one, a))
            ),
            v.law1("NaN below zero", lambda f, a: Equation(f(a), v.nan, precondition=v("lt", a, v.zero))),
        ),
        non_laws=denied(
            v.law1(
                "undoes a square",
                lambda f, a: Equation(f(v("mul", a, a)), v("abs", a), precondition=v.finite(a)),
            )
        ),
    )


def _neg(v: Vocabulary) -> Laws:
    return Laws(
        laws=(Involution(),),
        non_laws=denied(
            v.law1("0 - a", lambda f, a: Equation(f(a), v("sub", v.zero, a), precondition=v.number(a)))
        ),
    )


def _abs(v: Vocabulary) -> Laws:
    return Laws(
        laws=(Idempotent(),),
        properties=(v.law1("the sign does not matter", lambda f, a: Equation(f(v("neg", a)), f(a))),),
    )


def _floor(v: Vocabulary) -> Laws:
    return Laws(
        laws=(Idempotent(),),
        properties=(
            v.monotone(),
            v.law1("not above", lambda f, a: true(v("le", f(a), a), v.number(a))),
            v.law1(
                "ceil of the opposite",
                lambda f, a: Equation(f(v("neg", a)), v("neg", v("ceil", a)), precondition=v.number(a)),
            ),
        ),
        non_laws=denied(
            v.law1(
                "moves with 1",
                lambda f, a: Equation(f(v("add", a, v.one)), v("add", f(a), v.one), precondition=v.finite(a)),
            )
        ),
    )


def _ceil(v: Vocabulary) -> Laws:
    return Laws(
        laws=(Idempotent(),),
        properties=(
            v.monotone(),
            v.law1("not below", lambda f, a: true(v("le", a, f(a)), v.number(a))),
        ),
    )


def _round(v: Vocabulary) -> Laws:
    return Laws(
        laws=(Idempotent(),),
        properties=(
            v.monotone(),
            v.law1("odd", lambda f, a: Equation(f(v("neg", a)), v("neg", f(a)), precondition=v.number(a))),
        ),
    )


def _trunc(v: Vocabulary) -> Laws:
    return Laws(
        laws=(Idempotent(),),
        properties=(
            v.law1(
                "floor from zero on",
                lambda f, a: Equation(f(a), v("floor", a), precondition=v("le", v.zero, a)),
            ),
        ),
    )


ARITHMETIC: dict[str, Callable[[Vocabulary], Laws]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "fma": _fma,
    "sqrt": _sqrt,
    "neg": _neg,
    "abs": _abs,
    "floor": _floor,
    "ceil": _ceil,
    "round": _round,
    "trunc": _trunc,
}
