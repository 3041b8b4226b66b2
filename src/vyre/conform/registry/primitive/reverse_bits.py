"""`ReverseBits`: bit i moves to bit 31 - i, by swapping neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import c, denied, law1, unary
from vyre.conform.registry.classes import NONZERO, SINGLE, ZERO
from vyre.conform.registry.ids import AND, NOT, SHL, SHR, XOR
from vyre.conform.spec.law import DeMorgan, Idempotent, Involution, Monotone, ap
from vyre.conform.spec.term import Equation
from vyre.ir.operators import UnaryOp

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V


def cpu_fn(d: Domain[V], a: V) -> V:
    x = a
    for step, mask in ((1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0F0F_0F0F), (8, 0x00FF_00FF), (16, 0xFFFF)):
        by, low = d.const(step), d.const(mask)
        x = d.or_(d.shl(d.and_(x, low), by), d.and_(d.shr(x, by), low))
    return x


SPEC = unary(
    UnaryOp.ReverseBits,
    cpu_fn,
    laws=(Involution(),),
    properties=(
        DeMorgan(AND, AND),
        DeMorgan(XOR, XOR),
        law1("reverse(~a) = ~reverse(a)", lambda f, a: Equation(f(ap(NOT, a)), ap(NOT, f(a)))),
        law1(
            "reverse(a << 1) = reverse(a) >> 1",
            lambda f, a: Equation(f(ap(SHL, a, c(1))), ap(SHR, f(a), c(1))),
        ),
    ),
    non_laws=denied("own", Idempotent(), Monotone()),
    classes=(ZERO, SINGLE, NONZERO),
)
