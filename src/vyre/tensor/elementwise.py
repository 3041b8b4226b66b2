"""Operations on single elements, with broadcasting.

Two tensors must have one element type: nothing is promoted. Narrow integers are computed as I32 or U32,
which is what they are loaded as. Comparisons give Bool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError, boundary
from vyre.graph.nodes import ElementWise
from vyre.ir.expr import BinOp, Call, Cast, Convert, FMulAdd, Select, UnOp, Var
from vyre.ir.operators import BinaryOp, RoundMode, UnaryOp
from vyre.ir.types import NARROW_TYPES, DataType
from vyre.ir.typing import CAST_TABLE
from vyre.ir.walk import transform
from vyre.tensor.defaults import element_of
from vyre.tensor.scalars import literal
from vyre.tensor.shaping import broadcast_to, common_shape
from vyre.tensor.value import V, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.ir.expr import Expr

_T = DataType
_B, _U = BinaryOp, UnaryOp
A, B, C = Var("a"), Var("b"), Var("c")
"""The operands of an expression, in their order."""


def apply(expr: Expr, operands: Sequence[V | float | bool], *, gives: DataType | None = None) -> V:
    """One ElementWise node: `expr` over A, B and C, which are tensors or numbers.

    Tensors are broadcast and must have one element type. `gives` is the element of the result; else the type
    that the elements are loaded as.
    """
    tensors = [x for x in operands if isinstance(x, Value)]
    first = _first(tensors)
    kind = first.element.loaded
    for other in tensors[1:]:
        if other.element.loaded is not kind:
            raise VyreError(
                f"{first.element.value} beside {other.element.value}, shapes {first.type} and {other.type}.",
                fix=f"cast one of them, as with x.astype(vyre.{first.element.value.lower()}).",
            )
    return _node(expr, operands, tensors, kind, gives)


def _first(tensors: Sequence[V]) -> V:
    if not tensors:
        raise VyreError("no operand is a tensor.", fix="pass a tensor, or compute with Python's own numbers.")
    for other in tensors[1:]:
        if other.builder is not tensors[0].builder:
            raise VyreError(
                "the tensors belong to two functions that are traced apart.",
                fix="pass the tensor as an argument instead of keeping it from another call.",
            )
    return tensors[0]


def _node(
    expr: Expr,
    operands: Sequence[V | float | bool],
    tensors: Sequence[V],
    kind: DataType,
    gives: DataType | None,
) -> V:
    shape = common_shape([x.type.shape for x in tensors])
    spread = {id(x): broadcast_to(x, shape) for x in tensors}
    names: list[str] = []
    parts: list[Expr] = []
    for operand in operands:
        if not isinstance(operand, Value):
            parts.append(literal(operand, kind))
            continue
        name = spread[id(operand)].name
        if name not in names:
            names.append(name)
        parts.append(Var(f"x{names.index(name)}"))
    given: dict[Expr, Expr] = dict(zip((A, B, C), parts, strict=False))
    return tensors[0].made(
        ElementWise(transform(expr, lambda e: given.get(e, e)), tuple(names), gives or kind)
    )


def _kind(*operands: Value | float | bool) -> DataType:
    return _first([x for x in operands if isinstance(x, Value)]).element.loaded


def _refuse(name: str, kind: DataType, fix: str) -> VyreError:
    return VyreError(f"{name} of {kind.value}.", fix=fix)


def _arithmetic(
    name: str, floats: BinaryOp, words: BinaryOp | str, signed: BinaryOp | str, a: Any, b: Any
) -> Any:
    kind = _kind(a, b)
    chosen = floats if kind.is_float else words if kind is _T.U32 else signed if kind is _T.I32 else None
    if chosen is None:
        raise _refuse(name, kind, "cast the tensor to i32, u32 or a float type first.")
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
    kind = _kind(a, b)
    if not kind.is_float:
        raise _refuse("/", kind, "use // for the whole quotient, or astype(vyre.f32) first.")
    return apply(BinOp(_B.FDiv, A, B), (a, b))


@boundary
def floor_divide(a: V | float, b: V | float) -> V:
    """The quotient of integers, toward zero (decision 38); by 0 it is 0."""
    kind = _kind(a, b)
    if kind.is_float:
        raise _refuse(
            "//", kind, "use floor(a / b), whose quotient is rounded first, or convert to integers."
        )
    return _arithmetic("//", _B.FDiv, _B.Div, "signed.div", a, b)


@boundary
def remainder(a: V | float, b: V | float) -> V:
    """The rest of the division of integers, with the sign of `a`."""
    kind = _kind(a, b)
    if kind.is_float:
        raise _refuse("%", kind, "write a - trunc(a / b) * b, with the roundings that this has.")
    return _arithmetic("%", _B.FDiv, _B.Mod, "signed.mod", a, b)


@boundary
def power(a: V | float, b: V | float) -> V:
    """a to the power b, correctly rounded."""
    return _function(_B.FPow, a, b)


@boundary
def arctan2(a: V | float, b: V | float) -> V:
    """The angle of the point (b, a), correctly rounded."""
    return _function(_B.FATan2, a, b)


def _function(op: BinaryOp, a: Any, b: Any) -> Any:
    kind = _kind(a, b)
    if not kind.is_float or kind is _T.F64:
        raise _refuse(op.value, kind, "cast the tensor to f32, f16 or bf16 first.")
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
    kind = _kind(a, b, c)
    if not kind.is_float:
        raise _refuse("fma", kind, "write a * b + c.")
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
        kind = _kind(x)
        if not kind.is_float or (kind is _T.F64 and op.row.operands.name == "Function"):
            raise _refuse(op.value, kind, "cast the tensor to f32, f16 or bf16 first.")
        return apply(UnOp(op, A), (x,))

    made.__name__ = op.row.kernel
    made.__doc__ = f"`{op.value}` of each element."
    return made


sqrt, floor, ceil, round, trunc = map(_unary, (_U.FSqrt, _U.FFloor, _U.FCeil, _U.FRound, _U.FTrunc))
sin, cos, tan = map(_unary, (_U.FSin, _U.FCos, _U.FTan))
arcsin, arccos, arctan = map(_unary, (_U.FASin, _U.FACos, _U.FATan))
exp, exp2, exp10 = map(_unary, (_U.FExp, _U.FExp2, _U.FExp10))
log, log2, log10 = map(_unary, (_U.FLog, _U.FLog2, _U.FLog10))


@boundary
def isnan(x: V) -> V:
    return _truth(_U.FIsNaN, x)


@boundary
def isinf(x: V) -> V:
    return _truth(_U.FIsInf, x)


def _truth(op: UnaryOp, x: V) -> V:
    kind = _kind(x)
    if not kind.is_float:
        raise _refuse(op.value, kind, "only floats can be NaN or infinite.")
    return apply(Cast(_T.Bool, UnOp(op, A)), (x,), gives=_T.Bool)


@boundary
def negative(x: V) -> V:
    """-x: the sign bit of a float flipped, NaN included; integers wrap."""
    op = _U.FNeg if _kind(x).is_float else _U.Negate
    return apply(UnOp(op, A), (x,))


@boundary
def absolute(x: V) -> V:
    kind = _kind(x)
    if kind.is_float:
        return apply(UnOp(_U.FAbs, A), (x,))
    return x if kind is _T.U32 else apply(Call("signed.abs", (A,)), (x,))


def _bits(op: BinaryOp, a: Any, b: Any) -> Any:
    kind = _kind(a, b)
    if kind is _T.Bool:
        return apply(Cast(_T.Bool, BinOp(op, Cast(_T.U32, A), Cast(_T.U32, B))), (a, b))
    if kind.is_float:
        raise _refuse(op.value, kind, "compare first, or bitcast to u32.")
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
    kind = _kind(x)
    if kind is _T.Bool:
        return apply(Cast(_T.Bool, UnOp(_U.LogicalNot, A)), (x,), gives=_T.Bool)
    if kind.is_float:
        raise _refuse("~", kind, "compare first, or bitcast to u32.")
    return apply(UnOp(_U.BitNot, A), (x,))


@boundary
def left_shift(a: V, b: V | float) -> V:
    """a shifted left by the low 5 bits of b."""
    return _shift(_B.Shl, "signed.shl", a, b)


@boundary
def right_shift(a: V, b: V | float) -> V:
    """a shifted right by the low 5 bits of b; the sign of an I32 moves in."""
    return _shift(_B.Shr, "signed.shr", a, b)


def _shift(words: BinaryOp, signed: str, a: Any, b: Any) -> Any:
    kind = _kind(a, b)
    if kind is _T.U32:
        return apply(BinOp(words, A, B), (a, b))
    if kind is _T.I32:
        return apply(Call(signed, (A, Cast(_T.U32, B))), (a, b))
    raise _refuse("a shift", kind, "use integers.")


def _compare(floats: BinaryOp, words: BinaryOp, signed: str | None, a: Any, b: Any) -> Any:
    kind = _kind(a, b)
    if kind.is_float:
        return apply(Cast(_T.Bool, BinOp(floats, A, B)), (a, b), gives=_T.Bool)
    if kind is _T.I32 and signed is not None:
        return apply(Cast(_T.Bool, Call(signed, (A, B))), (a, b), gives=_T.Bool)
    if kind is _T.Bool:
        return apply(Cast(_T.Bool, BinOp(words, Cast(_T.U32, A), Cast(_T.U32, B))), (a, b), gives=_T.Bool)
    if kind not in (_T.U32, _T.I32):
        raise _refuse("a comparison", kind, "cast the tensor to i32 or u32 first.")
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


@boundary
def where(condition: V, a: V | float, b: V | float) -> V:
    """a where the condition, of Bool, holds, else b; bits are moved untouched."""
    if condition.element not in (_T.Bool, _T.U32):
        raise _refuse("a condition", condition.element, "compare, or use astype(bool).")
    tensors = [x for x in (a, b) if isinstance(x, Value)]
    first = _first([condition, *tensors])
    kind = tensors[0].element if tensors else None
    if kind is None:
        raise VyreError(
            "where() of two numbers does not say what type the result has.",
            fix="make one of them a tensor: vyre.tensor.full((), value, vyre.f32).",
        )
    if len(tensors) == 2 and tensors[0].element is not tensors[1].element:
        raise VyreError(
            f"{tensors[0].element.value} beside {tensors[1].element.value}.",
            fix=f"cast one of them: x.astype(vyre.{kind.value.lower()}); nothing is promoted silently.",
        )
    del first
    return _node(Select(A, B, C), (condition, a, b), [condition, *tensors], kind.loaded, kind)


_MODES = {mode.value.lower(): mode for mode in RoundMode}


@boundary
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
    if source.is_float and not wanted.is_float:
        return Convert(_T.I32 if target in NARROW_TYPES and wanted is _T.I32 else wanted, mode, value)
    if not source.is_float and wanted.is_float:
        word = Cast(_T.U32, value) if source is _T.Bool else value
        if source is _T.U64:
            raise _refuse("a float", _T.I64, "cast the indices to i32 first.")
        return Convert(wanted, RoundMode.Nearest, word)
    if source.is_float and (source, wanted) not in CAST_TABLE:
        return Cast(wanted, Cast(_T.F32, value))
    return Cast(wanted, value)


@boundary
def bitcast(x: V, element: Any) -> V:
    """The same bits as another type of 32 bits: F32, U32 or I32."""
    target = element_of(element)
    words = (_T.F32, _T.U32, _T.I32)
    if x.element not in words or target not in words:
        raise VyreError(f"the bits of {x.element.value} as {target.value}.", fix="use f32, u32 and i32.")
    through = apply(Cast(_T.U32, A), (x,), gives=_T.U32)
    return through if target is _T.U32 else apply(Cast(target, A), (through,), gives=target)
