"""The words in which laws of float operations are written, for one format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vyre.conform.oracle.floats.doubles import F64
from vyre.conform.oracle.floats.layout import LAYOUTS
from vyre.conform.registry.ids import AND, LOGICAL_NOT, OR
from vyre.conform.spec.float_names import name_of
from vyre.conform.spec.law import AlgebraicLaw, Custom, ap
from vyre.conform.spec.op import NonLaw
from vyre.conform.spec.term import Constant, Equation, Term
from vyre.ir.types import DataType

SOURCE = "IEEE 754-2019"
Func = Callable[..., Term]


@dataclass(frozen=True, slots=True)
class Laws:
    """What is declared of one operation in one format."""

    laws: tuple[AlgebraicLaw, ...] = ()
    properties: tuple[AlgebraicLaw, ...] = ()
    non_laws: tuple[NonLaw, ...] = ()


class Vocabulary:
    """Terms over one format: its constants, its operations, and tests to state conditions with."""

    def __init__(self, of: DataType) -> None:
        self.of = of
        layout = F64 if of is DataType.F64 else LAYOUTS[of.value]
        self.zero, self.minus_zero = self._constant(0), self._constant(layout.sign)
        self.one, self.minus_one = self._constant(layout.one), self._constant(layout.one | layout.sign)
        unit = 1 << layout.fraction_bits
        self.two, self.half = self._constant(layout.one + unit), self._constant(layout.one - unit)
        self.nan = self._constant(layout.nan)

    def _constant(self, bits: int) -> Constant:
        return Constant(bits, self.of)

    def __call__(self, name: str, *args: Term) -> Term:
        return ap(name_of(name, self.of), *args)

    def number(self, x: Term) -> Term:
        return ap(LOGICAL_NOT, self("is_nan", x))

    def finite(self, x: Term) -> Term:
        return ap(LOGICAL_NOT, ap(OR, self("is_nan", x), self("is_inf", x)))

    def monotone(self) -> Custom:
        """Of an operation of one operand."""
        return self.law2("monotone", lambda f, a, b: true(self("le", f(a), f(b)), self("le", a, b)))

    def law1(self, name: str, predicate: Callable[[Func, Term], Equation]) -> Custom:
        return Custom(name, predicate, (self.of,))

    def law2(self, name: str, predicate: Callable[[Func, Term, Term], Equation]) -> Custom:
        return Custom(name, predicate, (self.of,) * 2)

    def law3(self, name: str, predicate: Callable[[Func, Term, Term, Term], Equation]) -> Custom:
        return Custom(name, predicate, (self.of,) * 3)


def all_of(*tests: Term) -> Term:
    """Where every test is 1."""
    whole = tests[0]
    for test in tests[1:]:
        whole = ap(AND, whole, test)
    return whole


def true(term: Term, given: Term | None = None) -> Equation:
    return Equation(term, Constant(1), precondition=given)


def denied(*laws: AlgebraicLaw) -> tuple[NonLaw, ...]:
    return tuple(NonLaw(law, SOURCE) for law in laws)
