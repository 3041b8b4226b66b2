"""The functions by name; each op is built when it is first asked for."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.errors import OpError
from vyre.ir.float_formats import STRICT_FORMATS
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.numeric.functions import (
    angle,
    circular,
    error,
    exponentials,
    hyperbolic,
    inverse,
    logarithms,
    power,
    roots,
)
from vyre.numeric.soft.layout import prefix

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.op import Op

_MAKERS: dict[str, Callable[[FloatFormat], Op]] = {
    "sin": circular.sin,
    "cos": circular.cos,
    "tan": circular.tan,
    "asin": inverse.asin,
    "acos": inverse.acos,
    "atan": angle.atan,
    "exp": exponentials.exp,
    "log": logarithms.log,
    "exp2": exponentials.exp2,
    "log2": logarithms.log2,
    "exp10": exponentials.exp10,
    "log10": logarithms.log10,
    "erf": error.erf,
    "tanh": hyperbolic.tanh,
    "sinh": hyperbolic.sinh,
    "cosh": hyperbolic.cosh,
    "expm1": hyperbolic.expm1,
    "log1p": logarithms.log1p,
    "cbrt": roots.cbrt,
    "atan2": angle.atan2,
    "pow": power.power,
}
_UNDECIDED: dict[str, Callable[[FloatFormat], Op]] = {
    "atan2": angle.atan2_undecided,
    "pow": power.power_undecided,
}

FUNCTIONS: dict[UnaryOp | BinaryOp, str] = {
    op: op.value[1:].lower() for op in (*UnaryOp, *BinaryOp) if op.value[1:].lower() in _MAKERS
}
"""The operators that have an op here, and its name."""


@cache
def function_op(op_id: str) -> Op | None:
    """The op `soft.<format>.<function>`, or None when the id names no function."""
    return _built(op_id, _MAKERS)


@cache
def undecided_op(op_id: str) -> Op:
    """For a function of two arguments: the op that gives 1 where its last rounding test fails."""
    op = _built(op_id, _UNDECIDED)
    if op is None:
        raise OpError(f"{op_id} has no rounding test.", fix=f"take one of {', '.join(_UNDECIDED)}.")
    return op


def function_ops() -> list[Op]:
    """Every function in every format."""
    ids = [f"{prefix(fmt)}.{name}" for fmt in STRICT_FORMATS.values() for name in _MAKERS]
    return [op for op_id in ids if (op := function_op(op_id)) is not None]


def _built(op_id: str, makers: dict[str, Callable[[FloatFormat], Op]]) -> Op | None:
    match op_id.split("."):
        case ["soft", kind, name] if name in makers and kind in _FORMATS:
            return makers[name](_FORMATS[kind])
        case _:
            return None


_FORMATS = {t.value.lower(): fmt for t, fmt in STRICT_FORMATS.items()}
