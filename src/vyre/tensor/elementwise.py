"""Operations on single elements, with broadcasting.

Two tensors must have one element type: nothing is promoted. Narrow integers are computed as I32 or U32,
which is what they are loaded as. Comparisons give Bool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from vyre.errors import boundary
from vyre.ir.expr import BinOp, Call, Cast, Expr, FMulAdd, LitU32, MakeVec, Select, UnOp, u64
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.tensor.applying import FLOAT_FIX, WHOLE_FIX, WIDE, A, B, C, apply, kind_of, refused, signed_order
from vyre.tensor.scalars import literal
from vyre.tensor.value import V, Value

if TYPE_CHECKING:
    from collections.abc import Callable


_T = DataType
_B, _U = BinaryOp, UnaryOp


def _arithmetic(
    name: str, floats: BinaryOp, words: BinaryOp | str, signed: BinaryOp | str, a: Any, b: Any
) -> Any:
    kind = kind_of(a, b)
    chosen = floats if kind.is_float else words if kind is _T.U32 else signed if kind is _T.I32 else None
    if kind is _T.U64 and floats in WIDE:
        return apply(signed_order(WIDE[floats], A, B), (a, b), gives=_T.I64)
    if chosen is None:
        raise refused(name, kind, "cast the tensor to i32, u32 or a float type first.")
    if isinstance(chosen, str):
        return apply(Call(chosen, (A, B)), (a, b))
    return apply(BinOp(chosen, A, B), (a, b))


@boundary
def add(a: V | float, b: V | float) -> V:
    """a + b; integers wrap."""
    return _arithmetic("the sum", _B.FAdd, _B.Add, _B.Add, a, b)


@boundary
def subtract(a: V | float, b: V | float) -> V:
    """a - b; integers wrap."""
    return _arithmetic("the difference", _B.FSub, _B.Sub, _B.Sub, a, b)


@boundary
def multiply(a: V | float, b: V | float) -> V:
    """a * b; integers wrap."""
    return _arithmetic("the product", _B.FMul, _B.Mul, _B.Mul, a, b)


@boundary
def divide(a: V | float, b: V | float) -> V:
    """The quotient of floats."""
    kind = kind_of(a, b)
    if not kind.is_float:
        raise refused("/", kind, f"use // for the whole quotient, or {WHOLE_FIX}")
    return apply(BinOp(_B.FDiv, A, B), (a, b))


_REST = Call("signed.mod", (A, B))
_DIFFERS = BinOp(_B.Shr, BinOp(_B.BitXor, Cast(_T.U32, _REST), Cast(_T.U32, B)), LitU32(31))
_BELOW = Select(BinOp(_B.Ne, Cast(_T.U32, _REST), LitU32(0)), _DIFFERS, LitU32(0))
"""1 where the quotient toward zero is one above the floor: a rest whose sign is not the divisor's."""


_SIGNS = Cast(_T.U32, Call("wide.u64.shr", (Call("wide.u64.xor", (A, B)), LitU32(63))))
_LONG_BELOW = MakeVec(_T.U64, (Select(Call("wide.u64.ne", (A, u64(0))), _SIGNS, LitU32(0)), LitU32(0)))
"""The same of a rest and a divisor of I64."""


def _whole(name: str, fix: str, words: BinaryOp, signed: Expr, a: Any, b: Any, long: str = "") -> Any:
    kind = kind_of(a, b)
    if kind is _T.U64:
        return apply(Call(long, (A, B)), (a, b), gives=_T.I64)
    if kind not in (_T.U32, _T.I32):
        raise refused(name, kind, fix if kind.is_float else "cast the tensor to i32 or u32 first.")
    return apply(signed if kind is _T.I32 else BinOp(words, A, B), (a, b))


@boundary
def floor_divide(a: V | float, b: V | float) -> V:
    """The quotient of integers, rounded down as in Python and NumPy; by 0 it is 0."""
    if kind_of(a, b) is _T.U64:
        return subtract(trunc_divide(a, b), apply(_LONG_BELOW, (fmod(a, b), b), gives=_T.I64))
    fix = "use floor(a / b), whose quotient is rounded first, or convert to integers."
    down = BinOp(_B.Sub, Call("signed.div", (A, B)), Cast(_T.I32, _BELOW))
    return _whole("//", fix, _B.Div, down, a, b)


@boundary
def remainder(a: V | float, b: V | float) -> V:
    """The rest of the division of integers, with the sign of `b` as in Python and NumPy; by 0 it is 0."""
    if kind_of(a, b) is _T.U64:
        rest = fmod(a, b)
        return add(rest, multiply(apply(_LONG_BELOW, (rest, b), gives=_T.I64), b))
    fix = "write a - floor(a / b) * b, with the roundings that this has."
    added = Cast(_T.I32, BinOp(_B.Mul, _BELOW, Cast(_T.U32, B)))
    return _whole("%", fix, _B.Mod, BinOp(_B.Add, _REST, added), a, b)


