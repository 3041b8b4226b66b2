"""Every strict float operation, each with the expression a program writes and the oracle that judges it.

operations()        F32, F16, BF16, then the casts and conversions
.name               "FAdd F32", "Convert F32 I32 Floor", "Cast F32 BF16"
.program()          out[i] = operation(a[i], …), all buffers u32 words of bits
.expected(a, …)     the words it must give
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from vyre.conform.oracle.floats import oracle
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BinOp, Cast, Convert, Expr, FMulAdd, InvocationId, Load, UnOp, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.operators import (
    FLOAT_BINARY_OPS,
    FLOAT_CLASS_OPS,
    FLOAT_COMPARE_OPS,
    FLOAT_UNARY_OPS,
    BinaryOp,
    RoundMode,
    UnaryOp,
)
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.oracle.floats.layout import Words

FORMATS = (DataType.F32, DataType.F16, DataType.BF16)
INTEGERS = (DataType.I32, DataType.U32)
WORKGROUP = (256, 1, 1)
OPERANDS = ("a", "b", "c")
OUT = "out"


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation on operands of one type; `build` makes the expression from values of it."""

    name: str
    source: DataType
    result: DataType
    arity: int
    build: Callable[..., Expr]
    expected: Callable[..., Words]

    def program(self) -> Program:
        """One case per invocation."""
        i = Var("i")
        buffers = [BufferDecl.read(name, k, DataType.U32) for k, name in enumerate(OPERANDS[: self.arity])]
        out = BufferDecl.read_write(OUT, self.arity, DataType.U32)
        values = (_typed(self.source, Load(b.name, i)) for b in buffers)
        bits = _typed(DataType.U32, self.build(*values), of=self.result)
        body = If(i < out.length, (Store(OUT, i, bits),))
        return Program((*buffers, out), WORKGROUP, (Let("i", InvocationId(0)), body))


def _typed(target: DataType, value: Expr, *, of: DataType = DataType.U32) -> Expr:
    return value if target is of else Cast(target, value)


def _operator(op: BinaryOp | UnaryOp, of: DataType) -> Operation:
    binary = isinstance(op, BinaryOp)
    build: Callable[..., Expr] = partial(BinOp, op) if binary else partial(UnOp, op)
    logical = op in FLOAT_COMPARE_OPS or op in FLOAT_CLASS_OPS
    return Operation(
        f"{op.value} {of.value}",
        of,
        DataType.U32 if logical else of,
        2 if binary else 1,
        build,
        partial(oracle.expected, op.value, of.value),
    )


def _of(fmt: DataType) -> list[Operation]:
    operators = [
        *(op for op in BinaryOp if op in FLOAT_BINARY_OPS),
        *(op for op in UnaryOp if op in FLOAT_UNARY_OPS),
    ]
    fused = Operation(
        f"FMulAdd {fmt.value}", fmt, fmt, 3, FMulAdd, partial(oracle.expected, "FMulAdd", fmt.value)
    )
    return [*(_operator(op, fmt) for op in operators), fused]


def _conversions(fmt: DataType) -> list[Operation]:
    found = [
        Operation(
            f"Convert {fmt.value} {whole.value} {mode.value}",
            fmt,
            whole,
            1,
            partial(Convert, whole, mode),
            partial(oracle.to_integer, whole.value, mode.value, fmt.value),
        )
        for whole in INTEGERS
        for mode in RoundMode
    ]
    found += [
        Operation(
            f"Convert {whole.value} {fmt.value}",
            whole,
            fmt,
            1,
            partial(Convert, fmt, RoundMode.Nearest),
            partial(oracle.from_integer, whole.value, fmt.value),
        )
        for whole in INTEGERS
    ]
    return found


def _cast(source: DataType, target: DataType) -> Operation:
    return Operation(
        f"Cast {source.value} {target.value}",
        source,
        target,
        1,
        partial(Cast, target),
        partial(oracle.between, source.value, target.value),
    )


@cache
def operations() -> tuple[Operation, ...]:
    """All of them, in the order in which tables show them."""
    f32, f16, bf16 = FORMATS
    casts = [_cast(a, b) for a, b in ((f32, f16), (f16, f32), (f32, bf16), (bf16, f32))]
    found = [*(op for fmt in FORMATS for op in _of(fmt)), *casts]
    return (*found, *(op for fmt in FORMATS for op in _conversions(fmt)))
