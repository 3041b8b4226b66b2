"""Python numbers as values of a type: the exact bits, rounded once, or a refusal."""

from __future__ import annotations

import math
import numbers
import sys
from typing import Any

from vyre.frontend.values import Refused
from vyre.ir.expr import Expr, LitBool, Literal, LitI32, LitU32
from vyre.ir.float_bits import converted, double_bits, double_of, nearest_bits, nearest_of
from vyre.ir.float_formats import FORMATS
from vyre.ir.types import DataType

_INTEGERS = {
    DataType.U32: (0, (1 << 32) - 1),
    DataType.I32: (-(1 << 31), (1 << 31) - 1),
    DataType.U64: (0, (1 << 64) - 1),
    DataType.U128: (0, (1 << 128) - 1),
}


_NUMPY_FLOATS = {"float16": DataType.F16, "float32": DataType.F32}
_MAX_LITERAL = 1_000


def number_bits(value: bool | int | float, target: DataType) -> int:
    """The bits of a Python number as `target`. Raises `Refused` where it has no such value."""
    if target in FORMATS:
        return _fitting(value, target)
    if target is DataType.Bool:
        if isinstance(value, bool):
            return int(value)
        raise Refused(f"{value!r} is not a Bool.", "write True or False, or compare: x != 0.")
    if target not in _INTEGERS:
        raise Refused(
            f"{value!r} is not a {target.value}.",
            "write the lanes: vec2(x, y), vec4(x, y, z, w) or vyre.from_lanes(type, …).",
        )
    if isinstance(value, float):
        raise Refused(
            f"{value!r} is a float and {target.value} an integer type.",
            "write an integer, or make the other side a float: vyre.convert(x, f32) rounds beyond 2^24.",
        )
    low, high = _INTEGERS[target]
    if not low <= value <= high:
        fix = f"use a number from {low} to {high}"
        signed = low == 0 and -(high + 1) // 2 <= value < 0
        wrapped = f", such as {value & high:#x} for the same bits" if signed else ""
        raise Refused(f"{value} does not fit into {target.value}.", f"{fix}{wrapped}.")
    return int(value) & ((1 << target.bits) - 1)


def _fitting(value: bool | int | float, target: DataType) -> int:
    """The nearest float; a number that is not infinite is refused where that is."""
    bits, form = float_bits(value, target), FORMATS[target]
    if bits & form.magnitude == form.infinity and abs(value) != math.inf:
        wider = "" if target is DataType.F64 else ", or a type with a larger range, such as f64"
        raise Refused(
            f"{value!r} is beyond the largest {target.value}.", f"write math.inf for infinity{wider}."
        )
    return bits


def literal(value: bool | int | float, target: DataType) -> Expr:
    """The literal expression of a Python number as `target`."""
    bits = number_bits(value, target)
    match target:
        case DataType.U32:
            return LitU32(bits)
        case DataType.I32:
            return LitI32(int(value))
        case DataType.Bool:
            return LitBool(bool(bits))
        case _:
            return Literal(target, bits)


def python_float(value: Any) -> float:
    """A real number of another kind, such as one of NumPy's, as a Python float."""
    kind = _NUMPY_FLOATS.get(str(getattr(value, "dtype", "")))
    if kind is not None:  # by its bits: a processor that flushes subnormals would widen some to zero
        return double_of(converted(kind, int.from_bytes(value.tobytes(), sys.byteorder), DataType.F64))
    if isinstance(value, numbers.Rational):
        from fractions import Fraction

        ratio = Fraction(value)
        return double_of(nearest_of(DataType.F64, abs(ratio), negative=ratio < 0))
    return float(value)


def float_literal(text: str) -> float | None:
    """The double nearest to a literal of Python, None for one with a huge exponent or other characters."""
    digits = text.replace("_", "")
    if len(digits) > _MAX_LITERAL or len(digits.lower().partition("e")[2].lstrip("+-")) > 4:
        return None
    from fractions import Fraction

    try:
        return double_of(nearest_of(DataType.F64, Fraction(digits), negative=False))
    except ValueError:
        return None


def float_bits(value: float, target: DataType) -> int:
    """Nearest value of a float format, ties to even, rounded once from the exact number."""
    if isinstance(value, float):
        return converted(DataType.F64, double_bits(value), target)
    return nearest_bits(target, abs(value), 1, negative=value < 0)
