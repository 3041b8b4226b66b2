"""The standard library's float ops, written out by hand: the operator itself, name by name.

Not made from the registry, and not from its table of names: each op is stated here a second time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import BinOp, Expr, FMulAdd, UnOp
from vyre.ir.operators import BinaryOp as B
from vyre.ir.operators import UnaryOp as U

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.lower.zero_cost_twins import Hand, Twin


def _fma(h: Hand, a: Expr, b: Expr, c: Expr) -> Expr:
    return FMulAdd(a, b, c)


def _two(op: B) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        return BinOp(op, a, b)

    return twin


def _one(op: U) -> Twin:
    def twin(h: Hand, a: Expr) -> Expr:
        return UnOp(op, a)

    return twin


_ARITHMETIC: dict[str, Callable[..., Expr]] = {
    "fma": _fma,
    "add": _two(B.FAdd),
    "sub": _two(B.FSub),
    "mul": _two(B.FMul),
    "div": _two(B.FDiv),
    "min": _two(B.FMin),
    "max": _two(B.FMax),
    "eq": _two(B.FEq),
    "ne": _two(B.FNe),
    "lt": _two(B.FLt),
    "gt": _two(B.FGt),
    "le": _two(B.FLe),
    "ge": _two(B.FGe),
    "neg": _one(U.FNeg),
    "abs": _one(U.FAbs),
    "sqrt": _one(U.FSqrt),
    "is_nan": _one(U.FIsNaN),
    "is_inf": _one(U.FIsInf),
    "floor": _one(U.FFloor),
    "ceil": _one(U.FCeil),
    "round": _one(U.FRound),
    "trunc": _one(U.FTrunc),
}
_FUNCTIONS: dict[str, Callable[..., Expr]] = {
    "atan2": _two(B.FATan2),
    "pow": _two(B.FPow),
    "sin": _one(U.FSin),
    "cos": _one(U.FCos),
    "tan": _one(U.FTan),
    "asin": _one(U.FASin),
    "acos": _one(U.FACos),
    "atan": _one(U.FATan),
    "exp": _one(U.FExp),
    "log": _one(U.FLog),
    "exp2": _one(U.FExp2),
    "log2": _one(U.FLog2),
    "exp10": _one(U.FExp10),
    "log10": _one(U.FLog10),
    "erf": _one(U.FErf),
    "tanh": _one(U.FTanh),
    "sinh": _one(U.FSinh),
    "cosh": _one(U.FCosh),
    "expm1": _one(U.FExpm1),
    "log1p": _one(U.FLog1p),
    "cbrt": _one(U.FCbrt),
}

FLOAT_TWINS: dict[str, Callable[..., Expr]] = {
    f"{prefix}.{name}": twin
    for prefix, family in {
        "float": _ARITHMETIC | _FUNCTIONS,
        "float.f16": _ARITHMETIC | _FUNCTIONS,
        "float.bf16": _ARITHMETIC | _FUNCTIONS,
        "float.f64": _ARITHMETIC,
    }.items()
    for name, twin in family.items()
}
