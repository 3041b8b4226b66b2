"""Expressions to text, with as few parentheses as the grammar allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from vyre.errors import PrintError
from vyre.ir import expr as e
from vyre.ir.types import FLOAT_TYPES
from vyre.text.literals import decimal_of
from vyre.text.vocabulary import (
    ATOM_LEVEL,
    ATOMIC_FUNCTIONS,
    AXES,
    BINARY_FUNCTIONS,
    COMPARE_LEVEL,
    INFIX,
    LITERAL_FUNCTIONS,
    NUMBER_LEVEL,
    PREFIX,
    PREFIX_LEVEL,
    REDUCE_FUNCTIONS,
    UNARY_FUNCTIONS,
    name_text,
    op_id_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_Part = str | tuple[e.Expr, int]
"""Text, or an expression and the level below which it takes parentheses."""
_Parts = tuple[int, tuple[_Part, ...]]
"""The level of a form, and what it is made of."""


def expression_text(root: e.Expr) -> str:
    """One line; the caller has checked the limits."""
    out: list[str] = []
    stack: list[_Part] = [(root, 0)]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            out.append(part)
            continue
        expr, floor = part
        form = _FORMS.get(type(expr))
        if form is None:
            raise PrintError(
                f"{type(expr).__name__} is not an expression of the language.",
                fix="build programs from the expressions in vyre.ir.",
            )
        level, parts = form(expr)
        if level < floor:
            out.append("(")
            stack.append(")")
        stack.extend(reversed(parts))
    return "".join(out)


def _atom(*parts: _Part) -> _Parts:
    return ATOM_LEVEL, parts


def _function(name: str, operands: Iterable[e.Expr]) -> _Parts:
    parts: list[_Part] = [name, "("]
    for operand in operands:
        parts += ((operand, 0), ", ")
    if len(parts) > 2:
        parts.pop()
    return ATOM_LEVEL, (*parts, ")")


def _axis(word: str, axis: int) -> _Parts:
    return _atom(f"{word}.{AXES[axis] if axis < len(AXES) else axis}")


def _literal(x: e.Literal) -> _Parts:
    note = f" /* {decimal_of(x.type, x.bits)} */" if x.type in FLOAT_TYPES else ""
    return _atom(f"{LITERAL_FUNCTIONS[x.type]}(0x{x.bits:0{x.type.bits // 4}X}{note})")


def _binary(x: e.BinOp) -> _Parts:
    infix = INFIX.get(x.op)
    if infix is None:
        return _function(BINARY_FUNCTIONS[x.op], x.children)
    symbol, level = infix
    left = level + 1 if level == COMPARE_LEVEL else level
    return level, ((x.left, left), f" {symbol} ", (x.right, level + 1))


def _unary(x: e.UnOp) -> _Parts:
    symbol = PREFIX.get(x.op)
    if symbol is None:
        return _function(UNARY_FUNCTIONS[x.op], x.children)
    # `-5i` is the literal, so the negation of a literal keeps its parentheses.
    is_signed = symbol == "-" and isinstance(x.operand, e.LitI32)
    return PREFIX_LEVEL, (symbol, (x.operand, ATOM_LEVEL if is_signed else PREFIX_LEVEL))


def _atomic(x: e.Atomic) -> _Parts:
    rest: list[_Part] = []
    for operand in x.children[1:]:
        rest += (", ", (operand, 0))
    return _atom(ATOMIC_FUNCTIONS[x.op], "(", name_text(x.buffer), "[", (x.index, 0), "]", *rest, ")")


def _reduction(head: str, x: e.FReduce | e.FReduceApprox) -> _Parts:
    return _atom(f"{head}({name_text(x.buffer)}, ", (x.start, 0), "..", (x.stop, 0), ")")


_FORMS: Final[dict[type[e.Expr], Callable[[Any], _Parts]]] = {
    e.LitU32: lambda x: (NUMBER_LEVEL, (str(x.value),)),
    e.LitI32: lambda x: (NUMBER_LEVEL, (f"{x.value}i",)),
    e.LitBool: lambda x: _atom("true" if x.value else "false"),
    e.Literal: _literal,
    e.Var: lambda x: _atom(name_text(x.name)),
    e.Load: lambda x: _atom(name_text(x.buffer), "[", (x.index, 0), "]"),
    e.BufLen: lambda x: _atom(f"len({name_text(x.buffer)})"),
    e.InvocationId: lambda x: _axis("invocation", x.axis),
    e.WorkgroupId: lambda x: _axis("workgroup", x.axis),
    e.LocalId: lambda x: _axis("local", x.axis),
    e.BinOp: _binary,
    e.UnOp: _unary,
    e.Call: lambda x: _function(f"call {op_id_text(x.op_id)}", x.args),
    e.Select: lambda x: _function("select", x.children),
    e.Cast: lambda x: _function(f"cast<{x.target.value}>", x.children),
    e.Convert: lambda x: _function(f"convert<{x.target.value}, {x.mode.value}>", x.children),
    e.Lane: lambda x: _atom((x.value, ATOM_LEVEL), f".{x.index}"),
    e.MakeVec: lambda x: _function(f"make<{x.type.value}>", x.lanes),
    e.FMulAdd: lambda x: _function("fma", x.children),
    e.Atomic: _atomic,
    e.FReduce: lambda x: _reduction(f"{REDUCE_FUNCTIONS[x.order]}<{x.op.value}>", x),
    e.FReduceApprox: lambda x: _reduction(f"freduce_approx<{x.op.value}, {x.tolerance_ulps}>", x),
    e.Approx: lambda x: _function(f"approx<{x.op.value}, {x.tolerance_ulps}>", x.children),
}
