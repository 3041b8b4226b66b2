"""Float literals by value: rounded once, to nearest, ties to even."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vyre.ir import expr as e
from vyre.ir.float_bits import nearest_of
from vyre.ir.types import DataType
from vyre.text import parse_expr
from vyre.text.literals import decimal_of

PACKED = {DataType.F16: "<e", DataType.F32: "<f", DataType.F64: "<d"}


def python_bits(kind: DataType, value: float) -> int:
    """What Python's own packing gives; it rounds a double once, to nearest even."""
    try:
        return int.from_bytes(struct.pack(PACKED[kind], value), "little")
    except OverflowError:
        return int.from_bytes(struct.pack(PACKED[kind], math.copysign(math.inf, value)), "little")


@settings(deadline=None)
@given(st.sampled_from(list(PACKED)), st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_rounds_as_python_rounds_it(kind: DataType, value: float) -> None:
    exact = Fraction(abs(value))
    assert nearest_of(kind, exact, negative=math.copysign(1, value) < 0) == python_bits(kind, value)


@settings(deadline=None)
@given(st.sampled_from([DataType.F16, DataType.BF16, DataType.F32, DataType.F64]), st.data())
def test_the_printed_digits_name_the_value(kind: DataType, data: st.DataObject) -> None:
    bits = data.draw(st.integers(0, (1 << kind.bits) - 1))
    digits = decimal_of(kind, bits)
    if digits in ("inf", "-inf", "nan"):
        return
    literal = parse_expr(f"{kind.value.lower()}({digits})")
    assert literal is e.Literal(kind, bits)


@pytest.mark.parametrize(
    ("text", "kind", "bits"),
    [
        ("f32(0.0)", DataType.F32, 0),
        ("f32(-0.0)", DataType.F32, 0x8000_0000),
        ("f32(1.0)", DataType.F32, 0x3F80_0000),
        ("f32(1e39)", DataType.F32, 0x7F80_0000),
        ("f32(-1e39)", DataType.F32, 0xFF80_0000),
        ("f32(1e-50)", DataType.F32, 0),
        ("f32(1.4e-45)", DataType.F32, 1),
        # Half an ulp above 1, then a digit more: a detour through a double would round it down.
        ("f32(1.000000059604644775390625)", DataType.F32, 0x3F80_0000),
        ("f32(1.00000005960464477539062500000001)", DataType.F32, 0x3F80_0001),
        ("f32(340282346638528859811704183484516925439.0)", DataType.F32, 0x7F7F_FFFF),
        ("f32(340282356779733661637539395458142568448.0)", DataType.F32, 0x7F80_0000),
        ("f16(65519.9)", DataType.F16, 0x7BFF),
        ("f16(65520.0)", DataType.F16, 0x7C00),
        ("f16(6.097e-5)", DataType.F16, 0x03FF),
        ("bf16(1.00390625)", DataType.BF16, 0x3F80),
        ("bf16(1.01171875)", DataType.BF16, 0x3F82),
        ("f64(5e-324)", DataType.F64, 1),
        ("f64(0.1)", DataType.F64, 0x3FB9_9999_9999_999A),
    ],
)
def test_known_roundings(text: str, kind: DataType, bits: int) -> None:
    literal = parse_expr(text)
    assert isinstance(literal, e.Literal)
    assert (literal.type, hex(literal.bits)) == (kind, hex(bits))


def test_digits_of_special_values() -> None:
    assert decimal_of(DataType.F32, 0x8000_0000) == "-0.0"
    assert decimal_of(DataType.F32, 0x7F80_0000) == "inf"
    assert decimal_of(DataType.F32, 0x7F7F_FFFF) == "3.4028235e+38"
    assert decimal_of(DataType.F64, 0xFFF0_0000_0000_0000) == "-inf"
    assert decimal_of(DataType.F16, 0x7E01) == "nan"
    assert decimal_of(DataType.BF16, 0x3F80) == "1.0"
