"""I64 to floats and back, each rounded once, on the words that every backend has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import BinOp, Call, Cast, Convert, FMulAdd, LitU32, MakeVec, Select, UnOp, u64
from vyre.ir.operators import BinaryOp, RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.tensor.scalars import literal

if TYPE_CHECKING:
    from vyre.ir.expr import Expr

_T = DataType
_B, _U = BinaryOp, UnaryOp
_ROUNDED = {
    RoundMode.Nearest: _U.FRound,
    RoundMode.Truncate: _U.FTrunc,
    RoundMode.Floor: _U.FFloor,
    RoundMode.Ceil: _U.FCeil,
}
_HALF = 2.0**32
_BIAS, _PLACE = 127, 23
"""Of the exponent of an F32."""


def _high(value: Expr) -> Expr:
    return Cast(_T.U32, Call("wide.u64.shr", (value, LitU32(32))))


def long_to_float(value: Expr, target: DataType) -> Expr:
    """The bits of an I64, a U64, as the nearest float."""
    if target is _T.F64:
        high, low = (Convert(target, RoundMode.Nearest, x) for x in (_signed(value), Cast(_T.U32, value)))
        return FMulAdd(high, literal(_HALF, target), low)
    # The highest 32 bits, the lowest of them set where anything below them is: one rounding then sees all.
    size = Call("wide.i64.abs", (value,))
    shift = BinOp(_B.Sub, LitU32(32), UnOp(_U.Clz, _high(size)))
    top = Call("wide.u64.shr", (size, shift))
    lost = Call("wide.u64.ne", (Call("wide.u64.shl", (top, shift)), size))
    word = BinOp(_B.BitOr, Cast(_T.U32, top), lost)
    near = _cast(Convert(target, RoundMode.Nearest, word), target, _T.F32)
    exponent = BinOp(_B.Shl, BinOp(_B.Add, shift, LitU32(_BIAS)), LitU32(_PLACE))
    made = BinOp(_B.FMul, near, Cast(_T.F32, exponent))
    below = Cast(_T.Bool, BinOp(_B.Shr, _high(value), LitU32(31)))
    return _cast(Select(below, UnOp(_U.FNeg, made), made), _T.F32, target)


def _signed(value: Expr) -> Expr:
    return Cast(_T.I32, _high(value))


def _cast(value: Expr, source: DataType, target: DataType) -> Expr:
    return value if source is target else Cast(target, value)


def float_to_long(value: Expr, source: DataType, mode: RoundMode) -> Expr:
    """A float as the bits of an I64: rounded, saturated, 0 for NaN."""
    kind = source if source is _T.F64 else _T.F32
    whole = UnOp(_ROUNDED[mode], _cast(value, source, kind))
    size = UnOp(_U.FAbs, whole)
    high = Convert(_T.U32, RoundMode.Truncate, BinOp(_B.FMul, size, literal(1 / _HALF, kind)))
    # What the high word holds has no more bits than the float: the difference is exact.
    held = BinOp(_B.FMul, Convert(kind, RoundMode.Nearest, high), literal(_HALF, kind))
    low = Convert(_T.U32, RoundMode.Truncate, BinOp(_B.FSub, size, held))
    below = Cast(_T.Bool, BinOp(_B.FLt, whole, literal(0.0, kind)))
    beyond = Cast(_T.Bool, BinOp(_B.FGe, size, literal(2.0**63, kind)))
    words = MakeVec(_T.U64, (low, high))
    inside = Select(below, Call("wide.u64.sub", (u64(0), words)), words)
    return Select(beyond, Select(below, u64(1 << 63), u64((1 << 63) - 1)), inside)
