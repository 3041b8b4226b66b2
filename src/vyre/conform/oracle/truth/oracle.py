"""The results of a function for any inputs, from the oracles of `vyre.conform.oracle.floats`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.oracle.floats.layout import LAYOUTS
from vyre.conform.oracle.floats.oracle import between, expected, from_integer, to_integer
from vyre.conform.oracle.truth.functions import ELEMENTARY, FUNCTIONS, INTEGERS
from vyre.ir.expr import Cast, Convert, UnOp, Var

if TYPE_CHECKING:
    from vyre.conform.oracle.floats.layout import Words


def operator_of(name: str) -> str | None:
    """The operator of a correctly rounded function; None for the operations that are exact steps."""
    found = FUNCTIONS[name].build(Var("x"))
    return found.op.value if isinstance(found, UnOp) and name in ELEMENTARY else None


_BYTES = np.array([int(f"{byte:08b}"[::-1], 2) for byte in range(256)], np.uint8)
"""Every byte with its bits in reverse order."""


def _integer(name: str, x: Words) -> Words:
    match name:
        case "negate":
            return np.uint32(0) - x
        case "not":
            return ~x
        case "logical_not":
            return (x == 0).astype(np.uint32)
        case "popcount":
            return np.bitwise_count(x).astype(np.uint32)
        case "clz":
            # A double holds every u32, and its exponent is the place of the highest bit.
            return (32 - np.frexp(x.astype(np.float64))[1]).astype(np.uint32)
        case "ctz":
            return np.bitwise_count((x & (np.uint32(0) - x)) - np.uint32(1)).astype(np.uint32)
        case _:
            whole = np.ascontiguousarray(x).view(np.uint8).reshape(-1, 4)
            return np.ascontiguousarray(_BYTES[whole][:, ::-1]).view(np.uint32).reshape(-1)


def results(name: str, inputs: Words) -> Words:
    """The bits that the function must give for these input words."""
    function = FUNCTIONS[name]
    if name in INTEGERS:
        return _integer(name, inputs)
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
            raise AssertionError(f"{name} is not a unary operation")
