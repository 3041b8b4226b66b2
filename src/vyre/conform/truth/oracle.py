"""The results of a function for any inputs, from the oracles of `vyre.conform.floats`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.floats.layout import LAYOUTS
from vyre.conform.floats.oracle import between, expected, from_integer, to_integer
from vyre.conform.truth.functions import ELEMENTARY, FUNCTIONS
from vyre.ir.expr import Cast, Convert, UnOp, Var

if TYPE_CHECKING:
    from vyre.conform.floats.layout import Words


def operator_of(name: str) -> str | None:
    """The operator of a correctly rounded function; None for the operations that are exact steps."""
    found = FUNCTIONS[name].build(Var("x"))
    return found.op.value if isinstance(found, UnOp) and name in ELEMENTARY else None


def results(name: str, inputs: Words) -> Words:
    """The bits that the function must give for these input words."""
    function = FUNCTIONS[name]
    match function.build(Var("x")):
        case UnOp(op=op):
            return expected(op.value, "F32", inputs)
        case Cast(target=target):
            return between("F32", target.value, inputs)
        case Convert(target=target, mode=mode) if target.value in LAYOUTS:
            return from_integer(function.source.value, target.value, inputs)
        case Convert(target=target, mode=mode):
            return to_integer(target.value, mode.value, "F32", inputs)
        case _:
            raise AssertionError(f"{name} is no unary operation")
