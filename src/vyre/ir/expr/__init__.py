"""Expressions: immutable, interned trees. The operand order of a node is its evaluation order.

    literals     LitU32 LitI32 LitBool Literal(type, bits)
    values       Var Load BufLen InvocationId WorkgroupId LocalId
    operations   BinOp UnOp Select Cast Convert Lane MakeVec FMulAdd Call
    memory       Atomic FReduce FReduceApprox
    approximate  Approx FReduceApprox

Python operators build integer operations: `a + b`, `a < b`, `~a`. Equality of expressions is
structural, so the comparison operation is `a.eq(b)`; float operations have their own names
(`fadd(a, b)`), because strictness is a property of the operation.
"""

from __future__ import annotations

from vyre.ir.expr.base import BinOp, Cast, Expr, Lane, LitBool, LitI32, LitU32, Operand, UnOp, lift
from vyre.ir.expr.memory import Atomic, BufLen, FReduce, FReduceApprox, Load
from vyre.ir.expr.operations import (
    Approx,
    Call,
    Convert,
    FMulAdd,
    MakeVec,
    Select,
    call,
    fadd,
    fdiv,
    fmul,
    fsub,
    mul_hi,
    select,
    vec,
)
from vyre.ir.expr.values import InvocationId, Literal, LocalId, Var, WorkgroupId, f32, f64, u64, u128

__all__ = [
    "EXPR_KINDS",
    "Approx",
    "Atomic",
    "BinOp",
    "BufLen",
    "Call",
    "Cast",
    "Convert",
    "Expr",
    "FMulAdd",
    "FReduce",
    "FReduceApprox",
    "InvocationId",
    "Lane",
    "LitBool",
    "LitI32",
    "LitU32",
    "Literal",
    "Load",
    "LocalId",
    "MakeVec",
    "Operand",
    "Select",
    "UnOp",
    "Var",
    "WorkgroupId",
    "call",
    "f32",
    "f64",
    "fadd",
    "fdiv",
    "fmul",
    "fsub",
    "lift",
    "mul_hi",
    "select",
    "u64",
    "u128",
    "vec",
]

EXPR_KINDS: tuple[type[Expr], ...] = (
    LitU32,
    LitI32,
    LitBool,
    Literal,
    Var,
    Load,
    BufLen,
    InvocationId,
    WorkgroupId,
    LocalId,
    BinOp,
    UnOp,
    Call,
    Select,
    Cast,
    Convert,
    Lane,
    MakeVec,
    FMulAdd,
    Atomic,
    FReduce,
    FReduceApprox,
    Approx,
)
