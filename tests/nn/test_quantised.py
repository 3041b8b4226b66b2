"""FP8 and NF4 tensors: every code, products beside loops, and what the two backends give to the last bit."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# The parameters of a lambda that is traced are tensors, which a checker cannot know.

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lab.floats.codes import NF4, decoded, encoded, nearest_nf4
from tests.nn.strict import both, matmul
from vyre import nn
from vyre import tensor as vt
from vyre.errors import VyreError

RNG = np.random.default_rng(5)


def normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("name", ["e4m3fn", "e5m2"])
def test_every_code_of_fp8(name: str) -> None:
    codes = np.arange(256, dtype=np.uint8)
    values = both(lambda c: nn.fp8_decode(c, name), codes)
    np.testing.assert_array_equal(values.view(np.uint32), decoded(name))
    again = both(lambda x: nn.fp8_encode(x, name, overflow="special"), values)
    nan = np.isnan(values)
    np.testing.assert_array_equal(again[~nan], codes[~nan])
    assert set(again[nan].tolist()) == {0x7F if name == "e4m3fn" else 0x7E}


@pytest.mark.parametrize("name", ["e4m3fn", "e5m2"])
@pytest.mark.parametrize("overflow", ["saturate", "special"])
def test_fp8_of_numbers_of_every_size(name: str, overflow: str) -> None:
    words = np.concatenate(
        [
            RNG.integers(0, 1 << 32, 600, dtype=np.uint64).astype(np.uint32),
            np.array(
                [0, -0.0, 448, 464, 464.00003, 480, 57344, 61440, -61441, 2**-10, 2**-17], np.float32
            ).view(np.uint32),
            np.array([0x7F80_0000, 0xFF80_0000, 0x7FC0_0000, 0xFF80_0001], np.uint32),
        ]
    )
    found = both(lambda x: nn.fp8_encode(x, name, overflow=overflow), words.view(np.float32))
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, encoded(name, words, saturate=overflow == "saturate"))


def test_fp8_of_halves_is_rounded_once() -> None:
    x = normal(64).astype(np.float16)
    wide = both(nn.fp8_encode, x.astype(np.float32))
    np.testing.assert_array_equal(both(nn.fp8_encode, x), wide)


def test_fp8_products() -> None:
    a, b = RNG.integers(0, 0x7F, (4, 9), np.uint8), RNG.integers(0, 0x7C, (9, 3), np.uint8)
    scale = normal(3)
    found = both(lambda a, b, s: nn.fp8_matmul(a, b, formats=("e4m3fn", "e5m2"), scale=s), a, b, scale)
    left, right = decoded("e4m3fn").view(np.float32)[a], decoded("e5m2").view(np.float32)[b]
    np.testing.assert_array_equal(found, matmul(left, right) * scale)


def test_nf4_codes_and_values() -> None:
    x = normal(3, 16)
    x[1, 8:] = 0
    codes, greatest = both(lambda x: nn.nf4_encode(x, block=8), x)
    blocks = x.reshape(3, 2, 8)
    np.testing.assert_array_equal(greatest, np.abs(blocks).max(-1))
    with np.errstate(invalid="ignore"):
        ratios = (blocks / greatest[..., None]).reshape(-1)
    expected = nearest_nf4(ratios.view(np.uint32)).reshape(3, 8, 2)
    np.testing.assert_array_equal(codes, expected[..., 0] << 4 | expected[..., 1])
    values = both(lambda c, g: nn.nf4_decode(c, g, block=8), codes, greatest)
    table = NF4.astype(np.float32)[expected].reshape(3, 2, 8)
    np.testing.assert_array_equal(values.reshape(3, 2, 8), table * greatest[..., None])
    assert values[1, 8:].tobytes() == bytes(32)


def test_every_byte_of_nf4() -> None:
    codes = np.arange(256, dtype=np.uint8)
    values = both(lambda c, g: nn.nf4_decode(c, g, block=512), codes, np.array([1], np.float32))
    table = NF4.astype(np.float32)
    np.testing.assert_array_equal(values.reshape(256, 2), np.stack([table[codes >> 4], table[codes & 15]], 1))


def test_a_block_with_nan_or_infinity_is_nan_and_no_other() -> None:
    x = normal(24)
    x[3], x[12] = np.nan, -np.inf
    decode = lambda x: nn.nf4_decode(*nn.nf4_encode(x, block=8), block=8)  # noqa: E731
    values = both(decode, x)
    assert np.isnan(values[:8]).all()
    assert np.isnan(values[8:16]).all()
    assert not np.isnan(values[16:]).any()


def test_nf4_products() -> None:
    x, weights = normal(3, 16), normal(5, 16)
    codes, greatest = both(lambda w: nn.nf4_encode(w, block=8), weights)
    found = both(lambda x, c, g: nn.nf4_matmul(x, c, g, block=8), x, codes, greatest)
    values = both(lambda c, g: nn.nf4_decode(c, g, block=8), codes, greatest)
    np.testing.assert_array_equal(found, matmul(x, values.T))


def test_a_vector_times_codes_never_stores_the_weights() -> None:
    x, weights = normal(32), normal(6, 32)
    codes, greatest = both(lambda w: nn.nf4_encode(w, block=16), weights)
    product = vt.function(lambda x, c, g: nn.nf4_matmul(x, c, g, block=16))
    assert product.plan(x, codes, greatest).explain({}).startswith("1 kernel,")
    found = both(product, x, codes, greatest)
    values = both(lambda c, g: nn.nf4_decode(c, g, block=16), codes, greatest)
    np.testing.assert_array_equal(found, matmul(x[None], values.T)[0])
    column = vt.function(lambda c, g, x: nn.nf4_decode(c, g, block=16) @ x)
    assert column.plan(codes, greatest, x).explain({}).startswith("1 kernel,")
    np.testing.assert_array_equal(both(column, codes, greatest, x), found)
    several = product.plan(normal(2, 32), codes, greatest).explain({})
    assert several.startswith("2 kernels")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: nn.fp8_encode(x, "e3m4"), "'e3m4'"),
        (lambda x: nn.fp8_encode(x, overflow="wrap"), "'wrap'"),
        (lambda x: nn.fp8_decode(x), "codes cannot be F32"),
        (lambda x: nn.nf4_encode(x, block=5), "blocks cannot have 5 elements"),
        (lambda x: nn.nf4_encode(x, block=10), "16 columns cannot be split into blocks of 10"),
    ],
)
def test_refusals(function: Any, message: str) -> None:
    with pytest.raises(VyreError, match=message):
        vt.function(function).graph(normal(16))
