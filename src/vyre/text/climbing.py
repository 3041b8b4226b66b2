"""Expressions from tokens: precedence climbing on an explicit stack of open brackets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vyre.ir import expr as e
from vyre.ir.limits import MAX_EXPR_DEPTH
from vyre.ir.operators import BinaryOp
from vyre.text.functions import Frame
from vyre.text.operands import signed_literal, start_operand
from vyre.text.vocabulary import COMPARE_LEVEL, INFIX, PREFIX, PREFIX_LEVEL

if TYPE_CHECKING:
    from vyre.errors import ParseError
    from vyre.text.lexer import Cursor

_INFIX: Final = {symbol: (level, op) for op, (symbol, level) in INFIX.items()}
_PREFIX: Final = {symbol: op for op, symbol in PREFIX.items()}

_MAX_OPEN: Final = 4 * MAX_EXPR_DEPTH
"""Open brackets, or operators waiting in one. An expression within the depth limit needs one per level;
the rest is room for parentheses that a person adds."""


def expression(c: Cursor) -> e.Expr:
    """Parses one expression and leaves the cursor on the token behind it."""
    frames = [Frame(c.at, "", (), lambda x: x[0])]
    while True:
        _operand(c, frames)
        if _ends(c, frames):
            return frames[0].values[0]


def _operand(c: Cursor, frames: list[Frame]) -> None:
    """Consumes prefix operators and opening brackets until there is a value."""
    frame = frames[-1]
    while True:
        prefix = _PREFIX.get(c.kinds[c.at])
        if prefix is not None:
            if _is_literal_sign(c):
                c.at += 1
                frame.values.append(signed_literal(c, negative=True))
                return
            if len(frame.pending) > _MAX_OPEN:
                raise _too_deep(c, c.at)
            frame.pending.append((PREFIX_LEVEL, prefix, c.at))
            c.at += 1
            continue
        start = c.at
        found = start_operand(c)
        if not isinstance(found, Frame):
            frame.values.append(found)
            return
        frame = found
        frames.append(frame)
        if len(frames) > _MAX_OPEN:
            raise _too_deep(c, start)
        if frame.marks is None and c.take(")"):
            _close(c, frames)
            return


def _ends(c: Cursor, frames: list[Frame]) -> bool:
    """Goes on behind a value: True at the end of the expression, False where an operand follows."""
    frame = frames[-1]
    while True:
        kind = c.kinds[c.at]
        if kind == ".":
            _lane(c, frame)
            continue
        infix = _INFIX.get(kind)
        if infix is not None:
            level, op = infix
            _reduce(c, frame, level)
            if frame.pending and frame.pending[-1][0] == level == COMPARE_LEVEL:
                raise c.error(
                    "comparisons do not chain.",
                    fix="put one of them in parentheses, or join them as in a < b && b < c.",
                )
            frame.pending.append((level, op, c.at))
            c.at += 1
            return False
        _reduce(c, frame, 0)
        if len(frames) == 1:
            return True
        if frame.marks is None:
            if c.take(","):
                return False
            if not c.take(")"):
                raise _unexpected(c, frame, "`,` or `)`")
        else:
            for mark in frame.marks[frame.done]:
                if not c.take(mark):
                    raise _unexpected(c, frame, f"`{mark}`")
            frame.done += 1
            if frame.done < len(frame.marks):
                return False
        _close(c, frames)
        frame = frames[-1]


def _close(c: Cursor, frames: list[Frame]) -> None:
    frame = frames.pop()
    value = frame.build(frame.values)
    if value.depth > MAX_EXPR_DEPTH:
        raise _too_deep(c, frame.token)
    frames[-1].values.append(value)


def _reduce(c: Cursor, frame: Frame, level: int) -> None:
    """Applies the waiting operators that bind tighter than `level`, or as tight unless they do not chain."""
    pending = frame.pending
    values = frame.values
    while pending and pending[-1][0] >= level:
        if pending[-1][0] == level == COMPARE_LEVEL:
            return
        _, op, token = pending.pop()
        right = values.pop()
        value = e.BinOp(op, values.pop(), right) if isinstance(op, BinaryOp) else e.UnOp(op, right)
        if value.depth > MAX_EXPR_DEPTH:
            raise _too_deep(c, token)
        values.append(value)


def _lane(c: Cursor, frame: Frame) -> None:
    at = c.at
    if c.kinds[at - 1] == "int" and c.kinds[at - 2] != ".":
        raise c.error(
            "a number followed by a point.",
            fix="write a float as f32(1.5), a lane of a literal as (5).1, a range as 0..n.",
        )
    c.at += 1
    index = c.integer("a lane from 0 to 255", low=0, high=255, fix="write the number of a lane, as in x.1.")
    value = e.Lane(frame.values.pop(), index)
    if value.depth > MAX_EXPR_DEPTH:
        raise _too_deep(c, at)
    frame.values.append(value)


def _is_literal_sign(c: Cursor) -> bool:
    """`-5i` without a space is a literal; `- 5i` and `-(5i)` negate one."""
    at = c.at
    offsets = c.tokens.offsets
    return c.kinds[at] == "-" and c.kinds[at + 1] == "i32" and offsets[at + 1] == offsets[at] + 1


def _unexpected(c: Cursor, frame: Frame, wanted: str) -> ParseError:
    line, column = c.tokens.place(c.tokens.offsets[frame.token])
    fix = f"write {frame.usage}."
    if c.kind not in (",", ")", "]", ".."):
        fix = f"put an operator or {wanted} here."
    return c.error(
        f"expected {wanted} in {frame.usage}, begun at {line}:{column}, found {c.describe()}.",
        fix=fix,
    )


def _too_deep(c: Cursor, at: int) -> ParseError:
    return c.error(
        f"V034: an expression of more than {MAX_EXPR_DEPTH} levels.",
        fix="give parts of it names of their own: by let in a program, as values in a graph.",
        at=at,
    )
