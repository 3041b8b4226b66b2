"""The list of all soft-float ops, and the map from float nodes to them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir.float_formats import BF16, F16, F32, STRICT_FORMATS
from vyre.ir.operators import FUNCTION_BINARY_OPS, FUNCTION_UNARY_OPS, BinaryOp, RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.numeric.soft.layout import prefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.op import Op

_NAMES: dict[BinaryOp | UnaryOp, str] = {
    BinaryOp.FAdd: "add",
    BinaryOp.FSub: "sub",
    BinaryOp.FMul: "mul",
    BinaryOp.FDiv: "div",
    BinaryOp.FMin: "min",
    BinaryOp.FMax: "max",
    BinaryOp.FEq: "eq",
    BinaryOp.FNe: "ne",
    BinaryOp.FLt: "lt",
    BinaryOp.FGt: "gt",
    BinaryOp.FLe: "le",
    BinaryOp.FGe: "ge",
    UnaryOp.FSqrt: "sqrt",
    UnaryOp.FNeg: "neg",
    UnaryOp.FAbs: "abs",
    UnaryOp.FIsNaN: "is_nan",
    UnaryOp.FIsInf: "is_inf",
    UnaryOp.FFloor: "floor",
    UnaryOp.FCeil: "ceil",
    UnaryOp.FRound: "round",
    UnaryOp.FTrunc: "trunc",
    # Built by `vyre.numeric.functions`; they are not among `soft_ops`.
    **{op: op.value[1:].lower() for op in (*FUNCTION_UNARY_OPS, *FUNCTION_BINARY_OPS)},
}

_CASTS = {
    (DataType.F32, DataType.F16): "soft.f32.to_f16",
    (DataType.F32, DataType.BF16): "soft.f32.to_bf16",
    (DataType.F16, DataType.F32): "soft.f16.to_f32",
    (DataType.BF16, DataType.F32): "soft.bf16.to_f32",
    (DataType.U32, DataType.F16): "soft.f16.from_bits",
    (DataType.U32, DataType.BF16): "soft.bf16.from_bits",
}


def _of(fmt: FloatFormat) -> list[Op]:
    from vyre.numeric.soft import arithmetic, compare, convert, division, fused, integral, root

    return [
        arithmetic.add(fmt),
        arithmetic.sub(fmt),
        arithmetic.mul(fmt),
        division.div(fmt),
        fused.fma(fmt),
        root.sqrt(fmt),
        compare.minimum(fmt),
        compare.maximum(fmt),
        *compare.comparisons(fmt),
        *compare.classes_and_signs(fmt),
        *integral.roundings(fmt),
        *integral.conversions(fmt),
        convert.from_i32(fmt),
        convert.from_u32(fmt),
    ]


@cache
def _all() -> tuple[Op, ...]:
    from vyre.numeric.soft import convert  # the definitions: who has no floats needs only their names

    casts = [*convert.narrowings(), *convert.widenings(), convert.from_bits(F16), convert.from_bits(BF16)]
    return (*_of(F32), *_of(F16), *_of(BF16), *casts)


def soft_ops() -> list[Op]:
    """Every basic soft-float op, format by format; ids are `soft.<format>.<operation>`."""
    return list(_all())


def soft_op_for(kind: BinaryOp | UnaryOp | type[e.FMulAdd], of: DataType) -> str | None:
    """The id of the soft op for an operator on values of one format; None where there is none."""
    name = _NAMES.get(kind) if isinstance(kind, BinaryOp | UnaryOp) else "fma"
    return None if of not in STRICT_FORMATS or name is None else f"{prefix(STRICT_FORMATS[of])}.{name}"


def lowering(expr: e.Expr, types: Sequence[DataType]) -> str | None:
    """The id of the soft op that replaces a node whose operands have these types.

    Its arguments are the node's operands, as bits. None means that nothing has to be called: the node
    is not a float operation, or a cast that keeps the bits (F32 and U32, F16 or BF16 to U32), or it has
    no soft op here (F64, reductions).
    """
    match expr:
        case e.BinOp(op=op) | e.UnOp(op=op):
            return soft_op_for(op, types[0])
        case e.FMulAdd():
            return soft_op_for(e.FMulAdd, types[0])
        case e.Approx(op=op) if types[0] in STRICT_FORMATS:
            # Correctly rounded is within every tolerance.
            return f"{prefix(STRICT_FORMATS[types[0]])}.{op.value[1:].removesuffix('Approx').lower()}"
        case e.Cast(target=target):
            return _CASTS.get((types[0], target))
        case e.Convert(target=target, mode=mode):
            return _conversion(types[0], target, mode)
        case _:
            return None


def _conversion(source: DataType, target: DataType, mode: RoundMode) -> str | None:
    integers = (DataType.U32, DataType.I32)
    if source in STRICT_FORMATS and target in integers:
        return f"{prefix(STRICT_FORMATS[source])}.to_{target.value.lower()}_{mode.value.lower()}"
    if source in integers and target in STRICT_FORMATS and mode is RoundMode.Nearest:
        return f"{prefix(STRICT_FORMATS[target])}.from_{source.value.lower()}"
    return None