@boundary
def trunc_divide(a: V | float, b: V | float) -> V:
    """The quotient of integers, rounded toward zero as in kernels and in C; by 0 it is 0."""
    fix = "use trunc(a / b), whose quotient is rounded first, or convert to integers."
    return _whole("trunc_divide", fix, _B.Div, Call("signed.div", (A, B)), a, b, "wide.i64.div")


@boundary
def fmod(a: V | float, b: V | float) -> V:
    """The rest of the division of integers, with the sign of `a` as in kernels and in C; by 0 it is 0."""
    fix = "write a - trunc(a / b) * b, with the roundings that this has."
    return _whole("fmod", fix, _B.Mod, _REST, a, b, "wide.i64.mod")


@boundary
def power(a: V | float, b: V | float) -> V:
    """a to the power b, correctly rounded. Integers take a whole number of 0 or more, and wrap."""
    kind = kind_of(a, b)
    if not kind.is_float:
        if not _is_whole(b) or b < 0:
            raise refused(
                "a power with this exponent",
                kind,
                "use a whole number of 0 or more, or cast the tensor to f32 first.",
            )
        return _whole_power(a, int(b))
    if kind is _T.F64 and isinstance(a, Value) and not isinstance(b, Value) and b == 2:
        return multiply(a, a)
    return _function(_B.FPow, a, b)


def _is_whole(value: Any) -> TypeGuard[float]:
    if isinstance(value, (float, np.floating)):
        return float(value).is_integer()  # pyright: ignore[reportUnknownArgumentType]
    return isinstance(value, (int, np.integer))


