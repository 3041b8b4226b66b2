"""Definitions and expressions of a stranger's op, most of them wrong in one way."""

from __future__ import annotations

from itertools import count
from typing import Any

from vyre.conform.spec.law import ap
from vyre.conform.spec.term import Equation
from vyre.ir.expr import Call, Expr, Var

_CALLS = count()


def add(d: Any, a: Any, b: Any) -> Any:
    return d.add(a, b)


def nothing(d: Any, a: Any, b: Any) -> Any:
    return ()


def wavering(d: Any, a: Any, b: Any) -> Any:
    return d.add(d.add(a, b), d.const(next(_CALLS)))


def fraction(d: Any, a: Any, b: Any) -> Any:
    return 1.5


def too_wide(d: Any, a: Any, b: Any) -> Any:
    return a + b + (1 << 40)


def bare(d: Any, a: Any, b: Any) -> Any:
    """A number of Python's own, where `d.const(5)` is due."""
    return 5


def asking(d: Any, a: Any, b: Any) -> Any:
    """Takes its operands for numbers, which they are not for a solver."""
    return a if a < b else b


def plain(operands: tuple[Expr, ...]) -> Expr:
    a, b = operands
    return a + b


def unregistered(operands: tuple[Expr, ...]) -> Expr:
    return Call("stranger.nowhere", operands)


def two_faced(operands: tuple[Expr, ...]) -> Expr:
    """Short where it is looked at, long where it is called."""
    a, b = operands
    called = isinstance(a, Var) and a.name.startswith("p")
    return (a ^ b) + (a & b) * 2 if called else a + b


def raising(f: Any, a: Any) -> Equation:
    raise KeyError("table")


def of_one(f: Any, a: Any) -> Equation:
    return Equation(f(a), a)


def of_nothing_known(f: Any, a: Any, b: Any) -> Equation:
    return Equation(f(a, b), ap("stranger.nowhere", a, b))


def by_itself(f: Any, a: Any, b: Any) -> Equation:
    return Equation(f(a, b), f(a, b))
