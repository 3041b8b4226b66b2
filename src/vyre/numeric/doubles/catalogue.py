"""The functions by name; each op is built when it is first asked for."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.numeric.doubles import (
    circular,
    error,
    exponentials,
    hyperbolic,
    inverse,
    logarithms,
    pairs,
    roots,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.op import Op

PREFIX = "double.f32."

_MAKERS: dict[str, Callable[[], Op]] = {
    "exp": exponentials.exp,
    "exp2": exponentials.exp2,
    "exp10": exponentials.exp10,
    "log": logarithms.log,
    "log2": logarithms.log2,
    "log10": logarithms.log10,
    "sin": circular.sin,
    "cos": circular.cos,
    "tan": circular.tan,
    "asin": inverse.asin,
    "acos": inverse.acos,
    "atan": inverse.atan,
    "erf": error.erf,
    "tanh": hyperbolic.tanh,
    "sinh": hyperbolic.sinh,
    "cosh": hyperbolic.cosh,
    "expm1": hyperbolic.expm1,
    "log1p": logarithms.log1p,
    "cbrt": roots.cbrt,
    "atan2": pairs.atan2,
    "pow": pairs.power,
}


@cache
def double_op(op_id: str) -> Op | None:
    """The op `double.f32.<function>`, or None when there is none."""
    maker = _MAKERS.get(op_id.removeprefix(PREFIX)) if op_id.startswith(PREFIX) else None
    return None if maker is None else maker()


def double_ops() -> list[Op]:
    return [maker() for maker in _MAKERS.values()]