def _whole_power(a: Any, exponent: int) -> Any:
    """By squares: wrapping products are the same in every order."""
    if exponent == 0:
        return add(multiply(a, 0), 1)
    half = _whole_power(a, exponent // 2) if exponent > 1 else None
    if half is None:
        return multiply(a, 1)
    square = multiply(half, half)
    return multiply(square, a) if exponent % 2 else square


@boundary
def sign(x: V) -> V:
    """-1, 0 or 1 as x is below, at or above 0; NaN and the sign of a zero stay."""
    kind = kind_of(x)
    if kind is _T.U32:
        return apply(Call("integer.min", (A, B)), (x, 1))
    if kind is _T.I32:
        return apply(Call("signed.max", (Call("signed.min", (A, B)), C)), (x, 1, -1))
    if kind is _T.U64:
        return fmax(fmin(x, 1), -1)
    if not kind.is_float:
        raise refused("sign", kind, "cast the tensor to i32 or a float type first.")
    above, below = Cast(_T.Bool, BinOp(_B.FGt, A, C)), Cast(_T.Bool, BinOp(_B.FLt, A, C))
    one, minus = literal(1.0, kind), literal(-1.0, kind)
    return apply(Select(above, one, Select(below, minus, A)), (x, 0.0, 0.0))


@boundary
def square(x: V) -> V:
    """x * x."""
    return multiply(x, x)


@boundary
def arctan2(a: V | float, b: V | float) -> V:
    """The angle of the point (b, a), correctly rounded."""
    return _function(_B.FATan2, a, b)


def _function(op: BinaryOp, a: Any, b: Any) -> Any:
    kind = kind_of(a, b)
    if not kind.is_float or kind is _T.F64:
        raise refused(op.value, kind, FLOAT_FIX)
    return apply(BinOp(op, A, B), (a, b))


@boundary
def fmin(a: V | float, b: V | float) -> V:
    """The lesser; a number beats NaN, and -0 is below +0."""
    return _arithmetic("the minimum", _B.FMin, "integer.min", "signed.min", a, b)


@boundary
def fmax(a: V | float, b: V | float) -> V:
    """The greater; a number beats NaN, and +0 is above -0."""
    return _arithmetic("the maximum", _B.FMax, "integer.max", "signed.max", a, b)


@boundary
def fma(a: V | float, b: V | float, c: V | float) -> V:
    """a * b + c, rounded once."""
    kind = kind_of(a, b, c)
    if not kind.is_float:
        raise refused("fma", kind, "write a * b + c.")
    return apply(FMulAdd(A, B, C), (a, b, c))


@boundary
def clip(x: V, low: float | V | None = None, high: float | V | None = None) -> V:
    """fmin(fmax(x, low), high), so a NaN becomes a bound."""
    if low is not None:
        x = fmax(x, low)
    return x if high is None else fmin(x, high)


def _unary(op: UnaryOp) -> Callable[[V], V]:
    @boundary
    def made(x: V) -> V:
        kind = kind_of(x)
        if not kind.is_float or (kind is _T.F64 and op.row.operands.name == "Function"):
            raise refused(op.value, kind, FLOAT_FIX)
        return apply(UnOp(op, A), (x,))

    made.__name__ = op.row.kernel
    made.__doc__ = f"`{op.value}` of each element."
    return made


sqrt, floor, ceil, round, trunc = map(_unary, (_U.FSqrt, _U.FFloor, _U.FCeil, _U.FRound, _U.FTrunc))
sin, cos, tan = map(_unary, (_U.FSin, _U.FCos, _U.FTan))
arcsin, arccos, arctan = map(_unary, (_U.FASin, _U.FACos, _U.FATan))
exp, exp2, exp10 = map(_unary, (_U.FExp, _U.FExp2, _U.FExp10))
log, log2, log10 = map(_unary, (_U.FLog, _U.FLog2, _U.FLog10))
sinh, cosh, tanh = map(_unary, (_U.FSinh, _U.FCosh, _U.FTanh))
erf, expm1, log1p, cbrt = map(_unary, (_U.FErf, _U.FExpm1, _U.FLog1p, _U.FCbrt))


@boundary
def isnan(x: V) -> V:
    return _truth(_U.FIsNaN, x)


@boundary
def isinf(x: V) -> V:
    return _truth(_U.FIsInf, x)


@boundary
def isfinite(x: V) -> V:
    """Whether each element is a number and not infinite."""
    kind = kind_of(x)
    if not kind.is_float:
        raise refused("isfinite", kind, "only floats can be NaN or infinite.")
    bad = BinOp(_B.BitOr, UnOp(_U.FIsNaN, A), UnOp(_U.FIsInf, A))
    return apply(Cast(_T.Bool, UnOp(_U.LogicalNot, Cast(_T.Bool, bad))), (x,), gives=_T.Bool)


def _truth(op: UnaryOp, x: V) -> V:
    kind = kind_of(x)
    if not kind.is_float:
        raise refused(op.value, kind, "only floats can be NaN or infinite.")
    return apply(Cast(_T.Bool, UnOp(op, A)), (x,), gives=_T.Bool)


@boundary
def negative(x: V) -> V:
    """-x: the sign bit of a float flipped, NaN included; integers wrap."""
    kind = kind_of(x)
    if kind is _T.U64:
        return subtract(0, x)
    op = _U.FNeg if kind.is_float else _U.Negate
    return apply(UnOp(op, A), (x,))


@boundary
def absolute(x: V) -> V:
    kind = kind_of(x)
    if kind.is_float:
        return apply(UnOp(_U.FAbs, A), (x,))
    if kind is _T.U64:
        return apply(Call("wide.i64.abs", (A,)), (x,), gives=_T.I64)
    return x if kind is _T.U32 else apply(Call("signed.abs", (A,)), (x,))


_WIDE_BITS = {_B.BitAnd: "wide.u64.and", _B.BitOr: "wide.u64.or", _B.BitXor: "wide.u64.xor"}


def _bits(op: BinaryOp, a: Any, b: Any) -> Any:
    kind = kind_of(a, b)
    if kind is _T.Bool:
        return apply(Cast(_T.Bool, BinOp(op, Cast(_T.U32, A), Cast(_T.U32, B))), (a, b))
    if kind.is_float:
        raise refused(op.value, kind, "compare first, or bitcast to u32.")
    if kind is _T.U64:
        return apply(Call(_WIDE_BITS[op], (A, B)), (a, b), gives=_T.I64)
    return apply(BinOp(op, A, B), (a, b))


@boundary
def bitwise_and(a: V | float, b: V | float) -> V:
    return _bits(_B.BitAnd, a, b)


@boundary
def bitwise_or(a: V | float, b: V | float) -> V:
    return _bits(_B.BitOr, a, b)


@boundary
def bitwise_xor(a: V | float, b: V | float) -> V:
    return _bits(_B.BitXor, a, b)


@boundary
def invert(x: V) -> V:
    """Bits flipped; of Bool, the other truth."""
    kind = kind_of(x)
    if kind is _T.Bool:
        return apply(Cast(_T.Bool, UnOp(_U.LogicalNot, A)), (x,), gives=_T.Bool)
    if kind.is_float:
        raise refused("~", kind, "compare first, or bitcast to u32.")
    if kind is _T.U64:
        return bitwise_xor(x, -1)
    return apply(UnOp(_U.BitNot, A), (x,))


@boundary
def left_shift(a: V, b: V | float) -> V:
    """a shifted left by the low 5 bits of b, 6 of an I64."""
    return _shift(_B.Shl, "signed.shl", "wide.u64.shl", a, b)


@boundary
def right_shift(a: V, b: V | float) -> V:
    """a shifted right by the low 5 bits of b, 6 of an I64; the sign of a signed one moves in."""
    return _shift(_B.Shr, "signed.shr", "wide.i64.shr", a, b)


def _shift(words: BinaryOp, signed: str, long: str, a: Any, b: Any) -> Any:
    kind = kind_of(a, b)
    if kind is _T.U32:
        return apply(BinOp(words, A, B), (a, b))
    if kind is _T.I32:
        return apply(Call(signed, (A, Cast(_T.U32, B))), (a, b))
    if kind is _T.U64:
        return apply(Call(long, (A, Cast(_T.U32, B))), (a, b), gives=_T.I64)
    raise refused("a shift", kind, "use integers.")
