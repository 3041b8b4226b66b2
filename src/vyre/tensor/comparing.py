"""Comparisons, choices and conversions of elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError, boundary
from vyre.ir.expr import BinOp, Call, Cast, Convert, Literal, Select, UnOp
from vyre.ir.operators import BinaryOp, RoundMode, UnaryOp
from vyre.ir.types import NARROW_TYPES, DataType
from vyre.ir.typing import CAST_TABLE
from vyre.tensor.applying import WIDE, A, B, C, apply, first, kind_of, node, refused, signed_order
from vyre.tensor.defaults import element_of
from vyre.tensor.long import float_to_long, long_to_float
from vyre.tensor.mixed import mixed
from vyre.tensor.scalars import float_bits, literal
from vyre.tensor.value import V, Value, operation

if TYPE_CHECKING:
    from vyre.ir.expr import Expr

_T = DataType
_B, _U = BinaryOp, UnaryOp


def _compare(floats: BinaryOp, words: BinaryOp, signed: str | None, a: Any, b: Any) -> Any:
    kind = kind_of(a, b)
    if kind.is_float:
        return apply(Cast(_T.Bool, BinOp(floats, A, B)), (a, b), gives=_T.Bool)
    if kind is _T.U64:
        return apply(Cast(_T.Bool, signed_order(WIDE[floats], A, B)), (a, b), gives=_T.Bool)
    if kind is _T.I32 and signed is not None:
        return apply(Cast(_T.Bool, Call(signed, (A, B))), (a, b), gives=_T.Bool)
    if kind is _T.Bool:
        return apply(Cast(_T.Bool, BinOp(words, Cast(_T.U32, A), Cast(_T.U32, B))), (a, b), gives=_T.Bool)
    if kind not in (_T.U32, _T.I32):
        raise refused("a comparison", kind, "cast the tensor to i32 or u32 first.")
    return apply(Cast(_T.Bool, BinOp(words, A, B)), (a, b), gives=_T.Bool)


@boundary
def equal(a: V | float, b: V | float) -> V:
    return _compare(_B.FEq, _B.Eq, None, a, b)


@boundary
def not_equal(a: V | float, b: V | float) -> V:
    return _compare(_B.FNe, _B.Ne, None, a, b)


@boundary
def less(a: V | float, b: V | float) -> V:
    return _compare(_B.FLt, _B.Lt, "signed.lt", a, b)


@boundary
def less_equal(a: V | float, b: V | float) -> V:
    return _compare(_B.FLe, _B.Le, "signed.le", a, b)


@boundary
def greater(a: V | float, b: V | float) -> V:
    return _compare(_B.FGt, _B.Gt, "signed.gt", a, b)


@boundary
def greater_equal(a: V | float, b: V | float) -> V:
    return _compare(_B.FGe, _B.Ge, "signed.ge", a, b)


@operation
def where(condition: V, a: V | float, b: V | float) -> V:
    """a where the condition, of Bool, holds, else b; bits are moved untouched."""
    if condition.element not in (_T.Bool, _T.U32):
        raise refused("where()", condition.element, "compare, or use astype(bool).")
    tensors = [x for x in (a, b) if isinstance(x, Value)]
    first([condition, *tensors])
    kind = tensors[0].element if tensors else None
    if kind is None:
        raise VyreError(
            "where() of two numbers does not say what type the result has.",
            fix="make one of them a tensor: vyre.tensor.full((), value, vyre.f32).",
        )
    if len(tensors) == 2 and tensors[0].element is not tensors[1].element:
        raise mixed(tensors[0].element, tensors[1].element)
    return node(Select(A, B, C), (condition, a, b), [condition, *tensors], kind.loaded, kind)


@boundary
def maximum(a: V | float, b: V | float) -> V:
    """The greater; NaN where one of them is NaN, and +0 is above -0. `fmax` lets a number win."""
    return _extreme(_B.FMax, "integer.max", "signed.max", a, b)


@boundary
def minimum(a: V | float, b: V | float) -> V:
    """The lesser; NaN where one of them is NaN, and -0 is below +0. `fmin` lets a number win."""
    return _extreme(_B.FMin, "integer.min", "signed.min", a, b)


def _extreme(floats: BinaryOp, words: str, signed: str, a: Any, b: Any) -> Any:
    kind = kind_of(a, b)
    if kind.is_float:
        bad = BinOp(_B.BitOr, UnOp(_U.FIsNaN, A), UnOp(_U.FIsNaN, B))
        nan = Literal(kind, float_bits(float("nan"), kind))
        return apply(Select(Cast(_T.Bool, bad), nan, BinOp(floats, A, B)), (a, b))
    if kind is _T.U64:
        return apply(signed_order(WIDE[floats], A, B), (a, b), gives=_T.I64)
    if kind not in (_T.U32, _T.I32):
        raise refused("a maximum or minimum", kind, "cast the tensor to i32, u32 or a float type first.")
    return apply(Call(words if kind is _T.U32 else signed, (A, B)), (a, b))


_MODES = {mode.value.lower(): mode for mode in RoundMode}


@operation
def astype(x: V, element: Any, *, mode: str = "nearest") -> V:
    """Elements of another type, by value: floats round, float to integer takes `mode` and saturates.

    Narrow integers keep the low bits. Bool is 1 where an element is not 0.
    """
    target = element_of(element)
    if mode not in _MODES:
        raise VyreError(f"the mode {mode!r} does not exist.", fix=f"use {' or '.join(_MODES)}.")
    if target is x.element:
        return x
    return apply(_converted(A, x.element.loaded, target, _MODES[mode]), (x,), gives=target)


def _converted(value: Expr, source: DataType, target: DataType, mode: RoundMode) -> Expr:
    wanted = target.loaded
    if target is _T.Bool and source.is_float:
        return Cast(_T.Bool, BinOp(_B.FNe, value, literal(0.0, source)))
    if source.is_float and wanted is _T.U64:
        return float_to_long(value, source, mode)
    if source.is_float and not wanted.is_float:
        return Convert(_T.I32 if target in NARROW_TYPES and wanted is _T.I32 else wanted, mode, value)
    if not source.is_float and wanted.is_float:
        if source is _T.U64:
            return long_to_float(value, wanted)
        word = Cast(_T.U32, value) if source is _T.Bool else value
        return Convert(wanted, RoundMode.Nearest, word)
    if source is _T.F64 and wanted is not _T.F32:
        return Cast(wanted, _to_odd(value))
    if source.is_float and (source, wanted) not in CAST_TABLE:
        return Cast(wanted, Cast(_T.F32, value))
    return Cast(wanted, value)


def _to_odd(value: Expr) -> Expr:
    """An F64 as F32, of the two nearest the one with the odd last bit unless it is exact.

    What is rounded to a half after that is rounded as if it was once.
    """
    near = Cast(_T.F32, value)
    again = Cast(_T.F64, near)
    beyond = BinOp(_B.FLt, UnOp(_U.FAbs, value), UnOp(_U.FAbs, again))
    bits = BinOp(_B.BitOr, BinOp(_B.Sub, Cast(_T.U32, near), beyond), BinOp(_B.FNe, value, again))
    return Cast(_T.F32, bits)


@operation
def bitcast(x: V, element: Any) -> V:
    """The same bits as another type of 32 bits: F32, U32 or I32."""
    target = element_of(element)
    words = (_T.F32, _T.U32, _T.I32)
    if x.element not in words or target not in words:
        raise VyreError(f"the bits of {x.element.value} as {target.value}.", fix="use f32, u32 and i32.")
    through = apply(Cast(_T.U32, A), (x,), gives=_T.U32)
    return through if target is _T.U32 else apply(Cast(target, A), (through,), gives=target)
