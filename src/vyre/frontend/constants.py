"""Arithmetic on numbers that are known while a kernel is translated: Python's own, exact and unbounded."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from vyre.frontend.values import Const, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_BITS = 4096

_PYTHON: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: a**b,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b,
    ast.BitXor: lambda a, b: a ^ b,
    ast.LShift: lambda a, b: a << b,
    ast.RShift: lambda a, b: a >> b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}


def fold(op: ast.AST, symbol: str, left: Any, right: Any) -> Const:
    """The constant `left op right`."""
    grows = isinstance(op, (ast.LShift, ast.Pow, ast.Mult))
    if grows and (abs(right) > 1 << _MAX_BITS or abs(left) > 1 << _MAX_BITS):
        raise Refused(f"the constant of `{symbol}` is too large.", "write a number that fits its type.")
    if isinstance(op, (ast.LShift, ast.Pow)) and abs(right) > _MAX_BITS:
        raise Refused(f"the constant of `{symbol}` is too large.", "write a number that fits its type.")
    try:
        value: Any = _PYTHON[type(op)](left, right)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise Refused(f"the constant cannot be computed: {error}.", "write a number.") from error
    if not isinstance(value, (int, float)):
        raise Refused(f"{value!r} is no number of a kernel.", "write an int or a float.")
    return Const(value)


def fold_unary(op: ast.unaryop, value: Any) -> Const:
    """The constant `op value`; a complement has no width yet and is refused."""
    if isinstance(op, ast.Not):
        return Const(not value)
    if isinstance(op, ast.Invert):
        raise Refused(
            f"`~{value}` has no width of its own.", f"write ~u32({value}), or the mask as a number."
        )
    return Const(-value if isinstance(op, ast.USub) else +value)
