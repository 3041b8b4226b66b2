"""Small integer formulas of the golden data: `(a + b) % 2**32`, `a // b if b else 0`.

A golden row says what it expects as text, so that the expectation is data, can be locked, and is computed
by Python's own integers and by nothing of the implementation. Only arithmetic on names and numbers is
allowed; everything else is refused before it is evaluated.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import CodeType

_FUNCTIONS: dict[str, Callable[[int], int]] = {
    "bit_count": lambda a: a.bit_count(),
    "bit_length": lambda a: a.bit_length(),
    "reverse32": lambda a: int(f"{a:032b}"[::-1], 2),
}
_ALLOWED = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
    ast.expr_context,
)
_GLOBALS: dict[str, Any] = {"__builtins__": {}, **_FUNCTIONS}


@cache
def names(formula: str) -> frozenset[str]:
    """The variables of a formula; empty for a plain number such as `0xFF00`."""
    return frozenset(
        node.id
        for node in ast.walk(_checked(formula))
        if isinstance(node, ast.Name) and node.id not in _FUNCTIONS
    )


def evaluate(formula: str, values: Mapping[str, int]) -> int:
    """The value of a formula; conditions give 0 or 1."""
    return int(eval(_compiled(formula), _GLOBALS, values))  # what _checked let through cannot do harm


@cache
def _compiled(formula: str) -> CodeType:
    return compile(_checked(formula), "<golden>", "eval")


def _checked(formula: str) -> ast.Expression:
    try:
        tree = ast.parse(formula, mode="eval")
    except SyntaxError as error:
        raise _refusal(formula) from error
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[_], keywords=[]) if name in _FUNCTIONS:
                continue
            case ast.Constant(value=int()) | ast.Name():
                continue
            case _ if not isinstance(node, _ALLOWED):
                raise _refusal(formula)
            case _:
                continue
    return tree


def _refusal(formula: str) -> VyreError:
    return VyreError(
        f"{formula!r} is not a formula of the golden data.",
        fix="use integer arithmetic on names and numbers.",
    )
