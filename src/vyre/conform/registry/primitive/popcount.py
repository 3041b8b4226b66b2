"""`Popcount`: how many bits are set, by adding neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import c, denied, law0, law1, unary
from vyre.conform.registry.classes import NONZERO, ONES, SINGLE, ZERO
from vyre.conform.registry.ids import AND, NE, NOT, REVERSE, SUB
from vyre.conform.spec.law import Bounded, Involution, Monotone, ap
from vyre.conform.spec.term import Equation
from vyre.ir.operators import UnaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V) -> V:
    pairs = d.sub(a, d.and_(d.shr(a, d.const(1)), d.const(0x5555_5555)))
    threes = d.const(0x3333_3333)
    fours = d.add(d.and_(pairs, threes), d.and_(d.shr(pairs, d.const(2)), threes))
    bytes_ = d.and_(d.add(fours, d.shr(fours, d.const(4))), d.const(0x0F0F_0F0F))
    halves = d.add(bytes_, d.shr(bytes_, d.const(8)))
    return d.and_(d.add(halves, d.shr(halves, d.const(16))), d.const(63))


SPEC = unary(
    UnaryOp.Popcount,
    cpu_fn,
    laws=(Bounded(0, 32),),
    properties=(
        law1("popcount(~a) = 32 - popcount(a)", lambda f, a: Equation(f(ap(NOT, a)), ap(SUB, c(32), f(a)))),
        law1("popcount(reverse(a)) = popcount(a)", lambda f, a: Equation(f(ap(REVERSE, a)), f(a))),
        law1(
            "a != 0 => popcount(a & (a - 1)) = popcount(a) - 1",
            lambda f, a: Equation(
                f(ap(AND, a, ap(SUB, a, c(1)))), ap(SUB, f(a), c(1)), precondition=ap(NE, a, c(0))
            ),
        ),
        law0("popcount(0) = 0", lambda f: Equation(f(c(0)), c(0))),
    ),
    non_laws=denied("own", Monotone(), Involution()),
    classes=(ZERO, SINGLE, ONES, NONZERO),
)
