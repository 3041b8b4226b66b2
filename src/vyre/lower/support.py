"""What the emitters cannot lower yet, said once for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import UnsupportedByBackend
from vyre.ir.expr import BinOp, Call, Cast, Convert, Expr, FMulAdd, FReduce, FReduceApprox, UnOp
from vyre.ir.node import Let, Node
from vyre.ir.operators import FLOAT_BINARY_OPS, FLOAT_UNARY_OPS, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.typing import CAST_TABLE, CastRule
from vyre.ir.walk import expressions
from vyre.lower.intrinsics import check_intrinsics

if TYPE_CHECKING:
    from collections.abc import Container

    from vyre.lower.prepare import Prepared

MAX_LOWERED_NESTING = 200
"""Levels of blocks after inlining. V018 allows 64 in a program and in each op it calls; compilers for C
stop at 256, and emitters recurse over blocks."""

_NO_DOUBLES = "there are no doubles here, and F64 has no formula on integers"
_OTHER_BACKENDS = "use F32, or a backend whose device has doubles: cpu, cuda, most of opencl."
_NO_WIDE_SUM = "sums and products of F64 have no formula that keeps within every tolerance"
_STRICT_FOLD = "fold in a strict order: freduce_strict or freduce_tree."
_SIGN_OPS = frozenset({UnaryOp.FNeg, UnaryOp.FAbs})


def check_supported(prepared: Prepared, backend: str, *, hardware: Container[str] = ()) -> None:
    """Raises `UnsupportedByBackend` for the first operation that has no exact lowering.

    `hardware` names the instructions that the language can express.
    """
    check_intrinsics(prepared.intrinsics, backend, hardware)
    nesting = max((node.nesting for node in prepared.entry), default=0)
    if nesting > MAX_LOWERED_NESTING:
        raise UnsupportedByBackend(
            f"a nest of {nesting} blocks",
            backend,
            why=f"after inlining, {MAX_LOWERED_NESTING} are accepted",
            fix="call ops with deep nests from shallower places.",
        )
    _check_floats(prepared, prepared.entry, backend)
    for function in prepared.functions:
        _check_floats(function.body, (*function.body.entry, Let("result", function.result)), backend)


def _check_floats(prepared: Prepared, entry: tuple[Node, ...], backend: str) -> None:
    for expr in expressions(entry):
        op = _unsupported(expr, prepared)
        if isinstance(expr, FReduceApprox):
            raise UnsupportedByBackend(f"{op} on F64", backend, why=_NO_WIDE_SUM, fix=_STRICT_FOLD)
        if op is not None:
            double = DataType.F64 in (prepared.type(x) for x in (expr, *expr.children))
            raise UnsupportedByBackend(
                f"{op} on F64" if double else op,
                backend,
                why=_NO_DOUBLES if double else "it has no exact lowering yet",
                fix=_OTHER_BACKENDS
                if double
                else "run it on the backend `reference`, which defines the result.",
            )


def _unsupported(expr: Expr, prepared: Prepared) -> str | None:
    match expr:
        case BinOp(op=op) if op in FLOAT_BINARY_OPS:
            return op.value
        case UnOp(op=op) if op in FLOAT_UNARY_OPS - _SIGN_OPS:
            return op.value
        case Call(op_id=op_id) if not prepared.doubles and prepared.type(expr) is DataType.F64:
            return op_id
        case FMulAdd() | Convert() | FReduce() | FReduceApprox():
            return type(expr).__name__
        case Cast(target=target, value=value):
            rule = CAST_TABLE[prepared.type(value), target]
            rounds = rule in (CastRule.Widen, CastRule.Round)
            return f"Cast {prepared.type(value).value} to {target.value}" if rounds else None
        case _:
            return None
