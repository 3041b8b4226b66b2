"""The meaning of every pure operation, as a function from operand bits to result bits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from vyre.errors import InterpreterError
from vyre.ir import expr as e
from vyre.ir.limits import U32_MAX
from vyre.ir.operators import FLOAT_BINARY_OPS, FLOAT_UNARY_OPS
from vyre.ir.types import FLOAT_TYPES, DataType
from vyre.reference import integers
from vyre.reference.casts import caster

if TYPE_CHECKING:
    from collections.abc import Callable


def _select(condition: int, if_true: int, if_false: int) -> int:
    return if_true if condition else if_false


def _lane(index: int, value: int) -> int:
    return (value >> 32 * index) & U32_MAX


def _make_vec(*lanes: int) -> int:
    return sum(lane << 32 * i for i, lane in enumerate(lanes))


def function_of(expr: e.Expr, types: tuple[DataType, ...]) -> Callable[..., int]:
    """What a node computes from operands of these types, which `type_of` has accepted."""
    match expr:
        case e.Select():
            return _select
        case e.Lane(index=index):
            return partial(_lane, index)
        case e.MakeVec():
            return _make_vec
        case e.Cast(target=target):
            return caster(types[0], target)
        case e.BinOp(op=op) if op not in FLOAT_BINARY_OPS:
            return integers.BINARY[op]
        case e.UnOp(op=op) if op not in FLOAT_UNARY_OPS:
            return integers.UNARY[op]
        case _:
            return _float_function(expr, types[0])


def _float_function(expr: e.Expr, source: DataType) -> Callable[..., int]:
    from vyre.reference import floats

    match expr:
        case e.BinOp(op=op):
            return partial(floats.binary, op, floats.FORMATS[source])
        case e.UnOp(op=op):
            return partial(floats.unary, op, floats.FORMATS[source])
        case e.FMulAdd():
            return partial(floats.fma, floats.FORMATS[source])
        case e.Approx(op=op):
            return partial(floats.approx, op, floats.FORMATS[source])
        case e.Convert(target=target, mode=mode) if source in FLOAT_TYPES:
            form = floats.FORMATS[source]

            def to_integer(bits: int) -> int:
                return floats.to_integer(form, bits, mode, target)

            return to_integer
        case e.Convert(target=target):
            return partial(floats.from_integer, floats.FORMATS[target], source)
        case _:
            raise InterpreterError(
                f"{type(expr).__name__} cannot be computed from values alone.",
                fix="give this kind of expression its own instruction.",
            )


def fold_of(expr: e.FReduce | e.FReduceApprox, element: DataType) -> Callable[[list[int]], int]:
    """The reduction of a list of elements; an approximate one gives the correctly rounded result."""
    from vyre.reference import floats

    form = floats.FORMATS[element]
    if isinstance(expr, e.FReduce):
        return partial(floats.reduce, expr.order, expr.op, form)
    return partial(floats.reduce_exact, expr.op, form)
