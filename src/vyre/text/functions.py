"""Functions, with and without `<…>`: what stands between their operands and what they build."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeVar

from vyre.ir import expr as e
from vyre.ir.limits import U32_MAX
from vyre.ir.operators import ApproxOp, BinaryOp, ReduceOp, RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.text.lexer import clip
from vyre.text.vocabulary import (
    ATOMIC_FUNCTIONS,
    BINARY_FUNCTIONS,
    LITERAL_FUNCTIONS,
    REDUCE_FUNCTIONS,
    UNARY_FUNCTIONS,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.operators import AtomicOp
    from vyre.text.lexer import Cursor


@dataclass(slots=True)
class Frame:
    """An open bracket: the tokens after each operand in turn, and what to build at the end.

    `marks` None means any number of operands, separated by commas and closed by `)`. `pending`
    holds the operators that wait for their right operand inside this bracket.
    """

    token: int
    usage: str
    marks: tuple[tuple[str, ...], ...] | None
    build: Callable[[list[e.Expr]], e.Expr]
    values: list[e.Expr] = field(default_factory=list[e.Expr])
    pending: list[tuple[int, BinaryOp | UnaryOp, int]] = field(
        default_factory=list[tuple[int, BinaryOp | UnaryOp, int]]
    )
    done: int = 0


@dataclass(frozen=True, slots=True)
class _Shape:
    usage: str
    marks: tuple[tuple[str, ...], ...]
    build: Callable[[list[e.Expr]], e.Expr]


ONE: Final = ((")",),)
_TWO: Final = ((",",), (")",))
_THREE: Final = ((",",), (",",), (")",))
_RANGE: Final = (("..",), (")",))


def _unary(op: UnaryOp) -> Callable[[list[e.Expr]], e.Expr]:
    return lambda x: e.UnOp(op, x[0])


def _binary(op: BinaryOp) -> Callable[[list[e.Expr]], e.Expr]:
    return lambda x: e.BinOp(op, x[0], x[1])


_SHAPES: Final[dict[str, _Shape]] = {
    **{name: _Shape(f"{name}(x)", ONE, _unary(op)) for op, name in UNARY_FUNCTIONS.items()},
    **{name: _Shape(f"{name}(a, b)", _TWO, _binary(op)) for op, name in BINARY_FUNCTIONS.items()},
    "select": _Shape("select(condition, a, b)", _THREE, lambda x: e.Select(x[0], x[1], x[2])),
    "fma": _Shape("fma(a, b, c)", _THREE, lambda x: e.FMulAdd(x[0], x[1], x[2])),
}
_ATOMICS: Final = {name: op for op, name in ATOMIC_FUNCTIONS.items()}
_ORDERS: Final = {name: order for order, name in REDUCE_FUNCTIONS.items()}
FUNCTION_NAMES: Final = frozenset({*_SHAPES, *_ATOMICS, *LITERAL_FUNCTIONS.values(), "len"})


def start_function(c: Cursor, name: str) -> e.Expr | Frame:
    """`name(…`: the cursor stands on the name."""
    at = c.at
    c.at = at + 2
    shape = _SHAPES.get(name)
    if shape is not None:
        return Frame(at, shape.usage, shape.marks, shape.build)
    if name in _ATOMICS:
        return _atomic(c, at, _ATOMICS[name])
    if name == "len":
        buffer = c.name("the name of a buffer")
        c.expect(")", context="after the buffer", fix="write len(buffer).")
        return e.BufLen(buffer)
    near = difflib.get_close_matches(clip(name), FUNCTION_NAMES, 1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise c.error(
        f"there is no function `{clip(name)}`.",
        fix=f"{hint}An op is called with `call`: call {clip(name)}(…).",
        at=at,
    )


def _atomic(c: Cursor, at: int, op: AtomicOp) -> Frame:
    name = ATOMIC_FUNCTIONS[op]
    swaps = name == "atomic_compare_exchange"
    usage = f"{name}(buffer[index], value{', expected' if swaps else ''})"
    buffer = c.name("the name of a buffer")
    c.expect("[", context="after the buffer", fix=f"write {usage}.")
    marks = (("]", ","), (",",), (")",)) if swaps else (("]", ","), (")",))
    return Frame(at, usage, marks, lambda x: e.Atomic(op, buffer, *x))


def start_generic(c: Cursor, word: str) -> Frame | None:
    """`word<…>(…`, or None when the word is another keyword."""
    at = c.at
    match word:
        case "cast":
            _open(c, "cast<I32>(x)")
            target = member(c, DataType, "a type")
            return _arguments(c, at, "cast<I32>(x)", lambda x: e.Cast(target, x[0]))
        case "convert":
            usage = "convert<I32, Nearest>(x)"
            _open(c, usage)
            target = member(c, DataType, "a type")
            c.expect(",", context="after the type", fix=f"write {usage}.")
            mode = member(c, RoundMode, "a rounding mode")
            return _arguments(c, at, usage, lambda x: e.Convert(target, mode, x[0]))
        case "make":
            usage = "make<Vec2U32>(a, b)"
            _open(c, usage)
            target = member(c, DataType, "a type")
            return _arguments(c, at, usage, lambda x: e.MakeVec(target, tuple(x)), marks=None)
        case "approx":
            usage = "approx<FSinApprox, 4>(x)"
            _open(c, usage)
            function = member(c, ApproxOp, "an approximate function")
            ulps = _tolerance(c, usage)
            return _arguments(c, at, usage, lambda x: e.Approx(function, x[0], ulps))
        case "freduce_approx":
            usage = "freduce_approx<Add, 4>(buffer, start..stop)"
            _open(c, usage)
            op = member(c, ReduceOp, "a reduction")
            ulps = _tolerance(c, usage)
            buffer = _reduced(c, usage)
            return Frame(at, usage, _RANGE, lambda x: e.FReduceApprox(op, buffer, x[0], x[1], ulps))
        case "freduce_strict" | "freduce_tree":
            usage = f"{word}<Add>(buffer, start..stop)"
            order = _ORDERS[word]
            _open(c, usage)
            op = member(c, ReduceOp, "a reduction")
            buffer = _reduced(c, usage)
            return Frame(at, usage, _RANGE, lambda x: e.FReduce(order, op, buffer, x[0], x[1]))
        case _:
            return None


def _open(c: Cursor, usage: str) -> None:
    word = c.value
    c.at += 1
    c.expect(
        "<",
        context=f"after `{word}`",
        fix=f"write {usage}; a variable of that name is `{word}` in backticks.",
    )


def _tolerance(c: Cursor, usage: str) -> int:
    c.expect(",", context="before the tolerance", fix=f"write {usage}.")
    return c.integer("a tolerance in ulps, from 1 to 4294967295", low=1, high=U32_MAX, fix=f"write {usage}.")


def _close(c: Cursor, usage: str) -> None:
    c.expect(">", context="to close the `<`", fix=f"write {usage}.")
    c.expect("(", context="after `>`", fix=f"write {usage}.")


def _reduced(c: Cursor, usage: str) -> str:
    _close(c, usage)
    buffer = c.name("the name of a buffer")
    c.expect(",", context="after the buffer", fix=f"write {usage}.")
    return buffer


def _arguments(
    c: Cursor,
    at: int,
    usage: str,
    build: Callable[[list[e.Expr]], e.Expr],
    *,
    marks: tuple[tuple[str, ...], ...] | None = ONE,
) -> Frame:
    _close(c, usage)
    return Frame(at, usage, marks, build)


_Member = TypeVar("_Member", bound=Enum)


def member(c: Cursor, enum: type[_Member], what: str) -> _Member:
    """One of the names of an enumeration, such as a type or a rounding mode."""
    found = enum.__members__.get(c.value) if c.kind == "name" else None
    if found is None:
        near = difflib.get_close_matches(c.value[:40], enum.__members__, 1, 0.375)
        hint = f"did you mean {near[0]}? " if near else ""
        names = ", ".join(enum.__members__)
        raise c.error(f"expected {what}, found {c.describe()}.", fix=f"{hint}use one of {names}.")
    c.at += 1
    return found
