"""The float operators of the language by name: one table from operator to definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import InterpreterError
from vyre.ir.operators import ApproxOp, BinaryOp, UnaryOp
from vyre.reference.floats import (
    arithmetic,
    compare,
    error,
    exponentials,
    hyperbolic,
    power,
    rounding,
    trigonometry,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.ir.float_formats import FloatFormat

BINARY: Mapping[BinaryOp, Callable[[FloatFormat, int, int], int]] = {
    BinaryOp.FAdd: arithmetic.add,
    BinaryOp.FSub: arithmetic.sub,
    BinaryOp.FMul: arithmetic.mul,
    BinaryOp.FDiv: arithmetic.div,
    BinaryOp.FMin: compare.minimum,
    BinaryOp.FMax: compare.maximum,
    BinaryOp.FEq: compare.eq,
    BinaryOp.FNe: compare.ne,
    BinaryOp.FLt: compare.lt,
    BinaryOp.FGt: compare.gt,
    BinaryOp.FLe: compare.le,
    BinaryOp.FGe: compare.ge,
    BinaryOp.FATan2: trigonometry.atan2,
    BinaryOp.FPow: power.power,
}

UNARY: Mapping[UnaryOp, Callable[[FloatFormat, int], int]] = {
    UnaryOp.FNeg: arithmetic.neg,
    UnaryOp.FAbs: arithmetic.absolute,
    UnaryOp.FSqrt: arithmetic.sqrt,
    UnaryOp.FIsNaN: compare.is_nan,
    UnaryOp.FIsInf: compare.is_inf,
    UnaryOp.FFloor: rounding.floor,
    UnaryOp.FCeil: rounding.ceil,
    UnaryOp.FRound: rounding.nearest,
    UnaryOp.FTrunc: rounding.trunc,
    UnaryOp.FSin: trigonometry.sin,
    UnaryOp.FCos: trigonometry.cos,
    UnaryOp.FTan: trigonometry.tan,
    UnaryOp.FASin: trigonometry.asin,
    UnaryOp.FACos: trigonometry.acos,
    UnaryOp.FATan: trigonometry.atan,
    UnaryOp.FExp: exponentials.exp,
    UnaryOp.FLog: exponentials.log,
    UnaryOp.FExp2: exponentials.exp2,
    UnaryOp.FLog2: exponentials.log2,
    UnaryOp.FExp10: exponentials.exp10,
    UnaryOp.FLog10: exponentials.log10,
    UnaryOp.FErf: error.erf,
    UnaryOp.FTanh: hyperbolic.tanh,
    UnaryOp.FSinh: hyperbolic.sinh,
    UnaryOp.FCosh: hyperbolic.cosh,
    UnaryOp.FExpm1: hyperbolic.expm1,
    UnaryOp.FLog1p: exponentials.log1p,
    UnaryOp.FCbrt: arithmetic.cbrt,
}

APPROX: Mapping[ApproxOp, Callable[[FloatFormat, int], int]] = {
    ApproxOp.FSinApprox: trigonometry.sin,
    ApproxOp.FCosApprox: trigonometry.cos,
    ApproxOp.FExpApprox: exponentials.exp,
    ApproxOp.FLogApprox: exponentials.log,
    ApproxOp.FTanhApprox: hyperbolic.tanh,
}


def binary(op: BinaryOp, fmt: FloatFormat, a: int, b: int) -> int:
    """A float operator on two values of one format; comparisons give 0 or 1."""
    function = BINARY.get(op)
    if function is None:
        raise _not_a_float_operator(op.value)
    return function(fmt, a, b)


def unary(op: UnaryOp, fmt: FloatFormat, a: int) -> int:
    """A float operator on one value; FIsNaN and FIsInf give 0 or 1."""
    function = UNARY.get(op)
    if function is None:
        raise _not_a_float_operator(op.value)
    return function(fmt, a)


def approx(op: ApproxOp, fmt: FloatFormat, bits: int) -> int:
    """The correctly rounded value that an approximate function is measured against."""
    return APPROX[op](fmt, bits)


def _not_a_float_operator(name: str) -> InterpreterError:
    return InterpreterError(
        f"{name} is not an operator on floats.",
        fix=f"use F{name} on floats where it exists, or cast the operands to an integer type.",
    )
