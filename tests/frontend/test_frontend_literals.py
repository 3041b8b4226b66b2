"""Python numbers become the nearest value of their type, rounded once."""

from __future__ import annotations

import math
import random
import struct
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from vyre.frontend.literals import float_bits, literal, number_bits
from vyre.frontend.values import Refused
from vyre.ir import DataType, LitBool, LitI32, LitU32

ORACLES: dict[DataType, tuple[Any, Any]] = {
    DataType.F16: (np.float16, np.uint16),
    DataType.F32: (np.float32, np.uint32),
    DataType.F64: (np.float64, np.uint64),
}


def doubles(count: int) -> list[float]:
    rng = random.Random(7)
    raw = [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(count)]
    scaled = [rng.choice((-1, 1)) * 2.0 ** rng.uniform(-160, 130) for _ in range(count)]
    edges = [0.0, -0.0, math.inf, -math.inf, 65519.99, 65520.0, 2.0**-25, 2.0**-24 * 1.5, 5e-324]
    return [v for v in raw + scaled + edges if v == v]


@pytest.mark.parametrize("target", ORACLES)
def test_rounding_agrees_with_numpy(target: DataType) -> None:
    kind, bits = ORACLES[target]
    with np.errstate(all="ignore"):
        for value in doubles(5000):
            assert float_bits(value, target) == int(kind(value).view(bits)), value


def test_bfloat16_rounds_once() -> None:
    for value in doubles(5000):
        single = np.float32(value) if abs(value) < 1e38 else np.float32(0)
        if float(single) == value:  # ml_dtypes goes through float32, so ask it only where that is exact
            expected = int(single.astype(ml_dtypes.bfloat16).view(np.uint16))
            assert float_bits(value, DataType.BF16) == expected
    above_a_tie = 1 + 2**-8 + 2**-40
    assert float_bits(above_a_tie, DataType.BF16) == 0x3F81
    assert float_bits(1 + 2**-8, DataType.BF16) == 0x3F80


def test_integers_become_floats_without_a_second_rounding() -> None:
    assert float_bits(2**53 + 1, DataType.F64) == struct.unpack("<Q", struct.pack("<d", 2.0**53))[0]
    assert float_bits((1 << 24) + 1 + (1 << 60) * 0, DataType.F32) == 0x4B800000
    assert float_bits((2**25 + 2) * 2**40 + 1, DataType.F32) == float_bits((2**25 + 4) * 2**40, DataType.F32)
    assert float_bits(10**400, DataType.F64) == 0x7FF0000000000000
    assert float_bits(-(10**400), DataType.F32) == 0xFF800000


@pytest.mark.parametrize(
    ("target", "bits"),
    [
        (DataType.F32, 0x7FC00000),
        (DataType.F16, 0x7E00),
        (DataType.BF16, 0x7FC0),
        (DataType.F64, 0x7FF8000000000000),
    ],
)
def test_nan_is_the_canonical_nan(target: DataType, bits: int) -> None:
    assert float_bits(math.nan, target) == bits


def test_literals_have_the_node_of_their_type() -> None:
    assert literal(7, DataType.U32) is LitU32(7)
    assert literal(-7, DataType.I32) is LitI32(-7)
    assert literal(True, DataType.Bool) is LitBool(True)
    assert number_bits(-1, DataType.I32) == 0xFFFFFFFF


@pytest.mark.parametrize(
    ("value", "target"),
    [
        (-1, DataType.U32),
        (1 << 32, DataType.U32),
        (1 << 31, DataType.I32),
        (-1, DataType.U64),
        (1 << 128, DataType.U128),
        (1.0, DataType.U32),
        (1, DataType.Bool),
        (1, DataType.Vec2U32),
    ],
)
def test_numbers_that_do_not_fit_are_refused(value: float, target: DataType) -> None:
    with pytest.raises(Refused):
        number_bits(value, target)
