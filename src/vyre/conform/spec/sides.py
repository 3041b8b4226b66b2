"""What each law says about an op, as equations.

    sides(law, spec) -> tuple[Equation, ...]

A law holds when every equation holds for all values of its variables. Two-sided forms come as two
equations; a bound comes as inequalities; a law that something exists (`ZeroProduct(holds=False)`) comes as
an equation of constants, its witness. The two sides of an equation are separate terms, because a compiler
that sees both in one kernel folds the question away: each is dispatched on its own.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, assert_never

from vyre.conform.spec.law import (
    ADD,
    EQ,
    LE,
    OR,
    SUB,
    Absorbing,
    AlgebraicLaw,
    Associative,
    Bounded,
    Commutative,
    Complement,
    Custom,
    DeMorgan,
    DistributiveOver,
    Idempotent,
    Identity,
    InverseOf,
    Involution,
    LatticeAbsorption,
    LeftAbsorbing,
    LeftIdentity,
    Monotone,
    RightAbsorbing,
    RightIdentity,
    SelfInverse,
    Trichotomy,
    ZeroProduct,
    ap,
    kind,
)
from vyre.conform.spec.term import Apply, Constant, Equation, Relation, Term, Variable
from vyre.errors import OpError
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.spec.op import OpSpec


def sides(law: AlgebraicLaw, spec: OpSpec) -> tuple[Equation, ...]:
    """What the law says about the op. Raises `OpError` where it does not fit the op's arity."""
    _check_arity(law, spec)
    of = spec.signature.inputs[0]
    a, b, c = (Variable(k, of) for k in range(3))

    def f(*args: Term) -> Term:
        return Apply(spec.id, args, len(spec.outputs) - 1)

    def k(bits: int) -> Constant:
        return Constant(bits, of)

    match law:
        case Commutative():
            return (Equation(f(a, b), f(b, a)),)
        case Associative():
            return (Equation(f(f(a, b), c), f(a, f(b, c))),)
        case Identity(e=e):
            return (Equation(f(a, k(e)), a), Equation(f(k(e), a), a))
        case LeftIdentity(e=e):
            return (Equation(f(k(e), a), a),)
        case RightIdentity(e=e):
            return (Equation(f(a, k(e)), a),)
        case SelfInverse(r=r):
            return (Equation(f(a, a), Constant(r, spec.signature.output)),)
        case Idempotent():
            return (Equation(f(a, a), a) if spec.arity == 2 else Equation(f(f(a)), f(a)),)
        case Absorbing(z=z):
            return (Equation(f(a, k(z)), k(z)), Equation(f(k(z), a), k(z)))
        case LeftAbsorbing(z=z):
            return (Equation(f(k(z), a), k(z)),)
        case RightAbsorbing(z=z):
            return (Equation(f(a, k(z)), k(z)),)
        case Involution():
            return (Equation(f(f(a)), a),)
        case DeMorgan(inner=inner, dual=dual):
            return (Equation(f(ap(inner, a, b)), ap(dual, f(a), f(b))),)
        case Monotone():
            held = tuple(Variable(j + 1, t) for j, t in enumerate(spec.signature.inputs) if j)
            return (Equation(f(a, *held), f(b, *held), Relation.Le, ap(LE, a, b)),)
        case Bounded(lo=lo, hi=hi):
            whole = f(*(Variable(j, t) for j, t in enumerate(spec.signature.inputs)))
            low = (Equation(Constant(lo), whole, Relation.Le),) if lo else ()
            return (*low, Equation(whole, Constant(hi), Relation.Le))
        case Complement(g=g, u=u):
            return (Equation(f(a), ap(SUB, Constant(u), ap(g, a))),)
        case DistributiveOver(g=g):
            return (Equation(f(a, ap(g, b, c)), ap(g, f(a, b), f(a, c))),)
        case ZeroProduct(holds=True):
            either = ap(OR, ap(EQ, a, k(0)), ap(EQ, b, k(0)))
            return (Equation(ap(EQ, f(a, b), k(0)), either, Relation.Le),)
        case ZeroProduct(witness=(x, y)):
            return (
                Equation(f(k(x), k(y)), k(0)),
                Equation(k(0), k(x), Relation.Lt),
                Equation(k(0), k(y), Relation.Lt),
            )
        case InverseOf(g=g):
            return (Equation(f(ap(g, a, b), b), a) if spec.arity == 2 else _unary_inverse(spec, g),)
        case LatticeAbsorption(g=g):
            return (Equation(f(a, ap(g, a, b)), a),)
        case Trichotomy(equal=equal, greater=greater):
            rest = ap(SUB, ap(SUB, Constant(1), ap(equal, a, b)), ap(greater, a, b))
            others = ap(ADD, ap(equal, a, b), ap(greater, a, b))
            return (Equation(f(a, b), rest), Equation(others, Constant(1), Relation.Le))
        case Custom(predicate=predicate, types=types):
            found = predicate(f, *(Variable(j, t) for j, t in enumerate(types or _u32s(predicate))))
            return found if isinstance(found, tuple) else (found,)
        case _:
            assert_never(law)


def _unary_inverse(spec: OpSpec, g: str) -> Equation:
    a = Variable(0, spec.signature.output)
    return Equation(Apply(spec.id, (ap(g, a),)), a)


def _u32s(predicate: Callable[..., Any]) -> tuple[DataType, ...]:
    return (DataType.U32,) * (len(inspect.signature(predicate).parameters) - 1)


_UNARY = (Involution, DeMorgan, Complement)
_ANY = (Bounded, Monotone, Idempotent, InverseOf, Custom)


def fits(law: AlgebraicLaw, spec: OpSpec) -> bool:
    """Whether the law is about ops of this arity."""
    if isinstance(law, _ANY):
        return spec.arity in (1, 2) or isinstance(law, Bounded | Monotone | Custom)
    return spec.arity == (1 if isinstance(law, _UNARY) else 2)


def _check_arity(law: AlgebraicLaw, spec: OpSpec) -> None:
    if not fits(law, spec):
        raise OpError(
            f"{kind(law)} does not apply to {spec.id}, which has {spec.arity} operands.",
            fix="declare a law of its arity, or a Custom one.",
        )
