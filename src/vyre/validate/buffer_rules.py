"""Rules for expressions that touch a buffer: loads, lengths, atomics and reductions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess
from vyre.ir.types import FLOAT_TYPES, DataType

if TYPE_CHECKING:
    from vyre.ir import expr as e
    from vyre.ir.buffers import BufferDecl
    from vyre.validate.sites import ExpressionSite

_T = DataType
_SCALAR_FIX = "expose the required value as an argument or compose at Program level."


def scalar_only(c: ExpressionSite, node: e.Expr, why: str) -> None:
    """V031: an op sees its arguments and nothing else of its caller."""
    c.fail(node, "V031", f"{why}, and {c.context.op_id} is an op that sees only values.", _SCALAR_FIX)


def load(c: ExpressionSite, expr: e.Load, types: list[DataType | None]) -> DataType | None:
    buffer = _buffer(c, expr, expr.buffer)
    c.operand(expr, 0, types[0], _T.U32, "the index of a load")
    return buffer.element.loaded if buffer else None


def length(c: ExpressionSite, expr: e.BufLen, types: list[DataType | None]) -> DataType:
    _buffer(c, expr, expr.buffer)
    return _T.U32


def atomic(c: ExpressionSite, expr: e.Atomic, types: list[DataType | None]) -> DataType:
    buffer = _buffer(c, expr, expr.buffer)
    if buffer is not None:
        _atomic_target(c, expr, buffer)
    names = ("the index of an atomic", "the value of an atomic", "the expected value of an atomic")
    for position, found in enumerate(types):
        c.operand(expr, position, found, _T.U32, names[position])
    return _T.U32


def reduction(
    c: ExpressionSite, expr: e.FReduce | e.FReduceApprox, types: list[DataType | None]
) -> DataType | None:
    buffer = _buffer(c, expr, expr.buffer)
    c.operand(expr, 0, types[0], _T.U32, "the start of a reduction")
    c.operand(expr, 1, types[1], _T.U32, "the end of a reduction")
    if buffer is None:
        return None
    if buffer.element in FLOAT_TYPES:
        return buffer.element
    c.fail(
        expr,
        "V013" if buffer.element is _T.Bytes else "V026",
        f"a float reduction does not take the {buffer.element.value} elements of {buffer.name}.",
        "reduce a buffer of F32, F16, BF16 or F64, or loop over the elements.",
    )
    return None


def _atomic_target(c: ExpressionSite, expr: e.Atomic, buffer: BufferDecl) -> None:
    """At most one of V025, V009, V013 and V014: the first that stands in the way."""
    if buffer.access is BufferAccess.Workgroup:
        c.fail(
            expr,
            "V025",
            f"{buffer.name} is plain workgroup memory, which has no atomics.",
            "declare it WorkgroupAtomic.",
        )
    elif not buffer.access.atomic:
        c.fail(
            expr,
            "V009",
            f"{buffer.name} is {buffer.access.value}, and an atomic writes.",
            "declare it ReadWrite, or WorkgroupAtomic for memory of one workgroup.",
        )
    elif buffer.element is _T.Bytes:
        c.fail(
            expr,
            "V013",
            f"{buffer.name} holds Bytes, which have no atomics.",
            "declare the element U32 and work on whole words.",
        )
    elif buffer.element is not _T.U32:
        c.fail(
            expr,
            "V014",
            f"{buffer.name} holds {buffer.element.value}, and atomics work on U32 alone.",
            "declare the element U32 and cast the values.",
        )


def _buffer(c: ExpressionSite, expr: e.Expr, name: str) -> BufferDecl | None:
    """The declaration, or None where it is missing, ambiguous or out of an op's sight."""
    if c.context.op_id is not None:
        scalar_only(c, expr, f"{type(expr).__name__} touches the buffer {name}")
        return None
    try:
        return c.context.buffers[name]
    except KeyError:
        close = c.report.suggest(name, c.context.buffers)
        c.fail(
            expr,
            "V004",
            f"no buffer is declared as {name}.{close}",
            f"declare the buffer {name} in the program.",
        )
        return None
