"""Definitions and expressions of a stranger's op, most of them wrong in one way."""

from __future__ import annotations

from itertools import count
from typing import Any

from vyre.conform.spec.term import Equation
from vyre.ir.expr import Call, Expr, Var

_CALLS = count()


def add(d: Any, a: Any, b: Any) -> Any:
    return d.add(a, b)


def nothing(d: Any, a: Any, b: Any) -> Any:
    return ()


def wavering(d: Any, a: Any, b: Any) -> Any:
    return d.add(d.add(a, b), d.const(next(_CALLS)))


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


def by_itself(f: Any, a: Any, b: Any) -> Equation:
    return Equation(f(a, b), f(a, b))
