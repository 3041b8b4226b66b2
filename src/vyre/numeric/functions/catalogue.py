"""The functions by name; each op is built when it is first asked for."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.errors import OpError
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.numeric.functions import angle, circular, exponentials, hyperbolic, inverse, logarithms, power
from vyre.numeric.soft.layout import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.op import Op
    from vyre.numeric.soft.layout import Layout

_MAKERS: dict[str, Callable[[Layout], Op]] = {
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
    "atan2": angle.atan2,
    "pow": power.power,
}
_APPROXIMATE_ONLY: dict[str, Callable[[Layout], Op]] = {"tanh": hyperbolic.tanh}
"""No strict operator asks for these; the approximate track does, and gets them correctly rounded."""

_UNDECIDED: dict[str, Callable[[Layout], Op]] = {
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
    return _built(op_id, _MAKERS | _APPROXIMATE_ONLY)


@cache
def undecided_op(op_id: str) -> Op:
    """For a function of two arguments: the op that gives 1 where its last rounding test fails."""
    op = _built(op_id, _UNDECIDED)
    if op is None:
        raise OpError(f"{op_id} has no rounding test.", fix=f"take one of {', '.join(_UNDECIDED)}.")
    return op


def function_ops() -> list[Op]:
    """Every function of the strict track in every format."""
    ids = [f"{fmt.prefix}.{name}" for fmt in LAYOUTS.values() for name in _MAKERS]
    return [op for op_id in ids if (op := function_op(op_id)) is not None]


def _built(op_id: str, makers: dict[str, Callable[[Layout], Op]]) -> Op | None:
    match op_id.split("."):
        case ["soft", kind, name] if name in makers and kind in _FORMATS:
            return makers[name](_FORMATS[kind])
        case _:
            return None


_FORMATS = {t.value.lower(): fmt for t, fmt in LAYOUTS.items()}
