"""The kinds of algebraic laws, and what each says as equations.

    sides(law, spec) -> tuple[Equation, ...]

A law holds when every equation holds for all values of its variables. Two-sided forms come as two
equations; a bound comes as inequalities; a law that something exists (`ZeroProduct(holds=False)`) comes as
an equation of constants, its witness. The two sides of an equation are separate terms, because a compiler
that sees both in one kernel folds the question away: each is dispatched on its own.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vyre.conform.spec.term import Apply, Constant, Equation, Relation, Term, Variable
from vyre.errors import OpError
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.spec.op import OpSpec

IDENTITY = "identity"
"""Stands for the function that returns its operand, where a law takes another op."""

ADD, SUB = "primitive.math.add", "primitive.math.sub"
EQ, LE, OR = "primitive.compare.eq", "primitive.compare.le", "primitive.logical.or"


@dataclass(frozen=True, slots=True)
class Commutative:
    """f(a, b) = f(b, a)"""


@dataclass(frozen=True, slots=True)
class Associative:
    """f(f(a, b), c) = f(a, f(b, c))"""


@dataclass(frozen=True, slots=True)
class Identity:
    """f(a, e) = a and f(e, a) = a"""

    e: int


@dataclass(frozen=True, slots=True)
class LeftIdentity:
    """f(e, a) = a"""

    e: int


@dataclass(frozen=True, slots=True)
class RightIdentity:
    """f(a, e) = a"""

    e: int


@dataclass(frozen=True, slots=True)
class SelfInverse:
    """f(a, a) = r"""

    r: int


@dataclass(frozen=True, slots=True)
class Idempotent:
    """f(a, a) = a; for a unary op f(f(a)) = f(a)"""


@dataclass(frozen=True, slots=True)
class Absorbing:
    """f(a, z) = z and f(z, a) = z"""

    z: int


@dataclass(frozen=True, slots=True)
class LeftAbsorbing:
    """f(z, a) = z"""

    z: int


@dataclass(frozen=True, slots=True)
class RightAbsorbing:
    """f(a, z) = z"""

    z: int


@dataclass(frozen=True, slots=True)
class Involution:
    """f(f(a)) = a"""


@dataclass(frozen=True, slots=True)
class DeMorgan:
    """f(inner(a, b)) = dual(f(a), f(b))"""

    inner: str
    dual: str


@dataclass(frozen=True, slots=True)
class Monotone:
    """a <= b implies f(a) <= f(b); for more operands in the first, the others held"""


@dataclass(frozen=True, slots=True)
class Bounded:
    """lo <= f(...) <= hi, for any arity"""

    lo: int
    hi: int


@dataclass(frozen=True, slots=True)
class Complement:
    """f(a) + g(a) = u"""

    g: str
    u: int


@dataclass(frozen=True, slots=True)
class DistributiveOver:
    """f(a, g(b, c)) = g(f(a, b), f(a, c))"""

    g: str


@dataclass(frozen=True, slots=True)
class ZeroProduct:
    """f(a, b) = 0 implies a = 0 or b = 0; `holds=False` says that this fails, at the witness"""

    holds: bool
    witness: tuple[int, int] = field(default=(0x10000, 0x10000), compare=False)


@dataclass(frozen=True, slots=True)
class InverseOf:
    """f(g(a)) = a; for binary ops f(g(a, b), b) = a"""

    g: str


@dataclass(frozen=True, slots=True)
class LatticeAbsorption:
    """f(a, g(a, b)) = a"""

    g: str


@dataclass(frozen=True, slots=True)
class Trichotomy:
    """exactly one of f(a, b), equal(a, b), greater(a, b) is 1, and the others are 0"""

    equal: str
    greater: str


@dataclass(frozen=True, slots=True)
class Custom:
    """A law by predicate: `predicate(f, a, b, …)` builds one equation or several from terms.

    `f` applies the op under test to terms. The variables are U32 unless `types` says otherwise.
    """

    name: str
    predicate: Callable[..., Equation | tuple[Equation, ...]]
    types: tuple[DataType, ...] = ()


AlgebraicLaw = (
    Commutative
    | Associative
    | Identity
    | LeftIdentity
    | RightIdentity
    | SelfInverse
    | Idempotent
    | Absorbing
    | LeftAbsorbing
    | RightAbsorbing
    | Involution
    | DeMorgan
    | Monotone
    | Bounded
    | Complement
    | DistributiveOver
    | ZeroProduct
    | InverseOf
    | LatticeAbsorption
    | Trichotomy
    | Custom
)


def kind(law: AlgebraicLaw) -> str:
    """The name of the law: its kind, or the name of a custom one."""
    return law.name if isinstance(law, Custom) else type(law).__name__


def parameters(law: AlgebraicLaw) -> dict[str, Any]:
    """What the law is declared with, for reports."""
    match law:
        case Custom():
            return {}
        case ZeroProduct(holds=holds):
            return {"holds": holds}
        case _:
            return {name: getattr(law, name) for name in type(law).__match_args__}


def label(law: AlgebraicLaw) -> str:
    """`Identity(0)`, `Commutative`, `DistributiveOver(bitwise.or)`."""
    values = [_shown(v) for v in parameters(law).values()]
    return f"{kind(law)}({', '.join(values)})" if values else kind(law)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(Constant(value))
    return str(value).removeprefix("primitive.")


def ap(op: str, *args: Term) -> Term:
    """An application; `identity` gives its operand back."""
    return args[0] if op == IDENTITY else Apply(op, args)


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
            f"{kind(law)} is no law of an op with {spec.arity} operands, as {spec.id} has.",
            fix="declare a law of its arity, or a Custom one.",
        )
