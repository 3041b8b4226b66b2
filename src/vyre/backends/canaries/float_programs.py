"""Canaries of float arithmetic: what devices flush, fuse, reorder or compare wrongly.

They run the strict operations in the way the backend has chosen for them, so they are red where a way was
admitted that the device does not keep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.canaries.features import has_expression, has_operator
from vyre.backends.canaries.programs import Canary, binary, elementwise
from vyre.ir.expr import Cast, FMulAdd, Literal, Select
from vyre.ir.float_formats import F32
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.ir import Expr

_ONE, _TWO = 0x3F80_0000, 0x4000_0000
_NAN, _INF = F32.nan, F32.infinity
_LEAST_NORMAL, _LARGEST = 0x0080_0000, 0x7F7F_FFFF
_MINUS = 0x8000_0000


def _on_floats(result: Callable[[Expr, Expr], Expr]) -> Callable[[Expr, Expr], Expr]:
    """The operation on words that hold F32 bits."""
    return lambda a, b: Cast(DataType.U32, result(Cast(DataType.F32, a), Cast(DataType.F32, b)))


def _compared(a: Expr, b: Expr) -> Expr:
    """Four comparisons as four bits."""
    x, y = Cast(DataType.F32, a), Cast(DataType.F32, b)
    ops = (BinaryOp.FEq, BinaryOp.FNe, BinaryOp.FLt, BinaryOp.FLe)
    first, *rest = (binary(op)(x, y) for op in ops)
    for place, bit in enumerate(rest, start=1):
        first = first | (bit << place)
    return first


def _at_least_zero(a: Expr, b: Expr) -> Expr:
    """`a` unless it is at most 0: a choice that moves bits, and no maximum, which would make its own NaN."""
    del b
    zero, value = Literal(DataType.F32, 0), Cast(DataType.F32, a)
    return Cast(DataType.U32, Select(binary(BinaryOp.FLe)(value, zero), zero, value))


def _square_minus(a: Expr, b: Expr) -> Expr:
    """A product and a sum, which a compiler may not fuse: fused, the result is what the product lost."""
    return binary(BinaryOp.FAdd)(binary(BinaryOp.FMul)(a, a), b)


def _fused(a: Expr, b: Expr) -> Expr:
    return FMulAdd(a, a, b)


def _arithmetic(name: str, op: BinaryOp, rows: Sequence[tuple[int, int, int]]) -> Canary:
    return elementwise(name, op.value, _on_floats(binary(op)), rows, has_operator(op))


FLOAT_CANARIES: tuple[Canary, ...] = (
    elementwise(
        "comparison of NaN and subnormals",
        "float comparisons",
        _compared,
        [
            (_NAN, _NAN, 0b0010),
            (0xFFC0_0001, _ONE, 0b0010),
            (1, 0, 0b0010),
            (_MINUS, 0, 0b1001),
            (_MINUS | 1, 1, 0b1110),
        ],
        has_operator(BinaryOp.FEq, BinaryOp.FNe, BinaryOp.FLt, BinaryOp.FGt, BinaryOp.FLe, BinaryOp.FGe),
    ),
    elementwise(
        "NaN chosen by a comparison",
        "float comparisons",
        _at_least_zero,
        [
            (0x7FC0_0001, 0, 0x7FC0_0001),
            (0xFFC0_0000, 0, 0xFFC0_0000),
            (_MINUS | _ONE, 0, 0),
            (_ONE, 0, _ONE),
        ],
        has_operator(BinaryOp.FLt, BinaryOp.FGt, BinaryOp.FLe, BinaryOp.FGe),
    ),
    _arithmetic(
        "float sums",
        BinaryOp.FAdd,
        [
            (1, 1, 2),
            (_LEAST_NORMAL, _MINUS | 1, 0x007F_FFFF),
            (_ONE, 0x3380_0000, _ONE),
            (_ONE | 1, 0x3380_0000, _ONE | 2),
            (_INF, _MINUS | _INF, _NAN),
            (_MINUS, _MINUS, _MINUS),
            (0x7FA1_2345, _ONE, _NAN),
            (_LARGEST, 0x7380_0000, _INF),
        ],
    ),
    _arithmetic(
        "float products",
        BinaryOp.FMul,
        [
            (_LEAST_NORMAL, 0x3F00_0000, 0x0040_0000),
            (0x1F80_0000, 0x2000_0000, 0x0040_0000),
            (0x1A80_0001, 0x2000_0000, 0x0000_1000),
            (_MINUS, _ONE, _MINUS),
            (_INF, 0, _NAN),
            (_ONE | 1, _ONE | 1, _ONE | 2),
            (_LARGEST, _TWO, _INF),
        ],
    ),
    _arithmetic(
        "float quotients",
        BinaryOp.FDiv,
        [
            (_ONE, 0x4040_0000, 0x3EAA_AAAB),
            (_LEAST_NORMAL, _TWO, 0x0040_0000),
            (_ONE, _LARGEST, 0x0020_0000),
            (_ONE, 0, _INF),
            (0, 0, _NAN),
            (0x40DF_FFFF, 0x3F8C_CCCD, 0x40CB_A2E8),
        ],
    ),
    elementwise(
        "no fusion of a product and a sum",
        "FMul and FAdd",
        _on_floats(_square_minus),
        [(_ONE | 1, _MINUS | _ONE | 2, 0), (0x3FB5_04F3, 0xBFFF_FFFF, 0)],
        has_operator(BinaryOp.FMul),
    ),
    elementwise(
        "fused products",
        "FMulAdd",
        _on_floats(_fused),
        [(_ONE | 1, _MINUS | _ONE | 2, 0x2880_0000), (0x3FB5_04F3, 0xBFFF_FFFF, 0x3359_FAA4)],
        has_expression(FMulAdd),
    ),
)
