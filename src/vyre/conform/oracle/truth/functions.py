"""The operations whose results are known on all 2^32 inputs: their names, and how a program writes them.

    FUNCTIONS["exp"].build(x)      the expression, for an `x` of the type `source`

The correctly rounded functions, square root, the four roundings to integers, the conversions, and the
seven integer operators of one operand.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.ir.expr import Cast, Convert, Expr, UnOp
from vyre.ir.operators import RoundMode, UnaryOp
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_F32, _I32, _U32 = DataType.F32, DataType.I32, DataType.U32


@dataclass(frozen=True, slots=True)
class Function:
    """One operation of one operand of 32 bits."""

    name: str
    source: DataType
    result: DataType
    build: Callable[[Expr], Expr]

    @property
    def width(self) -> int:
        """Bits of a result."""
        return self.result.bits


def _unary(op: UnaryOp) -> Function:
    return Function(op.value[1:].lower(), _F32, _F32, lambda x: UnOp(op, x))


def _cast(target: DataType) -> Function:
    return Function(f"f32_to_{target.value.lower()}", _F32, target, lambda x: Cast(target, x))


def _to_integer(target: DataType, mode: RoundMode) -> Function:
    name = f"f32_to_{target.value.lower()}_{mode.value.lower()}"
    return Function(name, _F32, target, lambda x: Convert(target, mode, x))


def _from_integer(source: DataType) -> Function:
    name = f"{source.value.lower()}_to_f32"
    return Function(name, source, _F32, lambda x: Convert(_F32, RoundMode.Nearest, x))


def _integer(name: str, op: UnaryOp) -> Function:
    return Function(name, _U32, _U32, lambda x: UnOp(op, x))


ELEMENTARY = (
    *("sin", "cos", "tan", "asin", "acos", "atan"),
    *("exp", "log", "exp2", "log2", "exp10", "log10"),
    *("erf", "tanh", "sinh", "cosh", "expm1", "log1p", "cbrt"),
)
"""The correctly rounded functions: those whose truth needs more than a few exact steps."""

INTEGERS = {
    "negate": UnaryOp.Negate,
    "not": UnaryOp.BitNot,
    "logical_not": UnaryOp.LogicalNot,
    "popcount": UnaryOp.Popcount,
    "clz": UnaryOp.Clz,
    "ctz": UnaryOp.Ctz,
    "reverse_bits": UnaryOp.ReverseBits,
}

FUNCTIONS: dict[str, Function] = {
    f.name: f
    for f in (
        *(_unary(op) for op in UnaryOp if op.value[1:].lower() in ELEMENTARY and op.value[0] == "F"),
        *map(_unary, (UnaryOp.FSqrt, UnaryOp.FFloor, UnaryOp.FCeil, UnaryOp.FRound, UnaryOp.FTrunc)),
        _cast(DataType.F16),
        _cast(DataType.BF16),
        *(_to_integer(_I32, mode) for mode in RoundMode),
        _to_integer(_U32, RoundMode.Truncate),
        _from_integer(_I32),
        _from_integer(_U32),
        *(_integer(name, op) for name, op in INTEGERS.items()),
    )
}

ALL = "all"


def chosen(names: Sequence[str]) -> list[Function]:
    """The functions of these names; `all` stands for every one."""
    if not names or ALL in names:
        return list(FUNCTIONS.values())
    found: dict[str, Function] = {}
    for name in names:
        if name not in FUNCTIONS:
            close = difflib.get_close_matches(name, FUNCTIONS, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise VyreError(
                f"no function with a known truth is called {name!r}.",
                fix=f"{hint}Choose from {ALL}, {', '.join(FUNCTIONS)}.",
            )
        found[name] = FUNCTIONS[name]
    return list(found.values())
