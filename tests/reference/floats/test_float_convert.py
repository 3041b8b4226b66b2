"""Rounding to integral values, integers in and out, and changes of format."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

from tests.reference.floats.float_oracles import (
    ALL_FORMATS,
    from_float,
    mpfr_nearest,
    sample,
    specials,
    to_float,
)
from vyre.errors import InterpreterError
from vyre.ir.operators import RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.reference.floats import (
    BF16,
    F16,
    F32,
    F64,
    FORMATS,
    Format,
    change_format,
    from_integer,
    to_integer,
    unary,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_MODES: dict[RoundMode, tuple[UnaryOp, Callable[[Fraction], int]]] = {
    RoundMode.Nearest: (UnaryOp.FRound, round),
    RoundMode.Truncate: (UnaryOp.FTrunc, math.trunc),
    RoundMode.Floor: (UnaryOp.FFloor, math.floor),
    RoundMode.Ceil: (UnaryOp.FCeil, math.ceil),
}
_RANGES = {DataType.U32: (0, 2**32 - 1), DataType.I32: (-(2**31), 2**31 - 1)}


def _operands(fmt: Format) -> list[int]:
    """Samples, halves and quarters around small integers, and the ends of the integer ranges."""
    quarters = [from_float(fmt, s * q / 4) for q in range(30) for s in (1.0, -1.0)]
    ends = [
        from_integer(fmt, DataType.U32, n) + d
        for n in (2**31 - 1, 2**31, 2**32 - 1)
        for d in (-1, 0, 1)
        if fmt is not F16
    ]
    return [*specials(fmt), *sample(fmt, 2_000, seed=21), *quarters, *ends, *(e | fmt.sign_bit for e in ends)]


@pytest.mark.parametrize("mode", RoundMode, ids=lambda m: m.value)
@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_integral_values(fmt: Format, mode: RoundMode) -> None:
    op, rule = _MODES[mode]
    for bits in _operands(fmt):
        value = to_float(fmt, bits)
        if math.isfinite(value):
            whole = float(rule(Fraction(value)))
            expected = from_float(fmt, math.copysign(whole, value))
        else:
            expected = from_float(fmt, value)
        assert unary(op, fmt, bits) == expected, hex(bits)


@pytest.mark.parametrize("mode", RoundMode, ids=lambda m: m.value)
@pytest.mark.parametrize("target", _RANGES, ids=lambda t: t.value)
@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_floats_to_integers_round_then_saturate(fmt: Format, target: DataType, mode: RoundMode) -> None:
    lowest, highest = _RANGES[target]
    for bits in _operands(fmt):
        value = to_float(fmt, bits)
        if math.isnan(value):
            expected = 0
        elif math.isinf(value):
            expected = highest if value > 0 else lowest
        else:
            expected = max(lowest, min(highest, _MODES[mode][1](Fraction(value))))
        assert to_integer(fmt, bits, mode, target) == expected % 2**32, hex(bits)


def test_small_negatives_to_u32() -> None:
    almost_half, half, more = (from_float(F32, v) for v in (-0.25, -0.5, -0.75))
    assert [to_integer(F32, b, RoundMode.Nearest, DataType.U32) for b in (almost_half, half, more)] == [
        0,
        0,
        0,
    ]
    assert to_integer(F32, more, RoundMode.Nearest, DataType.I32) == 0xFFFF_FFFF
    assert to_integer(F32, almost_half, RoundMode.Floor, DataType.I32) == 0xFFFF_FFFF


_AROUND = (0, 257, 2049, 2**24, 2**31 - 64, 2**31, 2**32 - 128, 65504, 65520)
_WORDS = [w for n in _AROUND for w in range(n - 3, n + 4) if w >= 0] + [2**32 - 1]


@pytest.mark.parametrize("kind", _RANGES, ids=lambda t: t.value)
@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_integers_to_floats(fmt: Format, kind: DataType) -> None:
    for word in [*_WORDS, *(2**32 - w for w in _WORDS if w), *sample(F32, 2_000, seed=22)]:
        # A double holds every 32-bit integer, so the oracle rounds once.
        value = float(word if word <= _RANGES[kind][1] else word - 2**32)
        assert from_integer(fmt, kind, word) == mpfr_nearest(fmt, value), hex(word)


def test_bfloat16_ties_from_integers() -> None:
    assert [from_integer(BF16, DataType.U32, n) for n in (257, 259, 2**32 - 1)] == [0x4380, 0x4382, 0x4F80]


def test_an_integer_beyond_the_largest_half_is_infinity() -> None:
    assert from_integer(F16, DataType.U32, 65519) == 0x7BFF
    assert from_integer(F16, DataType.U32, 65520) == 0x7C00
    assert from_integer(F16, DataType.I32, 0x8000_0000) == 0xFC00


def test_other_integer_types_are_refused() -> None:
    with pytest.raises(InterpreterError, match="U64"):
        to_integer(F32, 0, RoundMode.Nearest, DataType.U64)
    with pytest.raises(InterpreterError, match="Bool"):
        from_integer(F32, DataType.Bool, 1)


@pytest.mark.parametrize("target", FORMATS.values(), ids=lambda f: f.name)
@pytest.mark.parametrize("source", FORMATS.values(), ids=lambda f: f.name)
def test_changes_of_format(source: Format, target: Format) -> None:
    for bits in [*specials(source), *sample(source, 2_000, seed=23)]:
        expected = mpfr_nearest(target, to_float(source, bits))
        assert change_format(source, target, bits) == expected, hex(bits)


def test_narrowing_agrees_with_hardware() -> None:
    singles = [b for b in (*specials(F32), *sample(F32, 5_000, seed=24)) if not F32.is_nan(b)]
    values = np.array(singles, dtype=np.uint32).view(np.float32)
    with np.errstate(over="ignore"):
        halves = values.astype(np.float16).view(np.uint16).tolist()
        brains = values.astype(ml_dtypes.bfloat16).view(np.uint16).tolist()
    assert [change_format(F32, F16, b) for b in singles] == halves
    assert [change_format(F32, BF16, b) for b in singles] == brains


def test_bfloat16_from_double_does_not_round_twice() -> None:
    just_above_tie = from_float(F64, 1 + 2.0**-8 + 2.0**-40)
    assert change_format(F64, BF16, just_above_tie) == 0x3F81
    assert change_format(F32, BF16, change_format(F64, F32, just_above_tie)) == 0x3F80


def test_widening_is_exact_and_narrowing_gives_it_back() -> None:
    for half in (F16, BF16):
        for bits in range(1 << 16):
            wide = change_format(half, F32, bits)
            expected = half.canonical_nan if half.is_nan(bits) else bits
            assert change_format(F32, half, wide) == expected
