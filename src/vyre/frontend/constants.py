"""Arithmetic on numbers that are known while a kernel is translated: as Python's own, exact and unbounded.

Quotients and remainders of integers are the exception: they truncate toward zero, as those of the running
kernel do (decision 38). `differs_from_python` says where that shows.

Sums, differences, products, quotients and comparisons of floats are done on integers and rounded once, so
that they do not depend on the rounding mode of the process.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from vyre.frontend.values import Const, Refused
from vyre.ir.float_bits import double_bits, double_of, is_finite, is_negative, nearest_of, size_of
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

_MAX_BITS = 4096

_PYTHON: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1),
    ast.Mod: lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
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
_RATIONAL: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    op: _PYTHON[op]
    for op in (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
}
"""What has an exact result on fractions."""


def fold(op: ast.AST, symbol: str, left: Any, right: Any) -> Const:
    """The constant `left op right`."""
    grows = isinstance(op, (ast.LShift, ast.Pow, ast.Mult))
    if grows and (abs(right) > 1 << _MAX_BITS or abs(left) > 1 << _MAX_BITS):
        raise Refused(f"the constant of `{symbol}` is too large.", "write a number that fits its type.")
    if isinstance(op, (ast.LShift, ast.Pow)) and abs(right) > _MAX_BITS:
        raise Refused(f"the constant of `{symbol}` is too large.", "write a number that fits its type.")
    if isinstance(op, (ast.FloorDiv, ast.Mod)) and (isinstance(left, float) or isinstance(right, float)):
        hint = "write math.floor(x / y)." if isinstance(op, ast.FloorDiv) else "write math.fmod(x, y)."
        raise Refused(f"`{symbol}` has no meaning on floats.", hint)
    try:
        value: Any = _exact(op, left, right)
        if value is None:
            value = _PYTHON[type(op)](left, right)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise Refused(f"the constant cannot be computed: {error}.", "write a number.") from error
    if not isinstance(value, (int, float)):
        raise Refused(f"{value!r} is not a number that a kernel can use.", "write an int or a float.")
    return Const(value)


def differs_from_python(op: ast.AST, left: Any, right: Any) -> bool:
    """Whether a quotient or remainder of constants is another one than in Python."""
    whole = isinstance(left, int) and isinstance(right, int) and right != 0
    negative = whole and (left < 0 or right < 0)
    if isinstance(op, ast.FloorDiv):
        return negative and left % right != 0
    return isinstance(op, ast.Mod) and negative


def _exact(op: ast.AST, left: Any, right: Any) -> Any:
    """The result on integers; None where nothing is rounded: of integers, infinities, NaNs, most zeros."""
    if not (isinstance(left, float) or isinstance(right, float)) or type(op) not in _RATIONAL:
        return None
    a, b = _fraction(left), _fraction(right)
    if a is None or b is None:
        return None
    sum_of_one = isinstance(op, ast.Add | ast.Sub) and (a or b)
    if not isinstance(op, ast.cmpop) and not (a and b) and not sum_of_one:
        return None
    value = _RATIONAL[type(op)](a, b)
    if isinstance(value, bool):
        return value
    return double_of(nearest_of(DataType.F64, abs(value), negative=value < 0))


def _fraction(value: Any) -> Fraction | None:
    """The exact value of a finite number."""
    from fractions import Fraction

    if not isinstance(value, float):
        return Fraction(value)
    bits = double_bits(value)
    if not is_finite(DataType.F64, bits):
        return None
    size = Fraction(*size_of(DataType.F64, bits))
    return -size if is_negative(DataType.F64, bits) else size


def fold_unary(op: ast.unaryop, value: Any) -> Const:
    """The constant `op value`; a complement has no width yet and is refused."""
    if isinstance(op, ast.Not):
        return Const(not value)
    if isinstance(op, ast.Invert):
        raise Refused(
            f"`~{value}` has no width of its own.", f"write ~u32({value}), or the mask as a number."
        )
    return Const(-value if isinstance(op, ast.USub) else +value)
