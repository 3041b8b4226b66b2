"""`ReverseBits`: bit i moves to bit 31 - i, by swapping neighbours."""

from __future__ import annotations

from vyre.conform.registry.build import c, denied, law1, unary
from vyre.conform.registry.classes import NONZERO, SINGLE, ZERO
from vyre.conform.registry.ids import AND, NOT, SHL, SHR, XOR
from vyre.conform.spec.law import DeMorgan, Idempotent, Involution, Monotone, ap
from vyre.conform.spec.term import Equation
from vyre.ir.operators import UnaryOp

SPEC = unary(
    UnaryOp.ReverseBits,
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
