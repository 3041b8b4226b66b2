"""`float.*`: the strict float operators, one op per operator and format.

`float.add` is F32; the other formats carry their name: `float.f16.add`, `float.bf16.add`,
`float.f64.add`. The correctly rounded functions have no F64 form.
"""

from __future__ import annotations

from vyre.ir.expr import BinOp, FMulAdd, UnOp, Var
from vyre.ir.op import Op, Param
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.typing import binary_type, unary_type
from vyre.ops.build import A, B, binary, unary

PREFIXES = {
    DataType.F32: "float",
    DataType.F16: "float.f16",
    DataType.BF16: "float.bf16",
    DataType.F64: "float.f64",
}

_BINARY = {
    "add": (BinaryOp.FAdd, "Sum, rounded to nearest even."),
    "sub": (BinaryOp.FSub, "Difference, rounded to nearest even."),
    "mul": (BinaryOp.FMul, "Product, rounded to nearest even."),
    "div": (BinaryOp.FDiv, "Quotient, rounded to nearest even; infinite or NaN when `b` is zero."),
    "min": (BinaryOp.FMin, "The lesser; a number beats NaN, and -0 is below +0."),
    "max": (BinaryOp.FMax, "The greater; a number beats NaN, and +0 is above -0."),
    "eq": (BinaryOp.FEq, "1 when equal, else 0; 0 on NaN."),
    "ne": (BinaryOp.FNe, "1 when not equal, else 0; 1 on NaN."),
    "lt": (BinaryOp.FLt, "1 when `a` is below `b`, else 0; 0 on NaN."),
    "gt": (BinaryOp.FGt, "1 when `a` is above `b`, else 0; 0 on NaN."),
    "le": (BinaryOp.FLe, "1 when `a` is at most `b`, else 0; 0 on NaN."),
    "ge": (BinaryOp.FGe, "1 when `a` is at least `b`, else 0; 0 on NaN."),
    "atan2": (BinaryOp.FATan2, "Angle of the point (`b`, `a`), correctly rounded."),
    "pow": (BinaryOp.FPow, "`a` to the power `b`, correctly rounded."),
}

_UNARY = {
    "neg": (UnaryOp.FNeg, "The sign bit flipped, on NaN too."),
    "abs": (UnaryOp.FAbs, "The sign bit cleared, on NaN too."),
    "sqrt": (UnaryOp.FSqrt, "Square root, rounded to nearest even; NaN below zero."),
    "is_nan": (UnaryOp.FIsNaN, "1 on NaN, else 0."),
    "is_inf": (UnaryOp.FIsInf, "1 on either infinity, else 0."),
    "floor": (UnaryOp.FFloor, "The integer at or below."),
    "ceil": (UnaryOp.FCeil, "The integer at or above."),
    "round": (UnaryOp.FRound, "The nearest integer, ties to even."),
    "trunc": (UnaryOp.FTrunc, "The integer part."),
    "sin": (UnaryOp.FSin, "Sine of radians, correctly rounded."),
    "cos": (UnaryOp.FCos, "Cosine of radians, correctly rounded."),
    "tan": (UnaryOp.FTan, "Tangent of radians, correctly rounded."),
    "asin": (UnaryOp.FASin, "Arc sine, correctly rounded."),
    "acos": (UnaryOp.FACos, "Arc cosine, correctly rounded."),
    "atan": (UnaryOp.FATan, "Arc tangent, correctly rounded."),
    "exp": (UnaryOp.FExp, "e to the power `a`, correctly rounded."),
    "log": (UnaryOp.FLog, "Natural logarithm, correctly rounded."),
    "exp2": (UnaryOp.FExp2, "2 to the power `a`, correctly rounded."),
    "log2": (UnaryOp.FLog2, "Logarithm to base 2, correctly rounded."),
    "exp10": (UnaryOp.FExp10, "10 to the power `a`, correctly rounded."),
    "log10": (UnaryOp.FLog10, "Logarithm to base 10, correctly rounded."),
    "erf": (UnaryOp.FErf, "Error function, correctly rounded."),
    "tanh": (UnaryOp.FTanh, "Hyperbolic tangent, correctly rounded."),
    "sinh": (UnaryOp.FSinh, "Hyperbolic sine, correctly rounded."),
    "cosh": (UnaryOp.FCosh, "Hyperbolic cosine, correctly rounded."),
    "expm1": (UnaryOp.FExpm1, "e to the power `a`, less 1, correctly rounded."),
    "log1p": (UnaryOp.FLog1p, "Natural logarithm of 1 + `a`, correctly rounded."),
    "cbrt": (UnaryOp.FCbrt, "Cube root, correctly rounded."),
}


def _fma(prefix: str, t: DataType) -> Op:
    params = (Param("a", t), Param("b", t), Param("c", t))
    return Op(f"{prefix}.fma", params, t, FMulAdd(A, B, Var("c")), doc="`a` * `b` + `c` with one rounding.")


def _family(t: DataType, prefix: str) -> list[Op]:
    found = [_fma(prefix, t)]
    for name, (op, doc) in _BINARY.items():
        gives = binary_type(op, t, t)
        if gives is not None:
            found.append(binary(f"{prefix}.{name}", BinOp(op, A, B), doc, of=t, gives=gives))
    for name, (op, doc) in _UNARY.items():
        gives = unary_type(op, t)
        if gives is not None:
            found.append(unary(f"{prefix}.{name}", UnOp(op, A), doc, of=t, gives=gives))
    return found


def ops() -> list[Op]:
    return [op for t, prefix in PREFIXES.items() for op in _family(t, prefix)]
