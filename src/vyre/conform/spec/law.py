"""The kinds of algebraic laws, as data; `sides.py` turns each into equations about an op."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vyre.conform.spec.term import Apply, Constant, Equation, Term

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.types import DataType

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
